"""Every study as steps: what is asked, in which turn, with which tools, from which start."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import replace
from typing import Any

import pytest

from agenttime_tui.campaign.cells import Cell, TaskInfo, make_cells
from agenttime_tui.campaign.grading import GRADED_STUDIES
from agenttime_tui.campaign.plan import AgentConfig, Plan, make_plan
from agenttime_tui.errors import UserError
from agenttime_tui.protocols import aftersight, eta, forecast
from agenttime_tui.protocols.outline import Parent
from agenttime_tui.protocols.prompt import PromptRefused
from agenttime_tui.protocols.staging import stage
from agenttime_tui.protocols.studies import RUNNABLE, delivered, on_machine, outline_of
from remote_agent.spec import RunSpec
from task_packs.load import load_pack
from task_packs.task import Task

DEMO = load_pack("demo")
ETADEMO = load_pack("etademo")
TASK = DEMO.tasks[0]
AGENT = AgentConfig(id="a", harness="scripted", options={"persona": "punctual"})


def cells(name: str, pack: str = "demo", task: Task = TASK, **tables: Any) -> list[Cell]:
    plan = a_plan(name, pack, task, **tables)
    return make_cells(plan, {pack: [TaskInfo(task.id, task.requests_ms, task.pack.family)]})


def a_plan(name: str, pack: str = "demo", task: Task = TASK, **tables: Any) -> Plan:
    return make_plan(
        {
            "name": "p",
            "studies": [name],
            "agent": [{"id": "a", "harness": "scripted"}],
            "tasks": [{"pack": pack, "include": [task.id]}],
            **tables,
        }
    )


def names(blob: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(blob)) as archive:
        return archive.getnames()


def test_the_work_is_graded_in_the_studies_that_are_said_to_be() -> None:
    for study in RUNNABLE:
        task = ETADEMO.tasks[0] if study == "eta" else TASK
        made = replace(cells("duration", task=TASK)[0], study=study, variant=None)
        if study == "retrospection":
            made = replace(made, variant="oracle")
        assert outline_of(made, task).graded is (study in GRADED_STUDIES)


def test_the_papers_forecast_quotes_the_task_and_asks_for_minutes() -> None:
    (cell,) = cells("forecast")
    outline = outline_of(cell, TASK)
    text = outline.steps[0].prompt.text
    native = TASK.instruction().decode()
    assert text == (
        f'How long will it take you to complete this task:\n"{native}"\nreturn minutes = <Number of minutes>'
    )
    assert (outline.start, outline.graded, cell.cutoff_ms) == ("empty", False, 1_800_000)


@pytest.mark.parametrize(
    ("variant", "block"),
    [
        ("p1", '"\n\nreturn minutes = <Number of minutes>\n'),
        ("p2", '"\n\nThe documentation is in ./docs\nreturn minutes = <Number of minutes>\n'),
        (
            "p3",
            '"\n\nThe documentation is in ./docs\nYou can observe the original binary with ./pb probe <args>\n'
            "return minutes = <Number of minutes>\n",
        ),
    ],
)
def test_each_surface_adds_its_evidence_and_nothing_else(variant: str, block: str) -> None:
    assert (
        forecast.prompt(b"Do it.", variant).text == f'How long will it take you to complete this task:\n"Do it.{block}'
    )


def test_referents_become_five_cells_that_ask_about_somebody_else() -> None:
    made = cells("forecast", study={"forecast": {"variant": "referents"}})
    assert {cell.variant for cell in made} == {"you", "human", "frontier", "placebo", "expert"}
    texts = {cell.variant: delivered(cell, TASK).text.split(" Reply")[0] for cell in made}
    assert texts["human"] == "How long will it take a skilled human professional to complete this task?"
    assert texts["placebo"] == "How long will it take you to finish this task?"


def test_a_referents_task_loses_its_budget_but_not_its_other_numbers() -> None:
    text = "Sort 30 files.\nYou have 20 minutes. Time limit: 2 hours\nThe log has 5 minutes of data per file."
    assert forecast.without_budget(text) == "Sort 30 files.\nThe log has 5 minutes of data per file."
    assert forecast.without_budget("Parse 3 dates.") == "Parse 3 dates."


def test_a_task_that_already_has_the_same_turn_lines_is_refused() -> None:
    from agenttime_tui.protocols import same_turn

    with pytest.raises(PromptRefused, match="SELF_SCORE"):
        same_turn.prompt(b"print SELF_SCORE=1")


def test_the_same_turn_prompt_keeps_the_task_byte_for_byte() -> None:
    (cell,) = cells("same-turn")
    prompt = delivered(cell, TASK)
    assert prompt.bytes.endswith(TASK.instruction())
    assert prompt.sha256 == hashlib.sha256(prompt.bytes).hexdigest()


def test_conditions_fork_the_parent_with_their_own_tools() -> None:
    parent = Parent("r1", "natural", 930.0)
    turns = {name: aftersight.retrospection(name, parent).steps[0].turn for name in aftersight.FORK_TOOLS}
    assert {name: turn.tools for name, turn in turns.items()} == {
        "oracle": "oracle", "native": "native", "context-only": "none",
    }  # fmt: skip
    assert all(turn.continues == "fork" for turn in turns.values())
    assert turns["oracle"].elapsed_s == "930"
    assert turns["native"].elapsed_s == ""


def test_replayed_conditions_are_asked_from_here() -> None:
    made = cells("retrospection")
    assert {cell.variant for cell in made if not on_machine(cell)} == {"replay", "scrubbed"}
    assert len(made) == 10
    with pytest.raises(UserError, match="rebuilt transcript"):
        outline_of(next(cell for cell in made if not on_machine(cell)), TASK)


def test_an_estimate_is_sealed_without_tools_before_the_same_session_gets_them() -> None:
    task = ETADEMO.tasks[0]
    (cell,) = cells("eta", "etademo", task)
    estimate, session = outline_of(cell, task).steps
    assert (estimate.turn.tools, estimate.timed, estimate.seal) == ("none", False, "minutes")
    assert (session.turn.continues, session.turn.tools, session.after_success) == ("resume", "native", True)
    assert session.verified
    assert (cell.cutoff_ms, cell.cutoff_source) == (eta.DEFAULT_CUTOFF_MS, eta.CUTOFF_SOURCE)
    assert "reward.txt" in estimate.prompt.text  # the verifier's source is told
    assert "solve.sh" not in estimate.prompt.text


def test_a_plans_cutoff_goes_before_the_four_hours() -> None:
    task = ETADEMO.tasks[0]
    (cell,) = cells("eta", "etademo", task, cutoff="20m")
    assert (cell.cutoff_ms, cell.cutoff_source) == (1_200_000, "plan")


@pytest.mark.parametrize("study", [name for name in RUNNABLE if name not in ("retrospection", "self-score", "eta")])
def test_every_study_makes_a_spec_that_the_agent_reads(study: str) -> None:
    cell = cells(study)[0]
    staged = stage("a1", cell, TASK, AGENT, "process", "", {})
    spec = RunSpec(staged.spec)
    assert [step.name for step in spec.steps] == ["session"]
    assert spec.steps[0].requested_ms == cell.requested_ms
    assert (spec.grade is None) == (study == "forecast")


def test_a_grader_that_reads_the_session_is_told_where_it_lies() -> None:
    reads = DEMO.manifest.model_copy(update={"grade": DEMO.grade.model_copy(update={"session": True})})
    task = replace(DEMO, manifest=reads).tasks[0]
    (cell, *_) = cells("duration", task=task)
    spec = stage("a1", cell, task, AGENT, "process", "", {}).spec
    assert spec["grade"]["session"] == {"dir": "/logs/agent", "match": {"type": "result"}, "path": ["text"]}
    assert spec["grade"]["env"]["ANSWER_FILE"] == "{root}/logs/agent/answer.txt"
    assert RunSpec(spec).grade is not None
    plain = stage("a1", cell, TASK, AGENT, "process", "", {}).spec
    assert "session" not in plain["grade"]
    assert "ANSWER_FILE" not in plain["grade"]["env"]


def test_outputs_that_the_pack_names_are_collected_too() -> None:
    task = replace(DEMO, manifest=DEMO.manifest.model_copy(update={"outputs": ("/srv/made", "/var/log/x")})).tasks[0]
    (cell, *_) = cells("duration", task=task)
    spec = stage("a1", cell, task, AGENT, "process", "", {}).spec
    assert spec["collect"] == [task.workdir, "/srv/made", "/var/log/x", "/opt/agent/sessions"]
    assert "/srv/made" not in stage("a1", cells("forecast")[0], task, AGENT, "process", "", {}).spec["collect"]


def test_a_forecast_starts_in_an_empty_directory() -> None:
    (cell,) = cells("forecast")
    staged = stage("a1", cell, TASK, AGENT, "process", "", {})
    assert [TASK.workdir.strip("/")] in [names(blob) for blob in staged.blobs.values()]
    assert staged.spec["collect"] == ["/opt/agent/sessions"]


def test_p1_shows_the_text_as_a_file_and_p2_says_what_is_missing() -> None:
    (cell,) = cells("forecast", study={"forecast": {"variant": "p1"}})
    staged = stage("a1", cell, TASK, AGENT, "process", "", {})
    found = {name for blob in staged.blobs.values() for name in names(blob)}
    assert f"{TASK.workdir.strip('/')}/TASK.md" in found
    with pytest.raises(UserError, match="evidence/docs: is missing"):
        stage("a1", replace(cell, variant="p2"), TASK, AGENT, "process", "", {})
