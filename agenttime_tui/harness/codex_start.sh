# Makes the home of a session ready and becomes the CLI.
#
#   codex_start.sh CONFIG TOOLS MODEL PROGRAM ARGUMENT...
#
# CONFIG is a file beside this one; where a line begins with `args = ["{root}/`, the environment's root takes that place.
# TOOLS is native, none, clock or servers. The first argument `@session` becomes the id of the first session of this home.

here=${0%/*}
root=${here%/opt/agent}
config=$here/$1 tools=$2 model=$3 program=$4
shift 4
mkdir -p "$CODEX_HOME" "$here/sessions" || exit 96
# What has to last lies outside of the home, which is in memory only when a login is in it.
[ -L "$CODEX_HOME/sessions" ] || ln -s "$here/sessions" "$CODEX_HOME/sessions" || exit 96
rm -f "$CODEX_HOME/config.toml"

# Prints the catalog of models, of which a model keeps only the tools $1.
without_tools() {
	sed -e 's/"tool_mode":"[a-z_]*"/"tool_mode":"direct"/g' \
		-e 's/"shell_type":"[a-z_]*"/"shell_type":"disabled"/g' \
		-e 's/"apply_patch_tool_type":"[a-z_]*"/"apply_patch_tool_type":null/g' \
		-e "s/\"experimental_supported_tools\":\\[[^]]*\\]/\"experimental_supported_tools\":$1/g"
}

# Without tools the lean form of a request would hold the CLI's own instructions twice.
whole_requests() { sed 's/"use_responses_lite":true/"use_responses_lite":false/g'; }

# Adds $model where the catalog does not know it, made of the first one in it, as it has to be to have a clock. Known is
# a model whose name, less one leading `OWNER/`, begins with a name of the catalog.
with_model() {
	awk -v model="$model" '{
		head = "{\"models\":["
		bare = model
		sub(/^[^\/]*\//, "", bare)
		rest = $0
		known = 0
		while (at = index(rest, "{\"slug\":\"")) {
			rest = substr(rest, at + 9)
			slug = substr(rest, 1, index(rest, "\"") - 1)
			if (index(bare, "/") == 0 && index(bare, slug) == 1) known = 1
		}
		end = index($0, "},{\"slug\":\"")
		if (!known && index($0, head) == 1 && end) {
			first = substr($0, length(head) + 1, end - length(head))
			sub(/"slug":"[^"]*"/, "\"slug\":\"" model "\"", first)
			sub(/"use_responses_lite":true/, "\"use_responses_lite\":false", first)
			sub(/"support_verbosity":true/, "\"support_verbosity\":false", first)
			$0 = head first "," substr($0, length(head) + 1)
		}
		print
	}'
}

catalog() { "$program" debug models --bundled 2>/dev/null </dev/null; }
case $tools in
none) (export LC_ALL=C; catalog | without_tools '[]' | whole_requests) >"$CODEX_HOME/catalog.json" ;;
clock) (export LC_ALL=C; catalog | without_tools '["clock"]' | with_model) >"$CODEX_HOME/catalog.json" ;;
# What a server has is to be seen at once, not to be searched for.
servers) (export LC_ALL=C; catalog | sed 's/"supports_search_tool":true/"supports_search_tool":false/g') >"$CODEX_HOME/catalog.json" ;;
esac || exit 96
awk -v root="$root" -v mark='args = ["{root}/' '
	index($0, mark) == 1 { $0 = "args = [\"" root "/" substr($0, length(mark) + 1) }
	{ print }
' "$config" >"$CODEX_HOME/config.toml" || exit 96

# A session that had its tools carries their list in its history; the model must not see it where it is to have none.
case $tools in
none | clock)
	for each in "$here"/sessions/*/*/*/rollout-*.jsonl; do
		[ -f "$each" ] || continue
		sed '/^{[^{}]*"type":"response_item","payload":{"type":"additional_tools"/d' "$each" >"$each.new" &&
			cat "$each.new" >"$each" && rm "$each.new" || exit 96
	done
	;;
esac

session=
for each in "$here"/sessions/*/*/*/rollout-*.jsonl; do
	[ -z "$session" ] && [ -f "$each" ] || continue
	session=${each%.jsonl}
	session=${session##*/rollout-????-??-??T??-??-??-}
done
for argument do
	shift
	if [ "$argument" = @session ] && [ -n "$session" ]; then argument=$session session=; fi
	set -- "$@" "$argument"
done
exec "$program" "$@"
