from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from task_packs.checking.pack import check_pack, grade_in_directory, verify_pack
from task_packs.grading import Outcome
from task_packs.load import load_pack
from task_packs.task import Task
from tests.packs.packfile import PACK, write_pack, write_task


def test_a_sound_pack_has_no_findings(tmp_path: Path) -> None:
    assert check_pack(write_pack(tmp_path)) == []


def test_the_demo_pack_has_no_findings() -> None:
    assert check_pack(load_pack("demo").path) == []


def test_a_manifest_that_cannot_be_read_is_the_finding(tmp_path: Path) -> None:
    assert check_pack(tmp_path) == [
        f"{tmp_path}/pack.toml: cannot be read: No such file or directory; a pack is a directory with a pack.toml"
    ]


@pytest.mark.parametrize("name", ["instruction.md", "tests/test.sh", "solution/solve.sh"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write_pack(tmp_path)
    (tmp_path / "tasks/one" / name).unlink()
    assert any(finding.startswith(f"{tmp_path}/tasks/one/{name}: is missing") for finding in check_pack(tmp_path))


def test_every_fault_is_found_at_once(tmp_path: Path) -> None:
    write_pack(tmp_path)
    one = tmp_path / "tasks/one"
    (one / "instruction.md").write_text("Please work on this task for a full day.\n")
    (one / "task.toml").write_text("[environment]\nmemory_mb = 'lots'\n")
    (one / "tests/peek").symlink_to("/etc/passwd")
    write_task(tmp_path / "tasks/unlisted")
    found = "\n".join(check_pack(tmp_path))
    assert "already holds 'Please work on this task for'" in found
    assert "task.toml: environment.memory_mb" in found
    assert "tests/peek: is a link out of" in found
    assert "tasks/unlisted: is not listed" in found


@pytest.mark.parametrize("name", ["solution/solve.sh", "tests/test.sh"])
def test_a_hidden_program_among_what_the_agent_meets_is_named(tmp_path: Path, name: str) -> None:
    write_pack(tmp_path)
    copy = tmp_path / "tasks/one/environment/notes/old"
    copy.parent.mkdir(parents=True)
    copy.write_text(f"\n{(tmp_path / 'tasks/one' / name).read_text()}\n")
    assert check_pack(tmp_path) == [f"{copy}: is {name} of the task, which no agent may see"]


def test_a_roster_whose_tasks_a_user_brings_is_sound(tmp_path: Path) -> None:
    pack = PACK.replace('access = "bundled"', 'access = "user-copy"\nwhat = "the small set"')
    assert check_pack(write_pack(tmp_path, pack, tasks=())) == []


def test_the_start_fails_and_the_solution_passes(tmp_path: Path) -> None:
    said: list[str] = []
    assert verify_pack(load_pack(write_pack(tmp_path)), grade_in_directory, said.append) == []
    assert said == ["one: untouched scored 0, solved scored 1"]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("tests/test.sh", "echo 1 >$VERIFIER_DIR/reward.txt", "the untouched start passes"),
        ("tests/test.sh", "echo -n >$VERIFIER_DIR/reward.txt", "the untouched start ended as grader_error"),
        ("tests/test.sh", "exit 3", "the solution ended as grader_error (the grader left no reward"),
        ("solution/solve.sh", ":", "the solution does not pass"),
        ("solution/solve.sh", "echo no way; exit 4", "solve.sh ended with 4: no way"),
    ],
)
def test_a_task_that_does_not_behave_is_found(tmp_path: Path, file: str, text: str, said: str) -> None:
    write_pack(tmp_path)
    (tmp_path / "tasks/one" / file).write_text(f"#!/bin/sh\n{text}\n")
    found = verify_pack(load_pack(tmp_path), grade_in_directory)
    assert any(finding.startswith("small one: ") and said in finding for finding in found)


def test_a_family_without_a_pass_rule_needs_a_better_solution(tmp_path: Path) -> None:
    write_pack(tmp_path, PACK.replace('pass = { key = "reward", min = 1 }', 'better = "lower"'))

    def grader(task: Task, solved: bool) -> Outcome:
        return Outcome("scored", 0.75 if solved else 0.5)

    pack = load_pack(tmp_path)
    assert verify_pack(pack, grader) == ["small one: the solution (0.75) is no better than the untouched start (0.5)"]
    assert verify_pack(pack, lambda task, solved: grader(task, not solved)) == []


def test_a_grader_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    write_pack(tmp_path)
    note = tmp_path / "pid"
    (tmp_path / "tasks/one/tests/test.sh").write_text(f"#!/bin/sh\nsleep 600 & echo $! >{note}\nwait\n")
    (tmp_path / "tasks/one/task.toml").write_text("[verifier]\ntimeout_sec = 0.5\n")
    found = grade_in_directory(load_pack(tmp_path).task("one"), False)
    assert (found.status, found.detail) == ("grader_error", "the grader did not end in time")
    assert ends(int(note.read_text()))


def test_a_service_is_graded_alive_and_ended_afterwards(tmp_path: Path) -> None:
    write_pack(tmp_path)
    note = tmp_path / "pid"
    solve = f"#!/bin/sh\nsleep 600 & echo $! >{note}\ncp {note} done\n"
    (tmp_path / "tasks/one/solution/solve.sh").write_text(solve)
    (tmp_path / "tasks/one/tests/test.sh").write_text(
        '#!/bin/sh\nkill -0 "$(cat done)" && echo 1 >"$VERIFIER_DIR/reward.txt"\n'
    )
    assert grade_in_directory(load_pack(tmp_path).task("one"), True).passed
    assert ends(int(note.read_text()))


def ends(pid: int) -> bool:
    """Whether the process is gone, or a zombie nobody reaps, within five seconds."""
    for _ in range(500):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False
