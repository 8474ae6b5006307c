"""Grading a copy on this side: a judge whose key no machine has, and a second look at what a run left."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import docker.errors
import pytest

from tests.agent.runs import until
from tests.cli.app import App
from tests.packs.packfile import PACK, TASK_TOML, write_pack
from tests.packs.test_judge import served

JUDGED = PACK.replace("bounds =", 'judge = "m-7"\nbounds =').replace(
    "[grade]", '[needs]\nkeys = ["SMALL_KEY"]\n[grade]'
)
IMAGE = '[image]\nkind = "busybox"\n'
KEY = "sk-small-secret-5"
ASKS = """\
#!/bin/sh
echo "asked with $JUDGE_KEY"
[ -f done ] && [ -n "$JUDGE_KEY" ] && echo 1 >"$VERIFIER_DIR/reward.txt" || echo 0 >"$VERIFIER_DIR/reward.txt"
"""
PLAN = """\
name = "copies"
studies = ["duration"]
[[agent]]
id = "good"
harness = "command"
options = {{ argv = ["sh", "-c", "touch done"] }}
[[tasks]]
pack = "small"
requests = ["2s"]
[machine.local]
engine = "{engine}"
"""


def written(app: App, pack: str, test: str = "") -> Path:
    folder = write_pack(app.home / "packs" / "small", pack)
    if test:
        (folder / "tasks/one/tests/test.sh").write_text(test)
        (folder / "tasks/one/task.toml").write_text(f'{TASK_TOML}[verifier.env]\nJUDGE_KEY = "${{SMALL_KEY}}"\n')
    return folder


def test_a_judged_run_waits_for_its_key_and_says_so(tmp_path: Path) -> None:
    app = App(tmp_path)
    written(app, JUDGED, ASKS)
    said = app("run", app.file("p.toml", PLAN.format(engine="process")), "--plain").ok().err
    assert said.count("the judge m-7 has no key: set SMALL_KEY, then: agenttime grade copies --missing") == 1
    run = app.run()
    assert (run["grade"]["status"], run["grade"]["value"]) == ("not_graded", None)
    assert app.events(run["id"], "graded") == []
    assert "Judged by m-7 on this side, with SMALL_KEY set" in app.call("packs", "show", "small").ok().out
    no_key = f"the judge m-7 has no key: set SMALL_KEY, then: agenttime grade {run['id'][:8]}"
    assert no_key in app.call("show", run["id"]).ok().out
    assert app.json("show", run["id"])["run"]["extra"]["grade_detail"] == no_key
    again = app.call("grade", run["id"])
    assert (again.code, f"keeps its grade: not_graded {no_key}" in again.out) == (1, True)
    assert [one["by"] for one in app.json("show", run["id"])["operator_records"]] == ["agenttime"]
    (need,) = app.json("status")["needs_you"]
    assert need == (
        "1 run is not graded: the judge m-7 has no key: set SMALL_KEY, then: agenttime grade copies --missing"
    )
    missing = app.call("grade", "copies", "--missing", "--json")
    assert (missing.code, missing.json["runs"][0]["recorded"]) == (1, False)
    app.env["SMALL_KEY"] = KEY
    said = app.call("grade", run["id"]).sentence(1)
    assert "is graded over a copy on this side; to grade its copy here, a container engine must answer" in said
    assert app.call("grade", "copies", "--missing", "--dry-run").ok().out == f"run {run['id'][:8]} would be graded\n"
    assert "name one run" in app.call("grade", run["id"], "--missing", "--release").sentence(2)


@pytest.mark.slow
def test_with_its_key_a_run_is_copied_once_by_the_app_that_follows_it(tmp_path: Path) -> None:
    app = App(tmp_path)
    app.env["SMALL_KEY"] = KEY
    written(app, JUDGED, ASKS)
    plan = app.file("p.toml", PLAN.format(engine="process"))
    assert "a container engine must answer (DOCKER_HOST); then: agenttime grade copies --missing" in (
        app("run", plan, "--plain").ok().err
    )
    run = app.run()
    (copy,) = (app.home / "outputs" / run["id"]).glob("*.tar")
    assert run["grade"]["status"] == "not_graded"
    assert app("watch", "--plain").ok().err == ""
    assert len(app.json("show", run["id"])["operator_records"]) == 1
    files = [file for place in (app.home, app.user / ".agenttime") for file in place.rglob("*") if file.is_file()]
    assert copy in files
    assert not any(KEY.encode() in file.read_bytes() for file in files)


def answered(app: App) -> str:
    """The id of a run whose answer a judge is to read, and that has none yet."""
    folder = written(app, JUDGED)
    (folder / "tasks/one/tests/answer.json").write_text('{"kind": "hle", "question": "Which?", "correct": "B"}')
    plan = PLAN.format(engine="process").replace("touch done", "echo B")
    app("run", app.file("p.toml", plan), "--plain").ok()
    app.env["SMALL_KEY"] = KEY
    return str(app.run()["id"])


@pytest.mark.slow
def test_a_score_that_came_meanwhile_stays_and_a_pack_that_is_gone_is_named_run_by_run(tmp_path: Path) -> None:
    app = App(tmp_path)
    run = answered(app)
    (app.home / "packs/small").rename(tmp_path / "away")
    missing = app.call("grade", "copies", "--missing", "--json")
    assert (missing.code, missing.json["runs"][0]["run"]) == (1, run)
    assert "there is no pack 'small'" in missing.json["runs"][0]["error"]
    (tmp_path / "away").rename(app.home / "packs/small")
    with served() as endpoint:
        endpoint.reply = '{"correct": "yes", "extracted_final_answer": "B"}'
        endpoint.meanwhile = [lambda: app("grade", run).ok()]
        app.env["OPENAI_BASE_URL"] = endpoint.url
        said = app.call("grade", "copies", "--missing").ok().out
    assert said == f"run {run[:8]} keeps its grade: scored 1\n"
    assert [one["by"] for one in app.json("show", run)["operator_records"]] == ["agenttime", "tester"]


def test_what_needed_its_session_alive_is_not_graded_from_a_copy(tmp_path: Path) -> None:
    app = App(tmp_path)
    written(app, PACK.replace('title = "Small"', 'title = "Small"\nsettle = "keep"'))
    app("run", app.file("p.toml", PLAN.format(engine="process")), "--plain").ok()
    assert "what its session left running, and that is gone" in app.call("grade", app.run()["id"]).sentence(1)


@pytest.mark.engine
def test_the_judge_reads_a_verified_copy_and_its_key_stays_here(tmp_path: Path) -> None:
    app = App(tmp_path, os.environ["DOCKER_HOST"])
    written(app, JUDGED + IMAGE, ASKS)
    app.env["SMALL_KEY"] = KEY
    app("run", app.file("p.toml", PLAN.format(engine="docker")), "--plain").ok()
    run = app.run()
    assert (run["grade"]["status"], run["grade"]["value"], run["grade"]["passed"]) == ("scored", 1.0, True)
    assert "no run waits to be graded" in app.call("grade", "copies", "--missing").ok().out
    shown = app.json("show", run["id"])
    assert shown["run"]["grade"]["flags"] == ["graded from its copy"]
    assert KEY not in str(shown)
    assert "asked with *****" in str(shown["operator_records"])
    (copy,) = (app.home / "outputs" / run["id"]).glob("*.tar")
    copy.write_bytes(b"altered")
    app("grade", run["id"]).ok()
    assert copy.read_bytes() != b"altered"
    del app.env["SMALL_KEY"]
    again = app.call("grade", run["id"])
    assert (again.code, "keeps its grade: not_graded the judge m-7 has no key" in again.out) == (1, True)
    assert app.run()["grade"]["passed"] is True
    assert [one["by"] for one in app.json("show", run["id"])["operator_records"]] == ["agenttime", "tester"]
    files = [file for place in (app.home, app.user / ".agenttime") for file in place.rglob("*") if file.is_file()]
    assert not any(KEY.encode() in file.read_bytes() for file in files)


@pytest.mark.slow
@pytest.mark.engine
def test_an_app_that_is_left_takes_its_grader_with_it_and_the_next_one_grades(tmp_path: Path) -> None:
    app = App(tmp_path, os.environ["DOCKER_HOST"])
    app.env["SMALL_KEY"] = KEY
    waits = '[ -n "$JUDGE_KEY" ] && sleep 300\n'
    written(app, JUDGED + IMAGE, ASKS.replace("#!/bin/sh\n", f"#!/bin/sh\n{waits}"))
    plan = app.file("p.toml", PLAN.format(engine="docker"))
    with closing(docker.DockerClient(app.env["DOCKER_HOST"])) as engine:
        before = {one.id for one in engine.containers.list(all=True)}
        process = app.start("run", plan, "--plain")
        app.wait_for("ended")
        until(lambda: any("sleep 300" in _said(one) for one in engine.containers.list() if one.id not in before), 60)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        left = [one for one in engine.containers.list(all=True) if one.id not in before]
        assert [one for one in left if "sleep 300" in _said(one)] == []
    assert app.run()["grade"]["status"] == "pending"
    written(app, JUDGED + IMAGE, ASKS)
    app("run", plan, "--plain").ok()
    assert app.run()["grade"]["passed"] is True


def _said(container: Any) -> str:
    """Command lines of what runs in a container; empty when it is gone."""
    try:
        return str(container.top())
    except docker.errors.APIError:
        return ""


@pytest.mark.slow
@pytest.mark.engine
def test_a_second_look_adds_a_grade_and_keeps_the_first(tmp_path: Path) -> None:
    app = App(tmp_path, os.environ["DOCKER_HOST"])
    folder = written(app, PACK + IMAGE)
    (folder / "tasks/one/tests/test.sh").write_text("#!/bin/sh\nexit 3\n")
    app("run", app.file("p.toml", PLAN.format(engine="docker")), "--plain").ok()
    run = app.run()
    assert run["grade"]["status"] == "grader_error"
    written(app, PACK + IMAGE)
    app("grade", run["id"]).ok()
    assert [one["status"] for one in app.json("show", run["id"])["run"]["extra"]["grades"]] == [
        "grader_error", "scored",
    ]  # fmt: skip
    assert app.run()["grade"]["passed"] is True
