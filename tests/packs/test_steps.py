"""Tasks with steps: what is read of them, what is refused by name, and the check that walks through them."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from task_packs.checking.pack import check_pack, grade_in_directory, verify_pack
from task_packs.errors import PackError
from task_packs.harbor.steps import HarborStep, read_steps
from task_packs.load import load_pack
from task_packs.steps.grading import combined, falls_short, rewards_in
from task_packs.steps.prompts import step_instruction
from task_packs.task import Task
from tests.packs.stepped import FILES, PACK, TASK_TOML, write_stepped


def task_in(directory: Path, pack: str = PACK, **changed: str) -> Task:
    return load_pack(write_stepped(directory, pack, **changed)).task("greeter")


def entries(tar: bytes) -> dict[str, tuple[bytes, int]]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        for entry in archive:
            file = archive.extractfile(entry)
            found[entry.name] = (file.read() if file else b"", entry.uid)
    return found


def test_steps_are_read_with_what_they_take_from_the_task(tmp_path: Path) -> None:
    task = task_in(tmp_path)
    make, teach, tell = (step.harbor for step in task.steps)
    assert [one.name for one in (make, teach, tell)] == ["make", "teach", "tell"]
    assert [one.verifier_timeout_s for one in (make, teach, tell)] == [20, 10, 20]
    assert dict(make.verifier_env) == {"GREETING": "hello", "MARK": "task"}
    assert dict(teach.verifier_env) == {"GREETING": "hello Ada", "MARK": "task"}
    assert (make.least, teach.least, tell.least) == ((("reward", 1.0),), (("reward", 0.5),), ())
    assert teach.healthcheck is not None
    assert (teach.healthcheck.retries, teach.healthcheck.interval_s) == (2, 0.05)
    assert teach.artifacts == ("/app/name",)
    assert task.steps[0].strategy == "mean"
    assert (task.present, task.solved, task.hindrance, task.requests_ms) == (True, True, "", ())


def test_a_prompt_is_that_of_its_step_and_the_task_has_none(tmp_path: Path) -> None:
    canary = "<!-- canary 1 -->\n\nWrite about greet in the file README.\n"
    task = task_in(tmp_path, steps__tell__instruction__md=canary)
    (tmp_path / "tasks/greeter/steps/tell/instruction.md").write_text(canary)
    assert step_instruction(task, task.steps[2]) == b"Write about greet in the file README.\n"
    with pytest.raises(PackError, match="has 3 steps with a prompt each and no prompt of its own"):
        task.instruction()


def test_a_native_time_text_occurs_once_in_all_the_steps_together(tmp_path: Path) -> None:
    pack = PACK.replace("[network]", '[prompt]\nstrip = ["Write about"]\n[network]')
    task = task_in(tmp_path, pack)
    assert step_instruction(task, task.steps[2]) == b" greet in the file README.\n"
    assert step_instruction(task, task.steps[0]).startswith(b"Make an")
    (tmp_path / "tasks/greeter/steps/make/instruction.md").write_text("Write about it.\n")
    with pytest.raises(PackError, match="occurs 2 times in the steps, it"):
        step_instruction(task, task.steps[2])


def test_a_grader_has_the_tasks_tests_with_the_steps_own_over_them(tmp_path: Path) -> None:
    make, teach, _ = task_in(tmp_path).steps
    assert set(entries(make.tests_tar())) == {"helper.sh", "test.sh"}
    assert entries(teach.tests_tar())["helper.sh"] == (FILES["steps/teach/tests/helper.sh"].encode(), 0)
    assert teach.tests_tar() == teach.tests_tar()
    assert {name: uid for name, (_, uid) in entries(teach.workdir_tar()).items()} == {"name": 0, "setup.sh": 0}
    assert (make.readied, teach.readied) == (False, True)


def test_the_grader_of_a_step_without_one_is_the_tasks(tmp_path: Path) -> None:
    task = task_in(tmp_path)
    folder = tmp_path / "tasks/greeter"
    (folder / "steps/tell/tests/test.sh").unlink()
    with pytest.raises(PackError, match="nothing could grade this step"):
        task.steps[2].tests_tar()
    (folder / "tests/test.sh").write_text("#!/bin/bash\n")
    assert task.steps[2].grader_argv("/tests") == ["/bin/bash", "/tests/test.sh"]


def test_the_agent_starts_with_nothing_of_its_steps(tmp_path: Path) -> None:
    assert set(entries(task_in(tmp_path).workspace_tar())) == {"app", "app/notes.txt"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[steps]]\nname = "a/b"', "'a/b' is no name of a directory"),
        ('[[steps]]\nname = ".."', "'..' is no name of a directory"),
        ('[[steps]]\nname = ""', "steps[0].name: is missing"),
        ("[[steps]]\n", "steps[0].name: is missing"),
        ('[[steps]]\nname = "a"\n[[steps]]\nname = "A"', "steps[1].name: 'A' names two steps"),
        ('multi_step_reward_strategy = "best"', "'best' is not one of mean, final"),
        ('[[steps]]\nname = "a"\nmin_reward = "1"', "steps[0].min_reward: must be a number or a table of numbers"),
        ('[[steps]]\nname = "a"\nmin_reward = nan', "steps[0].min_reward: must be"),
        ('[[steps]]\nname = "a"\nmin_reward = 1' + "0" * 400, "steps[0].min_reward: must be"),
        ('[[steps]]\nname = "a"\nmin_reward = { x = true }', "steps[0].min_reward: must be"),
        ('[[steps]]\nname = "a"\n[steps.healthcheck]\nretries = 2', "steps[0].healthcheck.command: is missing"),
    ],
)
def test_a_wrong_value_names_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "task.toml").write_text(text)
    with pytest.raises(PackError) as refusal:
        read_steps(tmp_path / "task.toml")
    assert said in str(refusal.value)
    assert str(refusal.value).startswith(f"{tmp_path}/task.toml: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[steps.verifier]\nenvironment_mode = "separate"', "grades its step a in an environment of its own"),
        ("[steps.verifier.environment]\ncpus = 1", "grades its step a in an environment of its own"),
        ('[verifier]\nenvironment_mode = "separate"', "grades its step a in an environment of its own"),
        ('[verifier]\nenvironment_mode = "separate"\n[steps.verifier]\nenvironment_mode = "shared"', ""),
        ('[steps.agent]\nuser = "bob"', "runs its step a as another user (bob)"),
        ('[agent]\nuser = "bob"\n[steps.agent]\nuser = "bob"', ""),
        ('[steps.verifier]\nuser = "bob"', "grades its step a as bob"),
        ('[[steps.verifier.collect]]\ncommand = "x"\nservice = "db"', "runs hooks as service db before its step a"),
        ('[[steps.verifier.collect]]\ncommand = "x"\nuser = "bob"', "runs hooks as bob before its step a"),
        ('[[steps.verifier.collect]]\ncommand = "x"', ""),
        ('[steps.agent]\nnetwork_mode = "public"', "gives the agent of its step a a network of its own"),
        ('[steps.agent]\ntimeout_sec = 60\n[steps.verifier]\nuser = "root"', ""),
    ],
)
def test_what_a_step_cannot_have_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    lines = text.split("\n[steps.") if text.startswith("[verifier]") or text.startswith("[agent]") else ["", text]
    own = f"[steps.{lines[1]}" if lines[0] and len(lines) > 1 else lines[1] if len(lines) > 1 else ""
    (tmp_path / "task.toml").write_text(f'{lines[0]}\n[[steps]]\nname = "a"\n{own}\n')
    (step,) = read_steps(tmp_path / "task.toml").steps
    assert (said in step.hindrance) if said else step.hindrance == ""


def test_a_pack_that_grades_in_another_way_says_so(tmp_path: Path) -> None:
    live = task_in(tmp_path, PACK.replace("bounds =", 'where = "live"\nbounds ='))
    assert "has 3 steps with a grade each, and its pack grades while all it left lives" in live.hindrance


def test_a_variable_that_is_not_here_is_named(tmp_path: Path) -> None:
    task = task_in(tmp_path, **{"task.toml": TASK_TOML.replace('"hello Ada"', '"${NOBODY_SET_THIS}"')})
    said = (
        "cannot be graded: task.toml: verifier.env of step teach.GREETING: takes NOBODY_SET_THIS from your environment"
    )
    assert task.hindrance.startswith(said)


def test_a_pack_with_requests_for_such_a_task_is_told(tmp_path: Path) -> None:
    pack = PACK.replace("steps = true", 'requests = ["2s", "4s", "8s"]')
    (found,) = check_pack(write_stepped(tmp_path / "a", pack))
    assert "has 3 steps, and requests are about one prompt: give steps = true in their place" in found
    with pytest.raises(PackError, match="a task with steps has no requests: they are about one prompt"):
        load_pack(write_stepped(tmp_path / "b", PACK + 'requests = ["2s", "4s", "8s"]\n'))
    plain = TASK_TOML.split("[[steps]]")[0]
    (found, *_) = check_pack(write_stepped(tmp_path / "c", task__toml=plain, **{"task.toml": plain}))
    assert "says steps = true" in found


@pytest.mark.parametrize(
    ("strategy", "rewards", "made"),
    [
        ("mean", [{"reward": 1.0}, {"reward": 0.5}, {"reward": 0.0}], {"reward": 0.5}),
        ("mean", [{"reward": 1.0, "style": 1.0}, {"reward": 0.0}], {"reward": 0.5, "style": 0.5}),
        ("mean", [{"reward": 1.0}, None], {"reward": 1.0}),
        ("mean", [None, None], None),
        ("mean", [], None),
        ("final", [{"reward": 1.0}, {"reward": 0.0, "style": 1.0}], {"reward": 0.0, "style": 1.0}),
        ("final", [{"reward": 1.0}, None], None),
        ("final", [{"reward": 0.0}], {"reward": 0.0}),
        ("final", [], None),
    ],
)
def test_rewards_are_combined_as_harbor_does(
    strategy: str, rewards: list[dict[str, float] | None], made: dict[str, float] | None
) -> None:
    assert combined(strategy, rewards) == made


def test_a_reward_is_read_and_measured() -> None:
    assert rewards_in("reward.txt", " 0.5\n") == {"reward": 0.5}
    assert rewards_in("reward.json", '{"a": 1, "b": "x", "c": true}') == {"a": 1.0}
    assert rewards_in("reward.json", "[1]") is None
    assert rewards_in("reward.txt", "many") is None
    assert falls_short({"reward": 0.5}, {"reward": 0.5}) == ""
    assert falls_short({"reward": 0.4}, {"reward": 0.5, "b": 0.0}) == "has reward 0.4 below 0.5, no b"
    assert falls_short(None, {}) == "left no score"
    assert HarborStep("a").least == ()


def test_the_check_walks_from_the_start_to_the_end(tmp_path: Path) -> None:
    said: list[str] = []
    pack = load_pack(write_stepped(tmp_path))
    assert check_pack(tmp_path) == []
    assert verify_pack(pack, grade_in_directory, said.append) == []
    assert said == ["greeter: untouched scored 0, solved scored 1"]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("steps/make/solution/solve.sh", "#!/bin/sh\n", "step make, solved, has reward 0 below 1"),
        ("steps/teach/solution/solve.sh", "#!/bin/sh\necho no way; exit 4\n", "teach: solve.sh ended with 4: no way"),
        ("steps/make/solution/solve.sh", "#!/bin/sh\necho 'echo hello' >greet\n", "step make, solved, has reward 0"),
        ("steps/teach/workdir/setup.sh", "#!/bin/sh\necho broken; exit 5\n", "its preparation ended with 5"),
        ("steps/tell/solution/solve.sh", "#!/bin/sh\n", "the solution does not pass"),
        ("steps/make/tests/test.sh", "#!/bin/sh\necho 1 >$VERIFIER_DIR/reward.txt\n", "the untouched start passes"),
        ("steps/make/tests/test.sh", "#!/bin/sh\nexit 3\n", "step make: the grader left no reward"),
    ],
)  # fmt: skip
def test_steps_that_do_not_behave_are_found(tmp_path: Path, file: str, text: str, said: str) -> None:
    write_stepped(tmp_path)
    (tmp_path / "tasks/greeter" / file).write_text(text)
    found = verify_pack(load_pack(tmp_path), grade_in_directory)
    assert any(said in one for one in found)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("steps/teach/instruction.md", "steps/teach/instruction.md: cannot be read"),
        ("steps/make/tests/test.sh", "steps/make/tests/test.sh: is missing"),
        ("steps/tell/solution/solve.sh", "steps/tell/solution/solve.sh: is missing"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, name: str, said: str) -> None:
    write_stepped(tmp_path)
    (tmp_path / "tasks/greeter" / name).unlink()
    assert any(said in one for one in check_pack(tmp_path))
