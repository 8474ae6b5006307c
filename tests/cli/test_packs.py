"""Packs by the command line: what there is, what is imported, where it may run, and how an answer is graded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from task_packs.load import load_pack, study_families
from tests.cli.app import App
from tests.packs.copies import files, gpqa_csv, harbor_task
from tests.packs.packfile import PACK, write_pack

ROSTER = [task.id for task in load_pack("gpqa-diamond").tasks]
ANSWERS = """\
name = "answers"
studies = ["duration"]
[[agent]]
id = "knows"
harness = "command"
options = { argv = ["sh", "-c", "grep right | sed 's/) right//; s/^(/The correct answer is (/; s/$/)/'"] }
[[agent]]
id = "errs"
harness = "command"
options = { argv = ["sh", "-c", "grep 'wrong 1' | sed 's/) wrong 1//; s/^(/The correct answer is (/; s/$/)/'"] }
[[agent]]
id = "silent"
harness = "command"
options = { argv = ["sh", "-c", "cat >/dev/null"] }
[[tasks]]
pack = "gpqa-diamond"
include = ["%s"]
requests = ["75s"]
[machine.local]
slots = 4
"""


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(tmp_path)


def test_the_list_has_the_families_and_how_to_get_each(app: App) -> None:
    found = app.call("packs", "list", "--json").ok().json
    assert (found["families"], found["tasks"], found["cells"]) == (18, 222, 666)
    by_name = {pack["name"]: pack for pack in found["packs"]}
    assert by_name["osworld"]["state"] == "copy"
    assert by_name["osworld"]["standing"].endswith("; a machine tagged kvm; a key in OPENAI_API_KEY")
    assert by_name["gpqa-diamond"]["next"] == "agenttime packs import gpqa-diamond --from PATH"
    assert by_name["demo"]["state"] == by_name["etademo"]["state"] == "ready"
    assert (by_name["deepswe"]["range"], by_name["deepswe"]["cells"]) == ("4 min–2.5 h", 36)
    said = app.call("packs", "list").ok().out
    assert "18 families, 222 tasks, 666 cells an agent" in said
    for name in study_families():
        (row,) = (line for line in said.splitlines() if line.startswith(f"{name} "))
        assert f"  {by_name[name]['range']}  " in row
        assert "  needs your copy of " in row
        assert row.endswith(f"agenttime packs import {name} --from PATH")
    assert "roman-numbers" in app.call("packs", "show", "etademo").ok().out


def test_requests_come_out_of_the_natural_runtimes_of_a_campaign(app: App) -> None:
    rows = ["astra,gpqa-diamond,%s,400", "sol,gpqa-diamond,%s,100", "astra,elsewhere,%s,9"]
    table = app.file("natural.csv", "\n".join(["agent,benchmark,task,worked_s", *(row % ROSTER[0] for row in rows)]))
    app.call("import", table).ok()
    campaign = app.runs()[0]["campaign"]
    found = app.json("packs", "requests", "gpqa-diamond", "--from", campaign)
    assert (found["tasks"][0]["runs"], found["tasks"][0]["requests"]) == (2, ["50s", "200s", "800s"])
    assert found["tasks"][1]["requests"] is None
    said = app.call("packs", "requests", "gpqa-diamond", "--from", campaign).ok().out
    assert 'requests = ["50s", "200s", "800s"]' in said
    assert "no counted natural run" in said
    assert "no counted natural run of pack demo" in app.call("packs", "requests", "demo", "--from", campaign).sentence(
        1
    )
    assert "there is no campaign" in app.call("packs", "requests", "demo", "--from", "nothing").sentence(2)


def test_a_check_writes_the_prompt_of_every_request(app: App) -> None:
    pack = PACK.replace('["2s", "4s", "8s"]', '["1m", "5h", "20h"]')
    found = app.call("packs", "check", write_pack(app.home / "packs/small", pack), "--json")
    assert found.code == 1
    (finding,) = found.json["findings"]
    assert "no prompt for a request of 60 s: " in finding


@pytest.mark.parametrize("family", ["pptarena", "osworld", "gpqa-diamond", "yc-bench"])
def test_without_a_path_an_import_says_what_to_do(app: App, family: str) -> None:
    said = app.call("packs", "import", family).ok().out
    assert f"agenttime packs import {family} --from PATH --dry-run" in said
    assert "--from takes" in said


def test_a_made_up_table_goes_through_prompt_run_and_grade(app: App, tmp_path: Path) -> None:
    gpqa_csv(tmp_path / "gpqa_diamond.csv", ROSTER[:3])
    before = app.call("packs", "import", "gpqa-diamond", "--from", tmp_path, "--dry-run", "--json").ok().json
    assert (before["found"], len(before["missing"]), before["dry_run"]) == (ROSTER[:3], 25, True)
    assert not (app.home / "packs").exists()
    for done in ("written", "unchanged"):
        answer = app.call("packs", "import", "gpqa-diamond", "--from", tmp_path, "--json").ok()
        assert answer.json[done] == ROSTER[:3]
    assert app.call("packs", "check", "gpqa-diamond").ok().out.endswith("sound (3 of 28 tasks are here)\n")
    plan = tmp_path / "p.toml"
    plan.write_text(ANSWERS % ROSTER[1])
    assert "Format your response as follows" in app.call("plan", plan).ok().out
    app("run", plan, "--plain").ok()
    runs = {run["agent"]: run for run in app.call("runs", "--json").ok().json["runs"]}
    assert {name: (run["grade"]["status"], run["grade"]["passed"]) for name, run in runs.items()} == {
        "knows": ("scored", True), "errs": ("scored", False), "silent": ("empty", False),
    }  # fmt: skip
    again = app.call("grade", runs["knows"]["id"][:8], "--json").ok().json
    assert again["grade"] == {"status": "scored", "value": 1.0, "percent": 100.0, "passed": True}
    spec = next(app.user.rglob(f"{runs['knows']['id']}/spec.json"), None)
    assert spec is None or '"grade": null' in spec.read_text()


def test_a_run_that_is_graded_on_its_machine_is_not_graded_here(app: App, tmp_path: Path) -> None:
    launched = ("launch", "--pack", "demo", "--task", "mend-total", "--agent", "early", "--request", "2s", "--json")
    run = app(*launched).ok().json["run"]["id"]
    assert "is graded on its machine" in app.call("grade", run).sentence(1)


def test_what_fits_nowhere_is_said_and_the_rest_runs(app: App, tmp_path: Path) -> None:
    kept = app.home / "packs/large"
    files(kept, {"pack.toml": LARGE})
    harbor_task(kept / "tasks/one")
    plan = tmp_path / "p.toml"
    plan.write_text(MIXED)
    cells = {cell["task"]: cell for cell in app.call("plan", plan, "--json").ok().json["cells"]}
    assert (cells["one"]["machines"], cells["mend-total"]["machines"]) == ([], ["local"])
    assert cells["one"]["why_nowhere"] == "local is not tagged kvm"
    answer = app("run", plan, "--plain")
    assert answer.code == 3
    assert answer.err.splitlines()[0] == "large/one fits no machine: local is not tagged kvm"
    runs = {run["task"]: run["execution"] for run in app.call("runs", "--json").json["runs"]}
    assert runs["mend-total"] == "ended"


LARGE = """\
schema = 1
name = "large"
title = "Large"
[source]
access = "bundled"
[needs]
tags = ["kvm"]
[image]
kind = "busybox"
[grade]
[[task]]
id = "one"
requests = ["2s", "4s", "8s"]
"""
MIXED = """\
name = "mixed"
studies = ["duration"]
[[agent]]
id = "early"
harness = "scripted"
options = { persona = "early" }
[[tasks]]
pack = "demo"
include = ["mend-total"]
requests = ["2s"]
[[tasks]]
pack = "large"
requests = ["2s"]
"""


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("import", "nothing", "--from", "."), 2, "there is no pack 'nothing'"),
        (("import", "demo", "--from", "."), 2, "comes with the app"),
        (("import", "deepswe", "--from", "not/there"), 2, "does not exist: name your copy of the DeepSWE checkout"),
        (("import", "deepswe", "--from", "."), 2, "holds no Harbor task directory"),
        (("import", "agents-last-exam", "--from", "."), 2, "holds no task_card.json"),
        (("check", "deepswe"), 1, "nothing is here to check; first agenttime packs import deepswe --from PATH"),
        (("images", "build", "deepswe"), 1, "there is no image to make"),
        (("images", "build", "demo"), 1, "local has no container engine that answers"),
    ],
)
def test_wrong_use_is_one_sentence(app: App, arguments: tuple[str, ...], code: int, said: str) -> None:
    os.makedirs(app.user / "empty")
    answer = app("packs", *[app.user / "empty" if one == "." else one for one in arguments])
    assert answer.code == code
    assert "Traceback" not in answer.err
    assert said in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_pack_shows_what_its_tasks_bring_and_what_cannot_be_launched(app: App, tmp_path: Path) -> None:
    folder = write_pack(
        tmp_path / "small", PACK + '[[task]]\nid = "two"\nrequests = ["2s", "4s", "8s"]\n', ("one", "two")
    )
    files(
        folder / "tasks",
        {
            "one/environment/docker-compose.yaml": "services: {db: {image: x}, api: {image: y, depends_on: [db]}}\n",
            "two/environment/docker-compose.yaml": "services: {db: {image: x, privileged: true}}\n",
        },
    )
    one, two = app("packs", "show", str(folder)).ok().out.splitlines()[1:]
    assert one.endswith("  2 services: db, api")
    assert two.endswith(
        "  cannot be launched: it cannot be set up: environment/docker-compose.yaml: services.db.privileged: "
        "is not supported"
    )
