"""Which finished run a question is about: by repeat and wording, never before its records are here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agenttime_tui.campaign.cells import Cell, TaskInfo, make_cells
from agenttime_tui.campaign.plan import Plan, make_plan
from agenttime_tui.campaign.reducer import planned
from agenttime_tui.campaign.run import Run
from agenttime_tui.protocols.parents import Choice, Parents

TASKS = {"demo": [TaskInfo("mend", (5_000, 10_000, 20_000), "demo"), TaskInfo("other", (1_000, 2_000, 3_000), "demo")]}
WORDING = "Use {N} {unit} for this."


def campaign(**tables: Any) -> tuple[Plan, dict[str, Cell]]:
    plan = make_plan(
        {
            "name": "p",
            "studies": ["retrospection", "self-score", "natural", "duration"],
            "seed": 4,
            "repeats": 2,
            "agent": [{"id": "a", "harness": "scripted"}, {"id": "b", "harness": "scripted"}],
            "tasks": [{"pack": "demo"}],
            **tables,
        }
    )
    return plan, {cell.id: cell for cell in make_cells(plan, TASKS)}


def ended(cell: Cell, **changes: Any) -> Run:
    run = replace(planned(cell, "c"), id=f"run-{cell.id}", execution="ended", worked_s=5.0, capture="complete")
    return replace(run, extra=run.extra | {"closed": True}, **changes)


def parent_of(cell: Cell, plan: Plan, cells: dict[str, Cell], runs: list[Run]) -> Choice:
    return Parents(plan, cells.values()).of(cell, {run.cell: run for run in runs}.get)


@pytest.mark.parametrize("parents", ["natural", "duration"])
@pytest.mark.parametrize("wording", [None, WORDING])
def test_every_question_goes_to_the_run_of_its_own_agent_task_and_repeat(parents: str, wording: str | None) -> None:
    more = {} if wording is None else {"wording": wording}
    plan, cells = campaign(study={"retrospection": {"parents": parents, "answers": 3}}, **more)
    runs = [ended(cell) for cell in cells.values() if cell.study in ("natural", "duration")]
    asked = [cell for cell in cells.values() if cell.study in ("retrospection", "self-score")]
    assert len(asked) == 2 * 2 * 2 * (5 * 3 + 1)
    for cell in asked:
        found = parent_of(cell, plan, cells, runs).run
        assert found is not None
        about = cells[found.cell]
        assert (about.study, about.agent, about.task) == (parents, cell.agent, cell.task)
        assert about.repeat == (cell.repeat if cell.study == "self-score" else (cell.repeat - 1) // 3 + 1)
        assert about.request == ("natural" if parents == "natural" else "middle")
        assert about.wording == (wording if parents == "duration" else None)


@pytest.mark.parametrize("waits", [
    {"execution": "running", "worked_s": None}, {"capture": "streaming", "extra": {"closed": False}},
    {"extra": {"closed": False}}, {"capture": "streaming"},
])  # fmt: skip
def test_a_question_waits_for_all_that_its_parent_left(waits: dict[str, Any]) -> None:
    plan, cells = campaign()
    cell = next(cell for cell in cells.values() if cell.study == "retrospection")
    choice = parent_of(cell, plan, cells, [replace(ended(one), **waits) for one in cells.values()])
    assert (choice.run, choice.never) == (None, False)


def test_a_parent_that_is_held_for_its_grade_can_be_asked_about() -> None:
    plan, cells = campaign()
    cell = next(cell for cell in cells.values() if cell.study == "retrospection")
    held = {"closed": False, "held": "it is not graded"}
    runs = [replace(ended(one), extra=held) for one in cells.values()]
    assert parent_of(cell, plan, cells, runs).run is not None


def test_a_parent_without_a_whole_transcript_or_that_does_not_count_is_none_for_ever() -> None:
    plan, cells = campaign()
    cell = next(cell for cell in cells.values() if cell.study == "retrospection")
    unfit: list[tuple[dict[str, Any], str]] = [
        ({"capture": "broken"}, "no complete transcript"),
        ({"counts": "no", "counts_reason": "twice"}, "twice"),
        ({"execution": "lost"}, "known runtime"),
    ]
    for changes, why in unfit:
        choice = parent_of(cell, plan, cells, [replace(ended(one), **changes) for one in cells.values()])
        assert choice.never
        assert why in choice.why


def test_shuffling_depends_on_the_seed_alone() -> None:
    order = [list(campaign(seed=seed)[1]) for seed in (4, 4, 5)]
    assert order[0] == order[1] != order[2]
    assert sorted(order[0]) == sorted(order[2])
