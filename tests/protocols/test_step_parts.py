"""A task with steps as a run spec: each a session with its own preparation and grader, and one cutoff for all."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui.campaign.cells import Cell, TaskInfo, make_cells
from agenttime_tui.campaign.plan import AgentConfig, make_plan
from agenttime_tui.errors import UserError
from agenttime_tui.protocols.staging import Staged, stage
from agenttime_tui.protocols.studies import RUNNABLE, delivered, outline_of
from remote_agent.spec import RunSpec
from task_packs.load import load_pack
from task_packs.task import Task
from tests.packs.stepped import FILES, PACK, TASK_TOML, write_stepped

NAMES = ("make", "teach", "tell")
AGENT = AgentConfig(id="a", harness="scripted", options={"persona": "punctual"})


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return load_pack(write_stepped(tmp_path)).task("greeter")


def cell_of(task: Task, study: str = "natural", **table: Any) -> Cell:
    plan = make_plan(
        {
            "name": "p",
            "studies": [study],
            "agent": [{"id": "a", "harness": "scripted"}],
            "tasks": [{"pack": "stepped", "include": [task.id], **table}],
        }
    )
    return make_cells(plan, {"stepped": [TaskInfo(task.id, task.requests_ms, task.pack.family)]})[0]


def staged(task: Task, agent: AgentConfig = AGENT, engine: str = "docker") -> Staged:
    return stage("abc123", cell_of(task), task, agent, engine, "image", {})


def names(staged: Staged, placed: dict[str, str]) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(staged.blobs[placed["blob"]])) as archive:
        return set(archive.getnames())


def test_each_step_is_a_session_of_its_own(task: Task) -> None:
    cell = cell_of(task, cutoff="10m")
    outline = outline_of(cell, task)
    assert [one.name for one in outline.steps] == list(NAMES)
    assert [one.prompt.text for one in outline.steps] == [FILES[f"steps/{one}/instruction.md"] for one in NAMES]
    assert all(one.turn.continues == "" and one.timed for one in outline.steps)
    assert delivered(cell, task).text == FILES["steps/make/instruction.md"]
    assert cell.cutoff_ms == 600_000
    claude = staged(task, AgentConfig(id="a", harness="claude-code", model="m"))
    ids = [one["argv"][one["argv"].index("--session-id") + 1] for one in claude.spec["steps"]]
    assert len(set(ids)) == 3
    codex = staged(task, AgentConfig(id="a", harness="codex", model="m"))
    assert not any("resume" in one["argv"] for one in codex.spec["steps"])


def test_the_spec_has_what_comes_before_and_after_each_step(task: Task) -> None:
    found = staged(task)
    spec = RunSpec(found.spec)
    assert spec.cutoff_ms == 86_400_000
    assert found.spec["grade"] is None
    make, teach, tell = found.spec["steps"]
    assert "before" not in make
    assert "before" not in tell
    assert names(found, teach["before"]["files"][0]) == {"name", "setup.sh"}
    assert (teach["before"]["files"][0]["dest"], teach["before"]["cwd"], teach["before"]["user"]) == (
        "/app", "/app", "root",
    )  # fmt: skip
    assert teach["before"]["argv"][3:] == [
        "sh", "test -x greet", "0.05", "5", "0", "5", "2", "/bin/sh", "{root}/app/setup.sh",
    ]  # fmt: skip
    assert [one["grade"]["least"] for one in (make, teach, tell)] == [{"reward": 1.0}, {"reward": 0.5}, {}]
    assert [one["grade"]["timeout_ms"] for one in (make, teach, tell)] == [20_000, 10_000, 20_000]
    assert teach["grade"]["env"] == {
        "GREETING": "hello Ada", "MARK": "task", "VERIFIER_DIR": "{root}/logs/verifier",
    }  # fmt: skip
    assert {one["grade"]["combine"] for one in (make, teach, tell)} == {"mean"}
    assert {"/app", "/app/name"} <= set(found.spec["collect"])
    assert found.spec["origin"]["steps"] == {"strategy": "mean", "of": 3}
    assert set(found.spec["origin"]["prompts_sha256"]) == {"make", "teach", "tell"}
    assert {one.blob for one in spec.placed()} == set(found.blobs)


def test_nothing_of_a_step_is_there_before_its_time(task: Task) -> None:
    found = staged(task)
    there = set().union(*(names(found, placed) for placed in found.spec["environment"]["files"]))
    assert not {name for name in there if any(word in name for word in ("steps", "test", "solve", "setup", "helper"))}
    assert "app/notes.txt" in there


def test_only_the_natural_study_is_asked_of_it(task: Task) -> None:
    for study in RUNNABLE:
        if study == "natural":
            continue
        with pytest.raises(UserError) as refusal:
            outline_of(cell_of(task, study, requests=["2s", "4s", "8s"]), task)
        assert f"only the study natural can be asked of it, not {study}" in str(refusal.value)
        assert "has 3 steps with a prompt each (make, teach, tell)" in str(refusal.value)


def test_final_is_told_as_it_is(tmp_path: Path) -> None:
    toml = f'multi_step_reward_strategy = "final"\n{TASK_TOML}'
    task = load_pack(write_stepped(tmp_path, PACK, **{"task.toml": toml})).task("greeter")
    assert {one["grade"]["combine"] for one in staged(task).spec["steps"]} == {"final"}


def test_a_step_that_cannot_be_had_is_refused_at_the_launch(tmp_path: Path) -> None:
    toml = TASK_TOML.replace("[steps.verifier]", '[steps.verifier]\nenvironment_mode = "separate"')
    task = load_pack(write_stepped(tmp_path, PACK, **{"task.toml": toml})).task("greeter")
    with pytest.raises(UserError, match="cannot be launched: it grades its step teach in an environment of its own"):
        staged(task)
