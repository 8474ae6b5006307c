# Readies one step as the session's user: its setup ("$@", if any), then the health check $1 as Harbor repeats it.
# $2 seconds between two looks, $3 for one, $4 in which failures do not count, $5 between looks meanwhile, $6 failures.
[ "$(id -u)" = 0 ] || [ "$HOME" != /root ] || {
	home=$(eval "echo ~$(id -un)")
	case $home in /*) export HOME="$home" ;; esac
}
check=$1 pause=$2 limit=$3 grace=$4 early=$5 most=$6
shift 6
[ $# -eq 0 ] || "$@" || { code=$?; echo "its setup ended with $code" >&2; exit "$code"; }
[ -n "$check" ] || exit 0

# One look: its exit code, 137 where it took too long.
look() {
	/bin/sh -c "$check" &
	probe=$!
	(
		trap 'kill "$nap"; exit' TERM
		sleep "$limit" &
		nap=$!
		wait "$nap"
		kill -KILL "$probe"
	) 2>/dev/null >/dev/null &
	guard=$!
	wait "$probe"
	code=$?
	kill "$guard" 2>/dev/null
	wait "$guard" 2>/dev/null
	return "$code"
}

began=$(date +%s) failed=0
until look; do
	if [ $(($(date +%s) - began)) -lt "$grace" ]; then
		sleep "$early"
		continue
	fi
	failed=$((failed + 1))
	[ "$failed" -lt "$most" ] || { echo "its health check failed $failed times: $check" >&2; exit 1; }
	sleep "$pause"
done
