"""The source forms whose tasks need more than a message: families, presets, Markdown, packages, capsules, cards."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from task_packs.answers import grade_message, read_key, t_975
from task_packs.checking.pack import check_pack, grade_in_directory, verify_pack
from task_packs.errors import PackError
from task_packs.grading import grade
from task_packs.importers import importer_of
from task_packs.importers.inside.run_checks import messages
from task_packs.importers.programbench import clean_hashes
from task_packs.load import load_pack
from tests.packs.copies import files, imported, in_tar

FAMILY = """\
class TaskFamily:
    standard_version = "0.2.3"

    @staticmethod
    def get_tasks():
        print("a family may print")
        return {"small": {"wants": "secret-7"}, "by_hand": {"wants": None}}

    @staticmethod
    def get_instructions(t):
        return "Say the word.\\n"

    @staticmethod
    def get_permissions(t):
        return ["full_internet"] if t["wants"] else []

    @staticmethod
    def score(t, submission):
        if t["wants"] is None:
            return None
        return float("nan") if submission == "nan" else float(submission == t["wants"])
"""


def test_a_task_family_is_asked_and_scored_through_the_helper(tmp_path: Path) -> None:
    files(tmp_path / "copy/tasks/words", {"words.py": FAMILY, "assets/a.txt": "x"})
    pack, brought = imported("metr-public-tasks", tmp_path / "copy", tmp_path, beyond=True)
    assert brought.written == ["words/by_hand", "words/small"]
    task = pack.task("words/small")
    assert (task.instruction(), task.network, task.user) == (b"Say the word.\n", "public", "agent")
    assert pack.task("words/by_hand").network == "none"
    assert in_tar(task.workspace_tar()) == {"home/agent": b""}
    assert b"secret-7" in b"".join(in_tar(task.tests_tar()).values())
    untouched = grade_in_directory(task, False)
    assert (untouched.status, untouched.value, untouched.detail) == ("scored", 0.0, "score 0.0")
    for said, status, value in (("secret-7", "scored", 1.0), ("nan", "not_graded", None)):
        files(task.path, {"solution/solve.sh": f"#!/bin/sh\nprintf {said} >submission.txt\n"})
        found = grade_in_directory(task, True)
        assert (found.status, found.value) == (status, value)
    assert grade_in_directory(pack.task("words/by_hand"), False).status == "not_graded"


def test_a_family_is_passed_by_the_last_message_too(tmp_path: Path) -> None:
    files(tmp_path / "copy/words", {"words.py": FAMILY})
    pack, _ = imported("metr-public-tasks", tmp_path / "copy", tmp_path, beyond=True)
    assert pack.grade.session
    task = pack.task("words/small")
    before = task.solved
    files(task.path, {"solution/answer.txt": "secret-7\n"})
    assert (before, task.solved) == (False, True)
    assert (grade_in_directory(task, False).value, grade_in_directory(task, True).value) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("class TaskFamily:\n    def get_tasks(:\n", "get_tasks of task family words failed: SyntaxError"),
        ("import not_there\nclass TaskFamily: pass\n", "install that package beside agenttime"),
        ("class TaskFamily: pass\n", "has no attribute 'get_tasks'"),
        ("class Task: pass\n", "holds no task family"),
    ],
)
def test_a_broken_task_family_is_one_sentence(tmp_path: Path, code: str, said: str) -> None:
    files(tmp_path / "words", {"words.py": code})
    with pytest.raises(PackError) as caught:
        importer_of("metr-public-tasks").find(tmp_path, load_pack("metr-public-tasks").manifest, {})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


CLAW = """\
---
id: {task}
name: A made-up task
category: x
timeout_seconds: 600
---

## Prompt

Write `result.txt`.
# Not a section

## Automated Checks

```python
## Prompt
def grade(**kwargs):
    import os
    path = os.path.join(kwargs["workspace_path"], "result.txt")
    want = open(os.path.join(kwargs["workspace_path"], "gt", "want.txt")).read()
    right = os.path.exists(path) and open(path).read() == want
    return {{"overall_score": 0.75 if right else 0, "note": "{note}"}}
```

## Workspace Path

```
workspace/one
```

## Env

{env}

## Warmup

