"""A small task of three steps, in the shape of Harbor's: a greeter is made, taught a name, and written about."""

from __future__ import annotations

from pathlib import Path

PACK = """\
schema = 1
name = "stepped"
title = "Stepped"
[source]
access = "bundled"
[network]
agent = "none"
[environment]
user = "root"
[grade]
bounds = [0, 1]
percent = "100*reward"
pass = { key = "reward", min = 1 }
[[task]]
id = "greeter"
steps = true
"""
TASK_TOML = """\
schema_version = "1.1"
artifacts = ["/app/greet"]
[environment]
workdir = "/app"
[verifier]
timeout_sec = 20
env = { GREETING = "hello", MARK = "task" }
[[steps]]
name = "make"
min_reward = 1.0
[[steps]]
name = "teach"
min_reward = { reward = 0.5 }
artifacts = ["/app/name"]
[steps.verifier]
timeout_sec = 10
env = { GREETING = "hello Ada" }
[steps.healthcheck]
command = "test -x greet"
interval_sec = 0.05
timeout_sec = 5
retries = 2
[[steps]]
name = "tell"
[[steps.verifier.collect]]
command = "wc -l README >lines"
"""
FILES = {
    "task.toml": TASK_TOML,
    "tests/helper.sh": 'score() { echo "$1" >"$VERIFIER_DIR/reward.txt"; exit 0; }\nsaid=$(./greet 2>/dev/null)\n',
    "steps/make/instruction.md": "Make an executable script greet that prints hello.\n",
    "steps/make/tests/test.sh": '#!/bin/sh\n. "${0%/*}/helper.sh"\n[ "$said" = "$GREETING" ] && score 1\nscore 0\n',
    "steps/make/solution/solve.sh": "#!/bin/sh\nprintf '#!/bin/sh\\necho hello\\n' >greet\nchmod +x greet\n",
    "steps/teach/instruction.md": "Let greet print hello and the name that the file name holds.\n",
    "steps/teach/workdir/name": "Ada",
    "steps/teach/workdir/setup.sh": '#!/bin/sh\necho >>name\nrm -- "$0"\n',
    "steps/teach/tests/helper.sh": 'score() { echo "{\\"reward\\": $1}" >"$VERIFIER_DIR/reward.json"; exit 0; }\n'
    "said=$(./greet 2>/dev/null)\n",
    "steps/teach/tests/test.sh": '#!/bin/sh\n. "${0%/*}/helper.sh"\n[ "$MARK" = task ] || exit 3\n'
    '[ "$said" = "$GREETING" ] && score 1\n[ "${said#hello}" != "$said" ] && score 0.5\nscore 0\n',
    "steps/teach/solution/solve.sh": "#!/bin/sh\nprintf '#!/bin/sh\\necho hello $(cat name)\\n' >greet\n",
    "steps/tell/instruction.md": "Write about greet in the file README.\n",
    "steps/tell/tests/test.sh": '#!/bin/sh\n. "${0%/*}/helper.sh"\n[ -f lines ] || exit 3\n'
    "grep -q greet README && score 1\nscore 0\n",
    "steps/tell/solution/solve.sh": "#!/bin/sh\necho 'greet greets' >README\n",
    "environment/notes.txt": "work here\n",
}
WORKER = """\
prompt=$(cat)
if [ -e ../tests ] || [ -e ../logs/verifier ] || ls -R .. | grep -q helper; then exit 9; fi
case $prompt in
*executable*) printf '#!/bin/sh\\necho hello\\n' >greet; chmod +x greet ;;
*name*) printf '#!/bin/sh\\necho hello $(cat name)\\n' >greet ;;
*README*) echo 'greet greets' >README ;;
esac
echo "done: $prompt"
"""
"""A session that does what the prompt of any of the steps asks for."""


def write_stepped(directory: Path, pack: str = PACK, **changed: str) -> Path:
    """The pack in `directory`; `changed`: file (with __ for /) -> other text."""
    texts = FILES | {name.replace("__", "/"): text for name, text in changed.items()}
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "pack.toml").write_text(pack)
    for name, text in texts.items():
        path = directory / "tasks/greeter" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory
