"""A run of a task with steps: one time, one grade and one ending, made of those of its sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from agenttime_tui.campaign.grading import read_grade
from agenttime_tui.campaign.reducer import reduce
from agenttime_tui.campaign.run import Run
from agenttime_tui.harness.worked import Worked, sessions_in
from agenttime_tui.library import graded_by
from agenttime_tui.panels import steps
from agenttime_tui.panels.moment import Moment
from agenttime_tui.spending import held_s
from tests.campaign.journal import ATTEMPT, CELL, Journal, S

NATURAL = replace(
    CELL, id="c0ffee0000000009", study="natural", request="natural", requested_ms=None, middle_ms=None
)  # fmt: skip
NAMES = ("make", "teach", "tell")


def begun(journal: Journal, name: str) -> Journal:
    then = list(NAMES[NAMES.index(name) + 1 :])
    journal.add("armed", step=name).add("intent", action="release", step=name)
    return journal.add("released", step=name, timed=True, cutoff_ms=60_000, **({"then": then} if then else {}))


def graded(journal: Journal, name: str, reward: float | None, combine: str = "mean", code: int = 0) -> Journal:
    left = None if reward is None else {"name": "reward.txt", "text": f"{reward}\n"}
    return journal.add("step_graded", step=name, combine=combine, code=code, reward=left, stdout="", flags=[])


def worked(journal: Journal, name: str, seconds: float, reward: float | None = 1.0, **more: Any) -> Journal:
    """A step from its release to its grade; a minute goes by before the next."""
    begun(journal, name).after(seconds).exited(step=name, **more)
    journal.after(1).add("swept", step=name, left=[], killed=0, kept=False)
    return graded(journal, name, reward).after(60)


def run_of(journal: Journal) -> Run:
    return reduce(NATURAL, "c", ATTEMPT, journal.records)


def opened() -> Journal:
    return Journal().add("opened", engine="docker").add("prepared")


def test_the_time_is_the_sum_of_the_sessions_and_nothing_of_what_lies_between() -> None:
    journal = worked(opened(), "make", 10)
    journal.after(5).add("step_prepared", step="teach", code=0)
    run = run_of(worked(worked(journal, "teach", 20, 0.5), "tell", 30, 0.0).closed())
    assert (run.worked_s, run.lower_bound, run.time.status, run.time.basis) == (60.0, False, "valid", "session")
    assert (run.execution, run.ending, run.counts, run.time.flags) == ("ended", "own", "yes", ())
    assert (run.grade.status, run.grade.value, run.grade.percent, run.grade.passed) == ("scored", 0.5, 50.0, False)
    parts = run.extra["steps"]
    assert [(one["name"], one["worked_s"], one["ending"], one["code"]) for one in parts] == [
        ("make", 10.0, "own", 0), ("teach", 20.0, "own", 0), ("tell", 30.0, "own", 0),
    ]  # fmt: skip
    assert [one["grade"]["percent"] for one in parts] == [100.0, 50.0, 0.0]
    assert json.dumps(run.extra["steps"])
    assert list(steps.facts(run)) == [
        ("step 1", "make 10 s passed"), ("step 2", "teach 20 s 50%"), ("step 3", "tell 30 s 0%"),
    ]  # fmt: skip


def test_between_two_steps_a_run_goes_on_and_its_clock_stands_still() -> None:
    journal = worked(opened(), "make", 10)
    run = run_of(journal)
    assert (run.execution, run.ending, run.counts, run.grade.status) == ("running", None, "pending", "pending")
    assert (run.worked_s, run.lower_bound, run.time.status, run.ended_utc_ns) == (10.0, True, "live", None)
    assert held_s(run, 0, {}) == (10.0, False)
    later = Moment((run.last_utc_ns or 0) + 100 * S)
    assert later.elapsed_s(run) == 10.0
    assert [text for _, text in steps.facts(run)] == ["make 10 s passed", "teach to come", "tell to come"]
    run = run_of(begun(journal, "teach").after(3).add("exec_seen", step="teach"))
    assert (run.execution, run.worked_s, run.time.status) == ("running", None, "live")
    assert Moment((run.last_utc_ns or 0) + 2 * S).elapsed_s(run) == pytest.approx(15.0)
    assert [text for _, text in steps.facts(run)][1] == "teach under way"
    run = run_of(journal.after(4).exited(step="teach"))
    assert (run.execution, run.worked_s) == ("running", 17.0)


def test_the_last_step_that_began_gives_the_ending() -> None:
    journal = worked(opened(), "make", 10, code=3)
    run = run_of(journal)
    assert run.execution == "running"
    begun(journal, "teach").after(50).add("cutoff", step="teach").exited(step="teach", cause="cutoff", code=143)
    graded(journal.after(1), "teach", 0.0).add("skipped", step="tell", reason="step teach was ended by cutoff")
    run = run_of(journal.closed())
    assert (run.worked_s, run.lower_bound, run.ending) == (60.0, True, "cutoff")
    assert [one["ending"] for one in run.extra["steps"]] == ["error", "cutoff", None]
    assert [one["skipped"] for one in run.extra["steps"]] == [None, None, "step teach was ended by cutoff"]
    assert run.grade.value == 0.5
    assert list(steps.facts(run))[1:] == [("step 2", "teach 50 s cut off 0%"), ("step 3", "tell not begun")]


def test_too_little_of_a_score_ends_a_run_whose_time_is_whole() -> None:
    journal = worked(opened(), "make", 10, 0.0)
    for name in NAMES[1:]:
        journal.add("skipped", step=name, reason="step make has reward 0.0 below 1.0")
    assert run_of(journal).execution == "ended"
    run = run_of(journal.closed())
    assert (run.worked_s, run.lower_bound, run.ending, run.counts) == (10.0, False, "own", "yes")
    assert (run.grade.status, run.grade.value) == ("scored", 0.0)


def test_a_step_that_failed_makes_the_sum_a_bound_and_leaves_the_ending_to_the_last() -> None:
    journal = worked(worked(opened(), "make", 10, code=3), "teach", 20)
    run = run_of(worked(journal, "tell", 30).closed())
    assert [one["lower_bound"] for one in run.extra["steps"]] == [True, False, False]
    assert (run.worked_s, run.lower_bound, run.ending) == (60.0, True, "own")


@pytest.mark.parametrize("why", ["step make was left without a score", "step make could not be graded"])
def test_steps_that_never_came_for_want_of_a_grade_make_the_time_a_bound(why: str) -> None:
    journal = worked(opened(), "make", 10, None)
    for name in NAMES[1:]:
        journal.add("skipped", step=name, reason=why)
    run = run_of(journal.closed())
    assert (run.worked_s, run.lower_bound, run.ending, run.grade.status) == (10.0, True, "own", "grader_error")


def test_a_whole_number_of_hundreds_of_digits_breaks_no_reading() -> None:
    journal = opened()
    for name, digits in zip(NAMES, ("1", "9" * 400, "1"), strict=True):
        begun(journal, name).after(5).exited(step=name)
        reward = {"name": "reward.json", "text": f'{{"reward": 1, "more": {digits}}}'}
        journal.add("step_graded", step=name, combine="mean", code=0, reward=reward, stdout="", flags=[])
    run = run_of(journal.closed())
    assert (run.grade.status, run.grade.value) == ("scored", 1.0)
    assert read_grade({"code": 0, "reward": {"name": "reward.json", "text": "9" * 400}}).status == "grader_error"


WEIRD: list[Any] = [
    None, True, -1, float("nan"), 10**400, "", "x", "\ud800", [], ["tell", None], {},
    {"name": "reward.json", "text": None}, {"name": "reward.txt", "text": "\ud800"},
]  # fmt: skip


@pytest.mark.parametrize("weird", WEIRD, ids=repr)
def test_a_record_of_another_shape_breaks_no_reading(weird: Any) -> None:
    records = worked(worked(worked(opened(), "make", 10), "teach", 20), "tell", 30).closed().records
    grader = partial(graded_by({}), NATURAL)
    for record in records:
        for key in ("step", "flags", "stdout", *record.data):
            told = dict(record.data)
            record.data[key] = weird
            run = reduce(NATURAL, "c", ATTEMPT, records, grader=grader)
            json.dumps([run.as_json(), run.extra["steps"]])
            assert list(steps.facts(run))
            record.data.clear()
            record.data.update(told)


def test_a_stop_between_two_steps_is_the_ending() -> None:
    journal = worked(opened(), "make", 10).add("stop_requested", id="x", by="ada", reason="enough")
    for name in NAMES[1:]:
        journal.add("skipped", step=name, reason="an operator asked to stop")
    run = run_of(journal.closed())
    assert (run.ending, run.worked_s, run.lower_bound) == ("operator_stop", 10.0, True)


def test_a_part_that_is_only_a_bound_makes_the_sum_one() -> None:
    journal = begun(opened(), "make")
    first = journal.t_boot_ns
    journal.after(12).exited(step="make", code=None, basis="missed", interval=[first + 10 * S, first + 12 * S])
    run = run_of(worked(worked(graded(journal, "make", 1.0), "teach", 20), "tell", 30).closed())
    assert (run.worked_s, run.lower_bound, run.time.status) == (60.0, True, "review")
    assert run.time.interval_s == (60.0, 62.0)
    assert run.time.flags == ("end_missed",)
    assert run.counts == "pending"


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_release_that_is_missing_from_the_journal_leaves_a_bound_to_be_reviewed(name: str) -> None:
    journal = worked(worked(worked(opened(), "make", 10), "teach", 20), "tell", 30).closed()
    kept = [one for one in journal.records if (one.kind, one.data.get("step")) != ("released", name)]
    run = reduce(NATURAL, "c", ATTEMPT, kept)
    assert (run.worked_s, run.lower_bound, run.counts) == (50.0 if name == "make" else 40.0, True, "pending")
    assert (run.time.status, run.time.flags) == ("review", ("no_release", "gap"))
    assert {one["name"]: one["worked_s"] for one in run.extra["steps"]}.get(name) is None
    assert [one["name"] for one in run.extra["steps"]][-1] == "tell"


def test_a_lost_step_keeps_what_the_earlier_ones_worked() -> None:
    journal = worked(opened(), "make", 10)
    begun(journal, "teach").after(7).add("heartbeat")
    journal.reboot().add("opened", adopted=True)
    run = run_of(journal)
    assert (run.execution, run.ending, run.worked_s, run.lower_bound) == ("lost", "lost", 17.0, True)
    assert run.time.status == "invalid"
    assert run.extra["steps"][0]["ending"] == "own"


@pytest.mark.parametrize(
    ("combine", "rewards", "status", "value"),
    [
        ("mean", [1.0, 0.5, 0.0], "scored", 0.5),
        ("mean", [1.0, None, 0.0], "scored", 0.5),
        ("mean", [None, None, None], "grader_error", None),
        ("final", [1.0, 0.5, 0.0], "scored", 0.0),
        ("final", [0.0, 0.0, 1.0], "scored", 1.0),
        ("final", [1.0, 1.0, None], "grader_error", None),
    ],
)
def test_one_grade_is_made_of_those_of_the_steps(
    combine: str, rewards: list[float | None], status: str, value: float | None
) -> None:
    journal = opened()
    for name, reward in zip(NAMES, rewards, strict=True):
        begun(journal, name).after(5).exited(step=name)
        graded(journal, name, reward, combine)
    run = run_of(journal.closed())
    assert (run.grade.status, run.grade.value) == (status, value)
    assert any("grader error" in flag for flag in run.grade.flags) == (None in rewards)


def test_a_step_that_could_not_be_prepared_has_no_result() -> None:
    for combine, status in (("mean", "scored"), ("final", "not_graded")):
        journal = graded(begun(opened(), "make").after(5).exited(step="make"), "make", 1.0, combine)
        journal.add("step_prepared", step="teach", code=1, stderr="no service")
        for name in NAMES[1:]:
            journal.add("skipped", step=name, reason="its preparation ended with 1: no service")
        run = run_of(journal.closed())
        assert (run.grade.status, run.worked_s) == (status, 5.0)
        assert [one["skipped"] is None for one in run.extra["steps"]] == [True, False, False]


def test_a_person_grades_over_the_steps() -> None:
    from agenttime_tui.campaign.attempt import Said

    journal = worked(worked(worked(opened(), "make", 1), "teach", 1), "tell", 1).closed()
    said = Said(1, "ada", "grade", {"status": "scored", "value": 0.25})
    run = reduce(NATURAL, "c", ATTEMPT, journal.records, [said])
    assert run.grade.value == 0.25
    assert [one["value"] for one in run.extra["grades"]] == [1.0, 0.25]


def test_a_run_of_one_session_has_no_steps() -> None:
    run = reduce(CELL, "c", ATTEMPT, Journal().released(timed=True).after(300).exited().closed().records)
    assert "steps" not in run.extra
    assert list(steps.facts(run)) == []


def test_what_was_said_has_its_place_in_the_work() -> None:
    journal = worked(opened(), "make", 10)
    begun(journal, "teach").after(3).add("transcript", stream="out", offset=0, text="x\n")
    clock = Worked(journal.records)
    last = journal.records[-1]
    assert clock.at_s(last.seq, last.boot_id, last.t_boot_ns) == 13.0
    assert (clock.several, clock.before_s) == (True, 10.0)
    assert clock.at_s(1, last.boot_id, 0) is None
    assert clock.at_s(last.seq, "other", last.t_boot_ns) is None
    assert [one["name"] for one in sessions_in({"steps": [{"name": "a"}, {"name": "b", "timed": True}]})] == ["a", "b"]
    assert sessions_in({"steps": [{"name": "a", "timed": False}, {"name": "b"}]}) == sessions_in(None) == []