```bash
apt-get install -y nothing
```
"""
CLAW_TASKS = [task.id for task in load_pack("wildclawbench").tasks]


def claw(top: Path, task: str, note: str = "plain", env: str = "") -> Path:
    return files(
        top,
        {
            f"tasks/{task}.md": CLAW.format(task=task, note=note, env=env),
            "workspace/one/exec/data.txt": "data",
            "workspace/one/gt/want.txt": "secret-gt",
        },
    )


def test_a_markdown_task_is_taken_apart(tmp_path: Path) -> None:
    claw(tmp_path / "copy", CLAW_TASKS[0])
    pack, brought = imported("wildclawbench", tmp_path / "copy", tmp_path)
    assert brought.written == CLAW_TASKS[:1]
    task = pack.task(CLAW_TASKS[0])
    assert task.instruction() == b"Write `result.txt`.\n# Not a section\n"
    assert in_tar(task.workspace_tar()) == {"tmp_workspace": b"", "tmp_workspace/data.txt": b"data"}
    assert task.prepares
    assert b"apt-get install" in in_tar(task.prepare_tar())["prepare.sh"]
    assert grade_in_directory(task, False).value == 0.0
    files(task.path, {"solution/solve.sh": "#!/bin/sh\nprintf secret-gt >result.txt\n"})
    found = grade_in_directory(task, True)
    assert (found.value, found.percent, found.passed) == (0.75, 75.0, None)


SAID = """\
{"type": "system", "subtype": "init"}
{"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "alpha"}]}}
{"type": "item.completed", "item": {"type": "agent_message", "text": "beta"}}
{"type": "item.completed", "item": {"type": "command_execution", "command": "ls"}}
no event
"""


def test_checks_read_the_session_as_messages(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(SAID)
    found = messages(str(tmp_path / "s.jsonl"))
    assert [one["type"] for one in found] == ["system", "message", "message", "message"]
    said = [one["message"] for one in found[1:]]
    assert [one["role"] for one in said if isinstance(one, dict)] == ["assistant"] * 3
    blocks = [one["content"][0] for one in said if isinstance(one, dict)]
    assert [block.get("text") for block in blocks] == ["alpha", "beta", None]
    assert blocks[2] == {"type": "tool_use", "name": "shell", "input": {"command": "ls"}}
    assert messages("") == messages(str(tmp_path / "none")) == []


def test_checks_that_ask_a_model_are_not_graded_without_a_key(tmp_path: Path) -> None:
    claw(tmp_path / "copy", CLAW_TASKS[0], note="JUDGE_MODEL")
    pack, _ = imported("wildclawbench", tmp_path / "copy", tmp_path)
    found = grade_in_directory(pack.task(CLAW_TASKS[0]), False)
    assert (found.status, found.value) == ("not_graded", None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## Prompt\n\nWrite", "## Words\n\nWrite", "has no section '## Prompt'"),
        ("def grade(", "def rate(", "no code block with a function grade"),
        ("workspace/one\n", "../../one\n", "leads out of the copy"),
        ("workspace/one\n", "workspace/two\n", "is not below"),
    ],
)
def test_a_broken_markdown_task_is_missing_with_its_reason(tmp_path: Path, old: str, new: str, said: str) -> None:
    claw(tmp_path, CLAW_TASKS[0])
    claw(tmp_path, CLAW_TASKS[1])
    path = tmp_path / f"tasks/{CLAW_TASKS[0]}.md"
    path.write_text(path.read_text().replace(old, new, 1))
    found = importer_of("wildclawbench").find(tmp_path, load_pack("wildclawbench").manifest, {})
    assert said in found.missing[CLAW_TASKS[0]]
    assert [task.id for task in found.tasks] == [CLAW_TASKS[1]]


PROGRAM = load_pack("programbench").tasks[0].id
RUN_SH = """\
#!/bin/sh
case $(./executable 2>/dev/null) in ok) bad= ;; *) bad='<failure/>' ;; esac
cat >eval/results.xml <<END
<testsuites><testsuite><testcase classname="eval.tests.t" name="a">$bad</testcase>
<testcase classname="eval.tests.t" name="b"/><testcase classname="eval.tests.t" name="c"><skipped/></testcase>
<testcase classname="eval.tests.t" name="extra"/></testsuite></testsuites>
END
"""


def program(top: Path) -> Path:
    branch = {
        "ignored": False,
        "tests": [f"tests.t.{name}" for name in "abcd"],
        "ignored_tests": [{"name": "tests.t.d"}],
    }
    return files(
        top / "programbench/data/tasks" / PROGRAM,
        {
            "task.yaml": f"repository: a/b\neval_clean_hashes:\n- {'a' * 64}\n- {'b' * 64}\nlanguage: c\n",
            "tests.json": json.dumps({"branches": {"one": branch, "two": {"ignored": True, "tests": ["x"]}}}),
            "tests/one/eval/run.sh": RUN_SH,
        },
    )


def test_a_package_with_hidden_tests_grades_what_compiles(tmp_path: Path) -> None:
    program(tmp_path)
    files(tmp_path, {"programbench-1.2.5.dist-info/METADATA": "Name: programbench\nVersion: 1.2.5\n"})
    found = importer_of("programbench").find(tmp_path, load_pack("programbench").manifest, {})
    assert found.commit == "programbench 1.2.5"
    assert len(found.missing) == 13
    pack, _ = imported("programbench", tmp_path, tmp_path)
    task = pack.task(PROGRAM)
    assert task.harbor.image == f"programbench/{PROGRAM.replace('__', '_1776_')}:task_cleanroom_v6"
    assert task.builds
    assert in_tar(task.workspace_tar()) == {}
    untouched = grade_in_directory(task, False)
    assert (untouched.value, untouched.detail) == (0.0, "0 of 3 tests passed; compile.sh failed")
    compiles = "printf '#!/bin/sh\\necho ok\\n' >executable\nchmod +x executable\n"
    files(task.path, {"solution/solve.sh": f"cat >compile.sh <<'END'\n#!/bin/sh\n{compiles}END\n"})
    solved = grade_in_directory(task, True)
    assert (round(solved.value or 0, 3), solved.passed) == (0.667, False)


def test_a_task_without_its_hidden_tests_says_so(tmp_path: Path) -> None:
    folder = program(tmp_path)
    (folder / "tests/one/eval/run.sh").unlink()
    found = importer_of("programbench").find(tmp_path, load_pack("programbench").manifest, {})
    assert "hidden tests of 1 branches are not in" in found.missing[PROGRAM]


def test_hashes_are_read_out_of_the_flat_yaml() -> None:
    assert clean_hashes(f"a: b\neval_clean_hashes:\n  - {'c' * 64}\nz: - {'d' * 64}\n") == ["c" * 64]
    assert clean_hashes("a: b\n") == []


CAPSULES = [task.id for task in load_pack("core-bench").tasks]


def core(top: Path, task: str) -> Path:
    results = [{"the accuracy": value, "fig colour": "Red", "words": ["a", "b"]} for value in (0.50, 0.52, 0.54)]
    (top / "corebench").mkdir(parents=True)
    (top / "corebench/core_test.json").write_text(
        json.dumps([{"capsule_id": task, "task_prompt": "run main.py", "results": results, "field": "x"}])
    )
    return files(
        top / "corebench/capsules" / task,
        {
            "code/main.py": "1", "code/run.sh": "x", "results/out.txt": "secret-result", "REPRODUCING.md": "x",
            "environment/Dockerfile": "x", "data/trainX.csv": "x", "data/test.csv": "1", "code/cache/a": "x",
        },
    )  # fmt: skip


def test_a_capsule_loses_what_the_hard_level_hides(tmp_path: Path) -> None:
    core(tmp_path / "copy", CAPSULES[0])
    pack, _ = imported("core-bench", tmp_path / "copy", tmp_path)
    task = pack.task(CAPSULES[0])
    assert sorted(name for name, data in in_tar(task.workspace_tar()).items() if data) == [
        "root/environment/code/main.py", "root/environment/data/test.csv",
    ]  # fmt: skip
    assert b"run main.py" in task.instruction()
    assert verify_pack(pack, grade_in_directory) == []


def test_a_packed_capsule_is_unpacked_with_the_same_care(tmp_path: Path) -> None:
    core(tmp_path / "copy", CAPSULES[0])
    folder = tmp_path / "copy/corebench/capsules" / CAPSULES[0]
    with tarfile.open(folder.with_name(f"{CAPSULES[0]}.tar.gz"), "w:gz") as archive:
        archive.add(folder, CAPSULES[0])
    plain, _ = imported("core-bench", tmp_path / "copy", tmp_path / "a")
    folder.rename(tmp_path / "moved")
    packed, brought = imported("core-bench", tmp_path / "copy", tmp_path / "b")
    assert brought.refused == {}
    first, second = (pack.task(CAPSULES[0]).workspace_tar() for pack in (plain, packed))
    assert {k: v for k, v in in_tar(first).items() if v} == {k: v for k, v in in_tar(second).items() if v}


def test_the_upstream_prompt_is_read_and_not_run(tmp_path: Path) -> None:
    core(tmp_path, CAPSULES[0])
    code = (
        'raise SystemExit("run")\nclass CoreBenchHard:\n    def p(self, task):\n        task_prompt = 1\n'
        '        json_fields = 2\n        return f"Go and {task_prompt} for {json_fields}."\n'
    )
    files(tmp_path, {"corebench.py": code})
    pack, _ = imported("core-bench", tmp_path, tmp_path)
    said = pack.task(CAPSULES[0]).instruction().decode()
    assert said == "Go and run main.py for dict_keys(['the accuracy', 'fig colour', 'words'])."


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ('{"the accuracy": 0.53, "fig colour": "red", "words": ["a", "b"]}', 1.0),
        ("So: {'the accuracy': '0.47%', 'fig colour': 'RED', 'words': ['a', 'b']} is it.", 1.0),
        ('{"the accuracy": 0.62, "fig colour": "red", "words": ["a", "b"]}', 0.0),
        ('{"the accuracy": 0.53, "fig colour": "red", "words": ["b", "a"]}', 0.0),
        ('{"the accuracy": 0.53, "fig colour": "red"}', 0.0),
        ("nothing of the kind {", 0.0),
    ],
)
def test_numbers_count_within_the_prediction_interval(tmp_path: Path, message: str, value: float) -> None:
    core(tmp_path / "copy", CAPSULES[0])
    pack, _ = imported("core-bench", tmp_path / "copy", tmp_path)
    found = grade(pack.grade, grade_message(read_key(pack.task(CAPSULES[0]).path), message, pack.path))
    assert (found.status, found.value) == ("scored", value)


def test_students_quantile() -> None:
    assert [round(t_975(freedom), 4) for freedom in (1, 2, 3, 10, 30)] == [12.7062, 4.3027, 3.1824, 2.2281, 2.0423]


CARD = load_pack("agents-last-exam").tasks[0].id


def test_a_task_card_gives_prompt_and_inputs_and_keeps_the_rest_back(tmp_path: Path) -> None:
    card = {
        "taskId": CARD,
        "taskPrompt": "Do the thing.",
        "vm": {"snapshot": "cpu-ubuntu", "vcpus": 4, "memory_gb": 16},
    }
    files(
        tmp_path / "copy/tasks" / CARD,
        {
            "task_card.json": json.dumps(card), "main.py": "# secret-main", "scripts/score_x.py": "# secret-score",
            "input/a.csv": "1", "reference.7z": "secret-reference",
        },
    )  # fmt: skip
    pack, brought = imported("agents-last-exam", tmp_path / "copy", tmp_path)
    assert brought.written == [CARD]
    task = pack.task(CARD)
    assert {name for name, data in in_tar(task.workspace_tar()).items() if data} == {"workspace/input/a.csv"}
    assert (task.cpus, task.memory_bytes) == (4.0, 16 << 30)
    found = grade_in_directory(task, False)
    assert (found.status, found.detail) == ("not_graded", "the grader's 'reward' is null")


@pytest.mark.parametrize(
    ("card", "said"),
    [("{", "is not JSON"), ("{}", "has no taskPrompt"), ('{"taskPrompt": "x", "vm": 1}', "vm must be an object")],
)
def test_a_broken_card_is_missing_with_its_reason(tmp_path: Path, card: str, said: str) -> None:
    files(tmp_path / "tasks" / CARD, {"task_card.json": card, "input/a": "1"})
    found = importer_of("agents-last-exam").find(tmp_path, load_pack("agents-last-exam").manifest, {})
    assert said in found.missing[CARD]


def test_yc_bench_needs_the_package_and_its_environment(tmp_path: Path) -> None:
    manifest = load_pack("yc-bench").manifest
    with pytest.raises(PackError, match="holds no package yc_bench"):
        importer_of("yc-bench").find(tmp_path, manifest, {})
    files(tmp_path / "yc_bench/config/presets", {"default.toml": ""})
    found = importer_of("yc-bench").find(tmp_path, manifest, {})
    assert all("pip install yc-bench" in why for why in found.missing.values())


@pytest.mark.parametrize(
    "family", [pack.name for pack in (load_pack(name) for name in ("wildclawbench", "core-bench"))]
)
def test_what_an_import_writes_is_a_sound_pack(tmp_path: Path, family: str) -> None:
    if family == "core-bench":
        core(tmp_path / "copy", CAPSULES[0])
    else:
        claw(tmp_path / "copy", CLAW_TASKS[0])
    pack, _ = imported(family, tmp_path / "copy", tmp_path)
    assert [finding for finding in check_pack(pack.path) if "solve.sh: is missing" not in finding] == []
