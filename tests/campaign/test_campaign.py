"""The campaign in memory: what changes with each batch, and how many cells stand where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agenttime_tui.campaign.attempt import Attempt, Said
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.cells import make_cells
from agenttime_tui.campaign.grading import read_grade
from agenttime_tui.campaign.run import EXECUTIONS
from store.rows import AttemptRow, OperatorRow, RecordRow
from tests.campaign.journal import Journal, finished
from tests.campaign.plans import TASKS, small


def campaign() -> Campaign:
    return Campaign("camp", make_cells(small(), TASKS))


def first_cells(model: Campaign, count: int) -> list[str]:
    return list(model.cells)[:count]


def test_planned_cells_are_runs_without_an_attempt() -> None:
    model = campaign()
    runs = model.runs()
    assert [(run.id, run.attempt, run.execution, run.counts, run.worked_s) for run in runs] == [
        (cell, 0, "planned", "pending", None) for cell in model.cells
    ]
    assert model.by_execution() == {name: 6 if name == "planned" else 0 for name in EXECUTIONS}


def test_a_batch_changes_its_own_run_only() -> None:
    model = campaign()
    one, two = first_cells(model, 2)
    assert model.add_attempt(Attempt("a1", one)) == {one, "a1"}
    assert model.add_attempt(Attempt("a1", one)) == set()
    model.add_attempt(Attempt("b1", two))
    records = finished().records
    assert model.apply("a1", records[:5]) == {"a1"}
    assert model.apply("a1", records[:5]) == set()
    assert model.apply("a1", records[5:6]) == set()
    assert model.apply("a1", records[6:]) == {"a1"}
    assert model.run("a1").execution == "ended"
    assert model.run("b1").execution == "staged"
    counted = model.by_execution()
    assert (counted["ended"], counted["staged"], counted["planned"]) == (1, 1, 4)
    assert [run.id for run in model.runs()][:2] == ["a1", "b1"]


def test_a_newer_attempt_supersedes_and_both_stay() -> None:
    model = campaign()
    (cell,) = first_cells(model, 1)
    model.add_attempt(Attempt("a2", cell, 2))
    assert model.add_attempt(Attempt("a1", cell, 1)) == {cell, "a1"}
    model.apply("a1", finished().records)
    model.apply("a2", finished(100.0).records)
    assert [(run.id, run.attempt, run.counts) for run in model.runs()[:2]] == [("a1", 1, "no"), ("a2", 2, "yes")]
    assert model.add_attempt(Attempt("a3", cell, 3)) == {cell, "a1", "a2", "a3"}
    assert model.attempts_of(cell) == ["a1", "a2", "a3"]
    assert model.by_execution()["staged"] == 1


def test_an_unreachable_machine_makes_live_runs_unknown_and_leaves_finished_ones() -> None:
    model = campaign()
    one, two, three = first_cells(model, 3)
    for name, cell, machine in (("a", one, "m1"), ("b", two, "m1"), ("c", three, "m2")):
        model.add_attempt(Attempt(name, cell, machine=machine))
    model.apply("a", Journal().released().records)
    model.apply("b", finished().records)
    model.apply("c", Journal().released().records)
    assert model.contact("m1", "live") == set()
    assert model.contact("m1", "stale") == {"a"}
    assert model.contact("m1", "down") == set()
    assert [model.run(name).execution for name in "abc"] == ["unknown", "ended", "running"]
    assert model.run("a").time.status == "live"
    assert model.by_execution()["unknown"] == 1
    assert model.contact("m1", "live") == {"a"}
    assert model.run("a").execution == "running"


def test_rows_of_the_store_fit_as_they_are() -> None:
    model = campaign()
    (cell,) = first_cells(model, 1)
    model.add_attempt(AttemptRow("a1", cell, 1, "local", "process", "first", 0))
    rows = [
        RecordRow("a1", one.seq, one.kind, one.boot_id, one.t_boot_ns, one.t_mono_ns, one.t_utc_ns, one.data)
        for one in finished().records
    ]
    facts = [row for row in rows if row.kind not in ("transcript", "heartbeat")]
    model.restore("a1", facts, rows[-1].seq)
    live = campaign()
    live.add_attempt(AttemptRow("a1", cell, 1, "local", "process", "first", 0))
    live.apply("a1", rows)
    assert model.run("a1") == live.run("a1")
    word = OperatorRow("o1", 5, "eva", "count", "a1", {"counts": "no", "reason": "wrong prompt"})
    assert model.decide("a1", word) == {"a1"}
    assert model.decide("a1", word) == set()
    assert (model.run("a1").counts, model.run("a1").counts_reason) == ("no", "wrong prompt (eva)")


def test_the_packs_own_rule_reads_the_grades() -> None:
    cells = make_cells(small(), TASKS)
    model = Campaign("camp", cells, lambda cell, data: replace(read_grade(data), flags=(cell.pack,)))
    model.add_attempt(Attempt("a1", cells[0].id))
    model.apply("a1", finished().records)
    assert model.run("a1").grade.flags == ("demo",)


def test_what_a_decoder_read_changes_the_run() -> None:
    model = campaign()
    (cell,) = first_cells(model, 1)
    model.add_attempt(Attempt("a1", cell))
    model.apply("a1", finished(code=1).records)
    assert model.observe("a1", "provider_limit") == {"a1"}
    assert model.observe("a1", "provider_limit") == set()
    assert model.run("a1").ending == "provider_limit"


def test_what_is_not_of_the_campaign_is_refused() -> None:
    model = campaign()
    with pytest.raises(KeyError):
        model.add_attempt(Attempt("a1", "no-such-cell"))
    with pytest.raises(KeyError):
        model.apply("nope", [])
    with pytest.raises(KeyError):
        model.run("nope")


def test_decisions_may_come_before_the_records() -> None:
    model = campaign()
    (cell,) = first_cells(model, 1)
    model.add_attempt(Attempt("a1", cell))
    model.decide("a1", Said(1, "eva", "count", {"counts": "no", "reason": "test run"}))
    model.apply("a1", finished().records)
    assert model.run("a1").counts == "no"
