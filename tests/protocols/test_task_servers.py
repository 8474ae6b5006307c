"""Which turns of which study have a task's tool servers, and what the run's spec says of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui.campaign.cells import Cell, TaskInfo, make_cells
from agenttime_tui.campaign.plan import AgentConfig, make_plan
from agenttime_tui.errors import UserError
from agenttime_tui.harness.checks import expected_of
from agenttime_tui.protocols.access import access_for
from agenttime_tui.protocols.outline import Parent
from agenttime_tui.protocols.staging import stage
from agenttime_tui.protocols.studies import outline_of
from remote_agent.spec import RunSpec
from task_packs.load import load_pack
from task_packs.task import Task
from tests.packs.packfile import PACK, write_pack

DESK = '[[environment.mcp_servers]]\nname = "desk"\ntransport = "{}"\nurl = "http://127.0.0.1:8000/mcp"\n'
PARENT = Parent("r1", "natural", 930.0)


def task_of(top: Path, transport: str = "streamable-http") -> Task:
    """A task that hands its agent one server."""
    folder = write_pack(top)
    with (folder / "tasks/one/task.toml").open("a") as file:
        file.write(DESK.format(transport))
    return load_pack(folder).tasks[0]


def cells(study: str, task: Task, harness: str = "scripted") -> tuple[list[Cell], AgentConfig]:
    plan = make_plan(
        {
            "name": "p", "studies": [study], "agent": [{"id": "a", "harness": harness, "model": "m-1"}],
            "tasks": [{"pack": "small", "include": ["one"]}],
        }
    )  # fmt: skip
    return make_cells(plan, {"small": [TaskInfo(task.id, task.requests_ms, task.pack.family)]}), plan.agents[0]


@pytest.mark.parametrize("study", ["duration", "natural", "same-turn"])
def test_an_agent_that_works_on_the_task_has_them(study: str, tmp_path: Path) -> None:
    task = task_of(tmp_path)
    (cell, *_), _ = cells(study, task)
    assert [[one.name for one in step.turn.servers] for step in outline_of(cell, task).steps] == [["desk"]]


@pytest.mark.parametrize("study", ["forecast", "self-score", "retrospection"])
def test_one_that_is_asked_about_it_elsewhere_has_none_of_them(study: str, tmp_path: Path) -> None:
    task = task_of(tmp_path)
    asked = [cell for cell in cells(study, task)[0] if cell.variant not in ("replay", "scrubbed")]
    assert asked
    for cell in asked:
        assert [step.turn.servers for step in outline_of(cell, task, PARENT).steps] == [()]


def test_an_estimate_has_none_of_them_and_the_work_after_it_has(tmp_path: Path) -> None:
    eta = load_pack("etademo").tasks[0]
    plain = replace(eta)
    plain.__dict__["harbor"] = task_of(tmp_path).harbor
    plan = make_plan(
        {
            "name": "p", "studies": ["eta"], "agent": [{"id": "a", "harness": "codex", "model": "m-1"}],
            "tasks": [{"pack": "etademo", "include": [eta.id]}],
        }
    )  # fmt: skip
    (cell,) = make_cells(plan, {"etademo": [TaskInfo(eta.id, eta.requests_ms, eta.pack.family)]})
    estimate, work = outline_of(cell, plain).steps
    assert (estimate.turn.servers, [one.name for one in work.turn.servers]) == ((), ["desk"])


def test_a_question_with_a_clock_alone_has_none_of_them(tmp_path: Path) -> None:
    task = task_of(tmp_path)
    prompt = task.pack.manifest.prompt.model_copy(update={"tools": "clock-only"})
    pack = replace(task.pack, manifest=task.pack.manifest.model_copy(update={"prompt": prompt}))
    (cell, *_), _ = cells("natural", task)
    (step,) = outline_of(cell, replace(task, pack=pack)).steps
    assert (step.turn.tools, step.turn.servers) == ("clock", ())


def origin(harness: str, task: Task, study: str = "natural") -> dict[str, Any]:
    (cell, *_), agent = cells(study, task, harness)
    spec = stage("a1", cell, task, agent, "docker", "x", {}).spec
    RunSpec(spec)
    assert "desk" not in json.dumps([step["argv"] for step in spec["steps"]])
    found: dict[str, Any] = spec["origin"]
    return found


@pytest.mark.parametrize("harness", ["codex", "claude-code"])
def test_the_spec_names_what_the_run_is_held_to(harness: str, tmp_path: Path) -> None:
    task = task_of(tmp_path)
    assert origin(harness, task)["servers"] == ["desk"]
    assert expected_of({"origin": origin(harness, task)}).servers == ("desk",)
    assert "servers" not in origin(harness, task, "forecast")


def test_a_run_of_an_agent_that_is_not_told_of_them_says_so(tmp_path: Path) -> None:
    said = origin("scripted", task_of(tmp_path))
    assert "servers" not in said
    assert said["remarks"] == ["The task's tool servers (desk) are not handed to this agent."]


def test_a_server_that_codex_cannot_reach_stops_the_cell_with_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r'task "one": tool server "desk" is reached by sse, which Codex \(agent a\)'):
        origin("codex", task_of(tmp_path, "sse"))
    assert origin("claude-code", task_of(tmp_path / "again", "sse"))["servers"] == ["desk"]


def test_a_server_beside_the_agent_is_not_looked_for_behind_the_proxy(tmp_path: Path) -> None:
    listed = 'agent = "allowlist"\nallowed_hosts = ["tools.example.org:8000"]'
    folder = write_pack(tmp_path, PACK.replace("[grade]", f"[network]\n{listed}\n[grade]"))
    toml = folder / "tasks/one/task.toml"
    toml.write_text(
        DESK.format("http").replace("127.0.0.1", "desk")
        + DESK.format("http").replace('"desk"', '"far"').replace("127.0.0.1:8000", "tools.example.org:8000")
    )
    task = load_pack(folder).tasks[0]
    (cell, *_), agent = cells("natural", task, "codex")
    access = access_for(agent, None, "docker", "a1", hosts=task.allowed_hosts)
    env = stage("a1", cell, task, agent, "docker", "x", {}, access=access).spec["environment"]["env"]
    assert env["NO_PROXY"] == env["no_proxy"] == "127.0.0.1,localhost,::1,desk"
