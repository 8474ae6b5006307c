"""A task with steps by the command line: one natural run, its prompts one after another, one time and one grade."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.app import App
from tests.packs.stepped import FILES, PACK, WORKER, write_stepped

PLAN = """\
name = "stepped"
studies = ["{study}"]
[[agent]]
id = "worker"
harness = "command"
options = {{ argv = ["sh", "-c", '''
{worker}'''] }}
[[tasks]]
pack = "stepped"
cutoff = "{cutoff}"
[machine.local]
engine = "process"
"""


def app_with(path: Path, pack: str = PACK, **changed: str) -> App:
    user = App(path)
    write_stepped(user.home / "packs" / "stepped", pack, **changed)
    return user


def plan(app: App, worker: str = WORKER, cutoff: str = "60s", study: str = "natural") -> str:
    return str(app.file("p.toml", PLAN.format(worker=worker, cutoff=cutoff, study=study)))


def steps_of(app: App) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (run,) = app.runs()
    found = app.json("show", run["id"])["run"]
    return found, found["extra"]["steps"]


@pytest.mark.slow
def test_every_step_is_delivered_timed_and_graded(tmp_path: Path) -> None:
    app = app_with(tmp_path)
    try:
        app("run", plan(app), "--plain").ok()
        run, parts = steps_of(app)
        assert (run["ending"], run["counts"], run["time"]["status"]) == ("own", "yes", "valid")
        assert (run["grade"]["status"], run["grade"]["value"], run["grade"]["passed"]) == ("scored", 1.0, True)
        assert [one["name"] for one in parts] == ["make", "teach", "tell"]
        assert run["worked_s"] == pytest.approx(sum(one["worked_s"] for one in parts))
        assert all(one["grade"]["passed"] for one in parts)
        shown = app.call("show", run["id"]).ok().out
        assert "step 2" in shown
        assert "teach" in shown
        lines = app.json("transcript", run["id"])["transcript"]
        said = "".join(one.get("text", "") for one in lines)
        assert [line for line in said.splitlines() if line.startswith("done: ")] == [
            "done: Make an executable script greet that prints hello.",
            "done: Let greet print hello and the name that the file name holds.",
            "done: Write about greet in the file README.",
        ]
        assert all(0 <= one["offset_s"] <= run["worked_s"] + 0.1 for one in lines)
        kinds = [one["kind"] for one in app.events(run["id"])]
        assert (kinds.count("step_graded"), kinds.count("step_prepared"), kinds.count("graded")) == (3, 1, 0)
        assert "after each of its steps" in app.call("grade", run["id"]).sentence(1)
        assert "a request is about one prompt" in app.call(
            "packs", "requests", "stepped", "--from", "stepped"
        ).sentence(1)
    finally:
        app.end_processes()


@pytest.mark.slow
def test_too_little_at_the_first_step_ends_the_run(tmp_path: Path) -> None:
    app = app_with(tmp_path)
    try:
        app("run", plan(app, "cat; exit 0\n"), "--plain").ok()
        run, parts = steps_of(app)
        assert (run["ending"], run["lower_bound"], run["grade"]["value"]) == ("own", False, 0.0)
        assert [one["skipped"] for one in parts] == [None, *["step make has reward 0.0 below 1.0"] * 2]
        assert run["worked_s"] == parts[0]["worked_s"]
        shown = app.call("show", run["id"]).ok().out
        assert "teach not begun: step make has reward 0.0 below 1.0\n" in shown
        assert "tell not begun\n" in shown
    finally:
        app.end_processes()


@pytest.mark.slow
def test_a_grader_that_hangs_after_a_step_leaves_a_bound_and_a_need(tmp_path: Path) -> None:
    app = app_with(
        tmp_path,
        **{
            "steps/teach/tests/test.sh": "#!/bin/sh\nsleep 100\n",
            "task.toml": FILES["task.toml"].replace("timeout_sec = 10", "timeout_sec = 0.3"),
        },
    )
    try:
        app("run", plan(app), "--plain").ok()
        run, parts = steps_of(app)
        assert (run["ending"], run["lower_bound"], parts[1]["grade"]["status"]) == ("own", True, "grader_error")
        assert parts[2]["skipped"] == "step teach was left without a score"
        assert " s or more: not all of its work was seen" in app.call("show", run["id"]).ok().out
        (need,) = app.json("status")["needs_you"]
        assert need.endswith(": the grader failed after teach")
    finally:
        app.end_processes()


@pytest.mark.slow
def test_the_cutoff_is_that_of_all_steps_together(tmp_path: Path) -> None:
    slow = WORKER.replace("*name*)", "*name*) sleep 60;;\n*never*)").replace(
        "prompt=$(cat)", "prompt=$(cat); sleep 0.5"
    )
    app = app_with(tmp_path)
    try:
        app("run", plan(app, slow, "1.5s"), "--plain").ok()
        run, parts = steps_of(app)
        assert (run["ending"], run["lower_bound"], run["cutoff_s"]) == ("cutoff", True, 1.5)
        assert 1.4 <= run["worked_s"] <= 2.5
        assert [one["ending"] for one in parts] == ["own", "cutoff", None]
        assert [(one["grade"] or {}).get("value") for one in parts] == [1.0, 0.5, None]
        assert run["grade"]["value"] == 0.75
    finally:
        app.end_processes()


@pytest.mark.slow
def test_a_supervisor_lost_between_two_steps_changes_nothing(tmp_path: Path) -> None:
    slow = FILES["steps/make/tests/test.sh"].replace("#!/bin/sh\n", "#!/bin/sh\nsleep 1\n")
    app = app_with(tmp_path, **{"steps/make/tests/test.sh": slow})
    process = app.start("run", plan(app), "--plain")
    try:
        (journal,) = app.wait_for("swept")
        opened = next(json.loads(line) for line in journal.read_text().splitlines() if '"opened"' in line)
        os.kill(opened["data"]["pid"], signal.SIGKILL)
        process.kill()
        process.communicate()
        app("run", plan(app), "--plain").ok()
        run, parts = steps_of(app)
        assert (run["ending"], run["grade"]["value"], run["time"]["status"]) == ("own", 1.0, "valid")
        assert [one["ending"] for one in parts] == ["own"] * 3
        assert [one["data"]["step"] for one in app.events(run["id"], "step_graded")] == ["make", "teach", "tell"]
        assert len(app.events(run["id"], "opened")) == 2
    finally:
        process.kill()
        process.communicate()
        app.end_processes()


@pytest.mark.parametrize("study", ["duration", "forecast", "same-turn", "self-score"])
def test_another_study_refuses_it_in_one_sentence(tmp_path: Path, study: str) -> None:
    app = app_with(tmp_path)
    said = app.call("plan", plan(app, study=study)).sentence(2)
    assert said == (
        'task "greeter" of pack "stepped" has steps with a prompt each, and a request, a forecast or a question is '
        f"about one prompt: only the study natural can be asked of it, not {study}"
    )


def test_a_roster_that_does_not_say_so_is_refused_all_the_same(tmp_path: Path) -> None:
    app = app_with(tmp_path, PACK.replace("steps = true", 'requests = ["2s", "4s", "8s"]'))
    asked = ("--pack", "stepped", "--task", "greeter", "--agent", "punctual")
    said = app.call("launch", *asked, "--request", "4s").sentence(2)
    assert "has 3 steps with a prompt each (make, teach, tell)" in said
    assert "only the study natural can be asked of it, not duration" in said


def test_the_check_of_a_pack_proves_it(tmp_path: Path) -> None:
    app = app_with(tmp_path)
    said = app.call("packs", "check", "stepped").ok().out
    assert "greeter: untouched scored 0, solved scored 1" in said
    assert "prompt of cell 1" in app.call("plan", plan(app)).ok().out
