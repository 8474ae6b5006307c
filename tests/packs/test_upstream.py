"""Packages of three families, fetched at test time: their own scorers, presets and sample submissions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from task_packs.answers import grade_message, read_key
from task_packs.checking.pack import grade_in_directory
from task_packs.grading import grade
from task_packs.importers.trees import unpack_archive
from tests.link.test_zipapp import interpreter
from tests.packs.copies import imported, json_lines

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def unpacked(name: str, folder: Path) -> Path:
    """A package, downloaded without its dependencies and unpacked; skips where no registry can be reached."""
    argv = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-d",
        str(folder),
        name,
    ]
    done = subprocess.run(argv, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        pytest.skip(f"{name} cannot be fetched: {done.stderr.strip().splitlines()[-1:]}")
    unpack_archive(wheels[0], folder / "unpacked")
    return folder / "unpacked"


def test_programbench_grades_its_sample_submissions(tmp_path: Path) -> None:
    package = unpacked("programbench==1.2.5", tmp_path)
    pack, brought = imported("programbench", package, tmp_path, beyond=True)
    assert brought.written == ["testorg__calculator.abc1234"]
    task = pack.task("testorg__calculator.abc1234")
    for kind, passed in (("correct", 3), ("incorrect", 0)):
        place = tmp_path / kind
        sample = package / "programbench/data/test_runs" / kind / task.id / "submission.zip"
        with zipfile.ZipFile(sample) as archive:
            archive.extractall(place)
        env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "VERIFIER_DIR": str(place)}
        subprocess.run([sys.executable, task.path / "tests/run_branches.py", place], env=env, check=True)
        found = json.loads((place / "reward.json").read_text())
        assert (found["passed"], found["total"], found["reward"]) == (passed, 3, passed / 3)


def test_assistantbench_is_scored_by_its_own_package(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the scorer needs scipy, which is in the extra `dev`")
    copy = unpacked("browsergym-assistantbench==0.14.3", tmp_path)
    json_lines(copy / "v.jsonl", [{"task": "How far?", "answer": "12.5"}, {"task": "Who?", "answer": "Ada Moss"}])
    pack, _ = imported("assistantbench", copy, tmp_path)
    for task, message, percent in (
        ("validation:0", "12.5", 100.0), ("validation:0", "13.9 km, no", 0.0), ("validation:1", "Ada Moss", 100.0),
        ("validation:1", "Ada", 66.7),
    ):  # fmt: skip
        found = grade(pack.grade, grade_message(read_key(pack.task(task).path), message, pack.path))
        assert found.status == "scored"
        assert found.percent is not None
        if percent in (0.0, 100.0):
            assert (found.percent, found.passed) == (percent, percent == 100.0)
        else:
            assert 0 < found.percent < 100


def test_yc_bench_makes_its_world_and_reads_the_funds(tmp_path: Path) -> None:
    python = interpreter("3.12") or interpreter("3.13")
    if python is None:
        pytest.skip("yc-bench needs Python 3.12, which is not here")
    subprocess.run([python, "-m", "venv", tmp_path / "v"], check=True)
    done = subprocess.run([tmp_path / "v/bin/pip", "install", "-q", "yc-bench==0.1.0"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"yc-bench cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    pack, brought = imported("yc-bench", tmp_path / "v", tmp_path)
    assert len(brought.written) == 3
    for task in pack.tasks:
        assert b"## Simulation Start" in task.instruction()
        assert task.system.startswith("You are the autonomous CEO")
        found = grade_in_directory(task, False)
        assert (found.status, found.value, found.percent, found.passed) == ("scored", 250_000.0, None, None)
    assert imported("yc-bench", tmp_path / "v", tmp_path)[1].unchanged == [task.id for task in pack.tasks]
