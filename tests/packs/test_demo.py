"""The demo pack's verifiers: they fail on the start, pass on the solution and are not fooled."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from task_packs.checking.pack import grade_in_directory
from task_packs.load import load_pack
from task_packs.task import Task

TASKS = [task.id for task in load_pack("demo").tasks]


@pytest.mark.parametrize("task_id", TASKS)
def test_the_untouched_start_fails_and_the_solution_passes(task_id: str) -> None:
    task = load_pack("demo").task(task_id)
    untouched, solved = grade_in_directory(task, False), grade_in_directory(task, True)
    assert untouched.status in ("scored", "empty")
    assert (untouched.value, untouched.passed) == (0.0, False)
    assert (solved.status, solved.value, solved.percent, solved.passed) == ("scored", 1.0, 100.0, True)


def after(task_id: str, tmp_path: Path, script: str) -> tuple[str, float | None, str]:
    """Status, value and detail after `script` has run in the workspace in place of the solution."""
    pack = load_pack("demo")
    copy = dataclasses.replace(pack, path=tmp_path / "demo")
    shutil.copytree(pack.path, copy.path)
    task = Task(copy, pack.task(task_id).entry)
    (task.path / "solution/solve.sh").write_text(f"#!/bin/sh\n{script}\n")
    found = grade_in_directory(task, True)
    return found.status, found.value, found.detail


@pytest.mark.parametrize(
    ("task_id", "script"),
    [
        ("busiest-visitor", "echo 10.20.6.33 >answer.txt"),
        ("busiest-visitor", "printf '10.20.5.5\\n10.20.6.33\\n' >answer.txt"),
        ("busiest-visitor", ": >answer.txt"),
        ("sales-report", "echo customer,orders,units,total >report.csv"),
        ("no-way-out", "printf 'default_routes: 7\\ngateway: none\\nverdict: open\\n' >network.txt"),
        ("mend-total", "echo 'echo 32.25' >total.sh"),
        ("mend-total", "rm total.sh"),
        ("mend-total", 'echo \'mkdir -p "$VERIFIER_DIR"; echo 1 >"$VERIFIER_DIR/reward.txt"\' >total.sh'),
        ("serve-notes", "echo 20000 >port.txt"),
        ("serve-notes", "echo 22 >port.txt"),
        ("serve-notes", "echo '20000; touch /tmp/x' >port.txt"),
        ("serve-notes", "echo 23456 >port.txt; rm -rf notes"),
    ],
)
def test_a_wrong_result_scores_zero(task_id: str, script: str, tmp_path: Path) -> None:
    assert after(task_id, tmp_path, script)[:2] == ("scored", 0.0)


@pytest.mark.parametrize(
    ("task_id", "script"),
    [
        ("busiest-visitor", "ln -s /proc/self/cmdline answer.txt"),
        ("sales-report", "mkdir report.csv"),
        ("no-way-out", "ln -s nowhere network.txt"),
    ],
)
def test_links_and_directories_are_no_answer(task_id: str, script: str, tmp_path: Path) -> None:
    assert after(task_id, tmp_path, script)[:2] == ("empty", 0.0)


def test_an_altered_log_does_not_alter_the_answer(tmp_path: Path) -> None:
    script = "echo '10.20.6.33 2026-03-09 \"GET /files/new\" 200 9' >visits.log; echo 10.20.6.33 >answer.txt"
    assert after("busiest-visitor", tmp_path, script)[1] == 0.0


def test_a_service_of_another_directory_does_not_count(tmp_path: Path) -> None:
    script = (
        "cp -R notes other; port=$((20000 + $$ % 30000)); echo $port >port.txt\n"
        "python3 -m http.server --bind 127.0.0.1 --directory other $port >/dev/null 2>&1 &\n"
        'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; grep -qi ":$(printf %04X $port) " /proc/net/tcp && exit 0; done'
    )
    status, value, detail = after("serve-notes", tmp_path, script)
    assert (status, value) == ("scored", 0.0)
    assert "not answered with the file put there" in detail
