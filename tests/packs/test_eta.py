from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import get_args

import pytest

from task_packs.checking.pack import check_pack, grade_in_directory
from task_packs.errors import PackError
from task_packs.eta import commitments, disclosure
from task_packs.load import load_pack
from task_packs.manifest import Track, read_manifest
from tests.packs.copies import in_tar
from tests.packs.packfile import PACK

TASKS = [task.id for task in load_pack("etademo").tasks]


def copied(tmp_path: Path) -> Path:
    return shutil.copytree(load_pack("etademo").path, tmp_path / "etademo")


def test_the_demo_has_one_task_for_each_track_and_is_sound() -> None:
    pack = load_pack("etademo")
    assert [task.track for task in pack.tasks] == list(get_args(Track))
    assert check_pack(pack.path) == []


@pytest.mark.parametrize("task_id", TASKS)
def test_the_untouched_start_fails_and_the_solution_passes_again_and_again(task_id: str) -> None:
    task = load_pack("etademo").task(task_id)
    untouched, solved = grade_in_directory(task, False), grade_in_directory(task, True)
    assert (untouched.value, untouched.passed) == (0.0, False)
    assert (solved.status, solved.passed) == ("scored", True), solved.detail


def test_two_cpus_and_two_gibibytes_where_nothing_else_is_said() -> None:
    task = load_pack("etademo").tasks[0]
    assert (task.cpus, task.memory_bytes, task.requests_ms) == (2.0, 2 << 30, ())


@pytest.mark.parametrize("task_id", TASKS)
def test_all_but_the_solution_is_told_before_the_estimate(task_id: str) -> None:
    task = load_pack("etademo").task(task_id)
    told = disclosure(task)
    assert told.startswith(task.instruction().decode().rstrip("\n"))
    assert "2 CPUs, 2 GiB of memory, without a network" in told
    assert (task.path / "tests/test.sh").read_text().rstrip("\n") in told
    assert told.rstrip("\n").endswith("The estimate cannot be changed afterwards.")
    solution = (task.path / "solution/solve.sh").read_text()
    assert solution not in told
    assert solution.encode() not in in_tar(task.workspace_tar()).values()


def test_a_commitment_is_the_hash_that_sha256sum_prints() -> None:
    pack = load_pack("etademo")
    solution = pack.path / "tasks/gate-code/solution/solve.sh"
    assert commitments(pack)["tasks/gate-code"] == hashlib.sha256(solution.read_bytes()).hexdigest()


def test_a_solution_that_was_exchanged_is_found(tmp_path: Path) -> None:
    path = copied(tmp_path)
    solution = path / "tasks/gate-code/solution/solve.sh"
    solution.write_text(solution.read_text() + "\n")
    assert check_pack(path) == [f"{solution}: is not the solution that was committed to"]


def test_a_withheld_solution_is_no_fault_of_the_commitments(tmp_path: Path) -> None:
    path = copied(tmp_path)
    (path / "tasks/gate-code/solution/solve.sh").unlink()
    assert not any("committed" in finding for finding in check_pack(path))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  tasks/gate-code/", "  tasks/other/", "commits to no solution of gate-code"),
        ("  tasks/gate-code/", "  tasks/fast-tally/", "commits to tasks/fast-tally twice"),
        ("  tasks/gate-code/", "  ../gate-code/", "line 6 is not of the form SHA-256"),
    ],
)
def test_broken_commitments_name_file_and_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = copied(tmp_path)
    file = path / "solutions.sha256"
    file.write_text(file.read_text().replace(old, new))
    assert any(finding.startswith(str(file)) and said in finding for finding in check_pack(path))


def test_a_verifier_that_is_no_text_cannot_be_told(tmp_path: Path) -> None:
    path = copied(tmp_path)
    (path / "tasks/gate-code/tests/blob").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PackError, match="is no text, so it cannot be told"):
        disclosure(load_pack(path).task("gate-code"))


ETA = PACK.replace("[source]", 'kind = "eta"\n[eta]\ntiming_rule = "One clock."\n[source]').replace(
    'requests = ["2s", "4s", "8s"]', 'track = "debugging"'
)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('track = "debugging"', "", "task[0].track: is missing"),
        ('track = "debugging"', 'track = "sleeping"', "task[0].track"),
        ('kind = "eta"', 'kind = "tasks"', 'kind = "eta" and a table [eta] go together'),
        ('[eta]\ntiming_rule = "One clock."\n', "", 'kind = "eta" and a table [eta] go together'),
        ("One clock.", "", "eta.timing_rule"),
    ],
)
def test_an_eta_manifest_that_lacks_something_names_the_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "pack.toml").write_text(ETA)
    assert read_manifest(tmp_path / "pack.toml").task[0].track == "debugging"
    assert old in ETA
    (tmp_path / "pack.toml").write_text(ETA.replace(old, new))
    with pytest.raises(PackError) as caught:
        read_manifest(tmp_path / "pack.toml")
    assert said in str(caught.value)


def test_a_solution_that_passes_only_sometimes_is_no_solution(tmp_path: Path) -> None:
    path = copied(tmp_path)
    test = path / "tasks/gate-code/tests/test.sh"
    test.write_text('#!/bin/sh\n[ -f seen ] && r=0 || r=1\ntouch seen\necho $r >"$VERIFIER_DIR/reward.txt"\n')
    found = grade_in_directory(load_pack(path).task("gate-code"), True)
    assert (found.status, found.detail) == ("grader_error", "graded scored 1 at first and scored 0 the 2. time")
