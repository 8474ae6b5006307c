"""Each fact of a run from its journal, pinned case by case."""

from __future__ import annotations

from typing import Any

import pytest

from agenttime_tui.campaign.attempt import Said
from agenttime_tui.campaign.reducer import RunState, reduce
from agenttime_tui.campaign.run import Run
from tests.campaign.journal import ATTEMPT, CELL, START_NS, Journal, S, finished


def run_of(journal: Journal, **more: Any) -> Run:
    return reduce(CELL, "camp", ATTEMPT, journal.records, **more)


def test_a_whole_run_has_every_fact() -> None:
    run = run_of(finished())
    assert (run.id, run.cell, run.campaign, run.attempt, run.machine, run.engine) == (
        "a1", CELL.id, "camp", 1, "hel1-a", "docker",
    )  # fmt: skip
    assert (run.requested_s, run.worked_s, run.lower_bound, run.side, run.ratio) == (
        300.0,
        300.0,
        False,
        "on_time",
        1.0,
    )
    assert (run.execution, run.ending, run.capture) == ("ended", "own", "complete")
    assert (run.time.status, run.time.basis, run.time.interval_s, run.time.flags) == ("valid", "session", None, ())
    assert (run.grade.status, run.grade.value, run.grade.percent, run.grade.passed) == ("scored", 1.0, 100.0, True)
    assert (run.counts, run.counts_reason, run.checks_failed) == ("yes", None, ())
    assert run.released_boot_ns == START_NS + S
    assert run.cutoff_s == 2400.0


def test_states_on_the_way() -> None:
    journal = Journal()
    seen = [run_of(journal).execution]
    for kind, data in (
        ("opened", {}),
        ("prepared", {}),
        ("armed", {"step": "work"}),
        ("intent", {"action": "release"}),
        ("released", {"step": "work"}),
        ("transcript", {"stream": "out"}),
        ("heartbeat", {}),
        ("exited", {"step": "work", "code": 0, "cause": "own"}),
        ("ended", {}),
    ):
        seen.append(run_of(journal.after(1).add(kind, **data)).execution)
    assert seen == ["staged", *["preparing"] * 4, *["running"] * 3, "ended", "ended"]


def test_a_live_run_has_a_clock_but_no_time_worked() -> None:
    journal = Journal().released().after(40).add("heartbeat")
    run = run_of(journal)
    assert (run.time.status, run.worked_s, run.ending, run.counts, run.lower_bound) == (
        "live", None, None, "pending", False,
    )  # fmt: skip
    assert run.last_boot_ns is not None
    assert run.released_boot_ns is not None
    assert run.last_boot_ns - run.released_boot_ns == 40 * S
    assert (run.grade.status, run.capture) == ("pending", "streaming")


@pytest.mark.parametrize(
    ("code", "cause", "result", "outcome", "ending", "bound"),
    [
        (0, "own", True, None, "own", False),
        (0, "own", False, None, "own", False),
        (1, "own", False, None, "error", True),
        (1, "own", True, None, "error", True),
        (137, "own", False, None, "error", True),
        (None, "own", True, None, "own", False),
        (None, "own", False, None, None, False),
        (143, "cutoff", False, None, "cutoff", True),
        (0, "cutoff", True, "error", "cutoff", True),
        (None, "cutoff", False, None, "cutoff", True),
        (137, "operator_stop", False, None, "operator_stop", True),
        (0, "own", True, "error", "error", True),
        (1, "own", True, "provider_limit", "provider_limit", True),
        (1, "own", True, "refusal", "refusal", True),
        (True, "own", False, None, None, False),
        ("0", "own", False, None, None, False),
    ],
)
def test_ending_from_exit_code_final_event_and_what_we_did(
    code: Any, cause: str, result: bool, outcome: str | None, ending: str | None, bound: bool
) -> None:
    journal = Journal().released().after(100)
    if result:
        journal.add("result_seen", step="work", offset=0)
    state = RunState(CELL, "camp", ATTEMPT)
    for record in journal.exited(code, cause=cause).closed().records:
        state.apply(record)
    state.observe(outcome)
    run = state.run()
    assert (run.ending, run.lower_bound, run.worked_s) == (ending, bound, 100.0)
    assert (run.execution, run.counts) == ("ended", "yes")


def test_an_unknown_ending_keeps_its_valid_time_and_counts() -> None:
    run = run_of(Journal().released().after(100).exited(None).closed())
    assert (run.ending, run.time.status, run.counts) == (None, "valid", "yes")


def test_side_is_by_the_recorded_time_with_both_bounds_included() -> None:
    sides = {worked_s: run_of(finished(worked_s)).side for worked_s in (284.999, 285.0, 315.0, 315.001)}
    assert list(sides.values()) == ["early", "on_time", "on_time", "late"]


def test_suspend_is_found_from_the_two_clocks_and_sets_review() -> None:
    journal = Journal().released().after(100).sleep(600).after(100).exited().closed()
    run = run_of(journal)
    assert (run.time.status, run.time.flags, run.worked_s) == ("review", ("suspend",), 800.0)
    assert (run.counts, run.counts_reason) == ("pending", "time is to be reviewed: suspend")


@pytest.mark.parametrize(("slept_s", "status"), [(0.05, "valid"), (0.051, "review")])
def test_suspend_threshold(slept_s: float, status: str) -> None:
    assert run_of(Journal().released().after(10).sleep(slept_s).exited().closed()).time.status == status


def test_a_clock_step_is_flagged_and_leaves_the_time_valid() -> None:
    journal = Journal().released().after(100)
    journal.utc_off_ns += 3600 * S
    run = run_of(journal.add("clock_flag", flag="step", amount_ns=3600 * S).after(200).exited().closed())
    assert (run.time.status, run.time.flags, run.worked_s, run.counts) == ("valid", ("clock_step",), 300.0, "yes")


def test_clock_flags_outside_the_session_are_not_the_runs() -> None:
    journal = Journal().add("clock_flag", flag="step", amount_ns=S).after(5).released().after(300).exited()
    run = run_of(journal.after(30).add("clock_flag", flag="stall", amount_ns=2 * S).closed())
    assert run.time.flags == ()


def test_a_stall_that_began_before_the_end_is_the_runs() -> None:
    journal = Journal().released().after(300).exited().after(1).add("clock_flag", flag="stall", amount_ns=2 * S)
    assert run_of(journal.closed()).time.flags == ("stall",)


def test_a_missed_end_is_an_interval_to_be_reviewed() -> None:
    journal = Journal().released().after(100)
    alive_ns = journal.t_boot_ns
    journal.after(400)
    run = run_of(journal.exited(7, basis="missed", interval=[alive_ns, journal.t_boot_ns]).closed())
    assert run.time.interval_s == (100.0, 500.0)
    assert (run.time.status, run.time.flags, run.time.basis) == ("review", ("end_missed",), "session")
    assert (run.worked_s, run.lower_bound, run.counts, run.ending) == (100.0, True, "pending", "error")


def test_a_release_that_was_missed_is_an_interval_too() -> None:
    journal = Journal().add("opened").add("armed", step="work")
    start_ns = journal.t_boot_ns
    journal.add("released", step="work", start_interval=[start_ns, start_ns + 3 * S]).after(300).exited().closed()
    run = run_of(journal)
    assert (run.time.interval_s, run.time.status, run.time.flags) == ((297.0, 300.0), "review", ("start_missed",))


def test_reboot_loses_the_run_and_keeps_the_last_stamp_as_a_bound() -> None:
    journal = Journal().released().after(7800).add("heartbeat").reboot().add("opened", adopted=True)
    run = run_of(journal)
    assert (run.execution, run.ending, run.worked_s, run.lower_bound) == ("lost", "lost", 7800.0, True)
    assert (run.time.status, run.time.flags, run.counts) == ("invalid", ("boot_changed",), "pending")
    run = run_of(journal.exited(None, basis="reboot").closed())
    assert (run.execution, run.ending, run.worked_s, run.lower_bound) == ("lost", "lost", 7800.0, True)
    assert (run.time.status, run.ended_utc_ns) == ("invalid", None)


def test_stamps_of_two_boots_are_never_subtracted() -> None:
    journal = Journal().released()
    journal.boot_id = "boot-b"
    run = run_of(journal.after(300).exited(0).closed())
    assert (run.time.status, run.worked_s, run.ending) == ("invalid", 0.0, "lost")


def test_end_before_release_is_no_time() -> None:
    journal = Journal().released().after(-5).exited().closed()
    run = run_of(journal)
    assert (run.worked_s, run.time.status, run.time.flags) == (None, "invalid", ("clock_order",))


def test_a_hole_is_flagged_and_counting_waits_for_it() -> None:
    records = finished().records
    run = reduce(CELL, "camp", ATTEMPT, [one for one in records if one.kind != "transcript"])
    assert (run.time.flags, run.time.status, run.counts, run.capture) == (("gap",), "valid", "pending", "streaming")
    assert run.counts_reason == "records are missing: the machine still has them"


def test_records_that_are_gone_for_good_stay_flagged_and_do_not_hold_up_counting() -> None:
    records = finished().add("gap", from_seq=6, to_seq=6).records
    run = reduce(CELL, "camp", ATTEMPT, [one for one in records if one.kind != "transcript"])
    assert (run.time.flags, run.counts, run.capture) == (("gap",), "yes", "failed")


def test_a_store_that_keeps_the_transcripts_gives_the_same_run() -> None:
    records = finished().records
    state = RunState(CELL, "camp", ATTEMPT)
    for one in records:
        if one.kind != "transcript":
            state.apply(one)
    state.hold(records[-1].seq)
    assert state.run() == run_of(finished())
    other = RunState(CELL, "camp", ATTEMPT)
    other.hold(records[-1].seq, [(6, 6)])
    assert other.facts.holes == [(6, 6)]
    later = RunState(CELL, "camp", ATTEMPT)
    later.hold(4, [(2, 2), (9, 11)])
    assert [seq for seq in range(1, 14) if seq in later.facts.seen] == [1, 3, 4]


def test_one_number_with_two_contents_makes_the_time_invalid() -> None:
    journal = finished()
    other = finished(200.0)
    run = reduce(CELL, "camp", ATTEMPT, [*journal.records, *other.records])
    assert (run.time.status, run.time.flags, run.worked_s) == ("invalid", ("conflict",), 300.0)
    assert run.checks_failed == ("journal_conflict",)


def test_two_releases_make_the_time_invalid() -> None:
    journal = Journal().released().after(5).add("released", step="work").after(300).exited().closed()
    assert run_of(journal).time.flags == ("double_release",)
    assert run_of(journal).time.status == "invalid"


def test_an_untimed_step_before_and_after_does_not_move_the_time() -> None:
    journal = Journal().add("opened").add("released", step="ask", timed=False).after(9).exited(step="ask")
    journal.add("released", step="work").after(300).exited()
    journal.add("released", step="again", timed=False).after(7).exited(step="again").closed()
    assert run_of(journal).worked_s == 300.0


def test_nothing_ran_is_neither_an_error_nor_a_run() -> None:
    journal = Journal().add("opened").add("start_failed", step="work", reason="no shell")
    assert run_of(journal).execution == "preparing"
    run = run_of(journal.add("ended"))
    assert (run.execution, run.ending, run.worked_s, run.time.status) == ("ended", None, None, "none")
    assert (run.counts, run.counts_reason) == ("no", "nothing ran: it may be started again")
    assert (run.capture, run.grade.status) == ("none", "not_graded")


def test_a_release_in_doubt_is_unknown() -> None:
    journal = Journal().add("opened").add("armed", step="work").add("intent", action="release", step="work")
    assert run_of(journal).execution == "preparing"
    assert run_of(journal.add("opened", adopted=True)).execution == "unknown"


@pytest.mark.parametrize(("worked_s", "counts"), [(29.9, "no"), (30.0, "no"), (30.1, "yes")])
def test_a_refusal_counts_only_after_thirty_seconds(worked_s: float, counts: str) -> None:
    state = RunState(CELL, "camp", ATTEMPT)
    for record in finished(worked_s, 1).records:
        state.apply(record)
    state.observe("refusal", ["model_changed"])
    assert (state.run().ending, state.run().counts) == ("refusal", counts)
    assert state.run().checks_failed == ("model_changed",)


def test_an_infrastructure_failure_during_the_session_does_not_count() -> None:
    journal = Journal().released().after(5).add("fault", where="session", typed="engine", detail="gone").after(5)
    run = run_of(journal.exited(1).closed())
    assert (run.counts, run.counts_reason) == ("no", "infrastructure failure (engine, session): gone")
    assert run.checks_failed == ("fault_engine",)


@pytest.mark.parametrize("where", ["grade", "collect", "exit code", "destroy", "settle"])
def test_a_failure_after_the_end_never_excuses_a_run(where: str) -> None:
    journal = Journal().released().after(300)
    journal.add("fault", where=where, typed="engine", detail="x").exited()
    assert run_of(journal.closed()).counts == "yes"


def test_a_gate_that_could_not_open_the_program_does_not_count() -> None:
    journal = Journal().released().after(0.01).exited(97)
    run = run_of(journal.add("fault", where="start", typed="capture", detail="97").closed())
    assert (run.ending, run.counts) == ("error", "no")


def test_a_supervisor_replaced_in_time_leaves_the_run_counted() -> None:
    journal = Journal().released().after(5).add("fault", where="supervisor", typed="agent", detail="bug")
    journal.add("opened", adopted=True).after(295).exited().closed()
    assert (run_of(journal).counts, run_of(journal).worked_s) == ("yes", 300.0)


def test_superseded_attempts_stay_but_do_not_count() -> None:
    run = run_of(finished(), superseded_by=2)
    assert (run.counts, run.counts_reason, run.worked_s) == ("no", "superseded by attempt 2", 300.0)


def test_a_service_that_was_down_is_a_failed_check_but_no_excuse_where_a_session_ran() -> None:
    down = {"where": "service", "typed": "service", "detail": "service db of the task was down: exited, code 7"}
    run = run_of(Journal().released().after(300).exited().add("fault", **down).closed(reward="1"))
    assert (run.counts, run.checks_failed) == ("yes", ("fault_service",))
    run = run_of(Journal().add("opened").add("prepared").add("fault", **down).add("ended"))
    assert run.counts == "no"
    assert run.counts_reason == f"infrastructure failure (service, service): {down['detail']}"


def test_the_operators_word_counts_and_the_default_stays_beside_it() -> None:
    words = [
        Said(1, "eva", "count", {"counts": "no", "reason": "wrong image"}),
        Said(3, "ola", "count", {"counts": "yes", "reason": "image was right"}),
        Said(2, "eva", "count", {"counts": "no", "reason": "really"}),
        Said(4, "ola", "label", {"label": "working"}),
    ]
    run = run_of(finished(), decisions=words, superseded_by=2)
    assert (run.counts, run.counts_reason, run.label) == ("yes", "image was right (ola)", "working")
    assert (run.extra["counts_default"], run.extra["counts_default_reason"]) == ("no", "superseded by attempt 2")
    assert [word["at_utc_ns"] for word in run.extra["decisions"]] == [1, 2, 3, 4]


def test_an_abandoned_attempt_is_lost_until_its_end_is_known() -> None:
    journal = Journal().released().after(50).add("heartbeat")
    words = [Said(1, "eva", "abandon", {"reason": "machine sold"})]
    run = run_of(journal, decisions=words)
    assert (run.execution, run.counts, run.worked_s, run.lower_bound) == ("lost", "no", 50.0, True)
    assert run.time.flags == ("no_end",)
    assert run_of(journal.after(250).exited().closed(), decisions=words).counts == "yes"


def test_the_newest_grade_counts_and_older_ones_stay() -> None:
    journal = finished().add("graded", status="scored", value=0, passed=False, flags=["regraded"])
    run = run_of(journal)
    assert (run.grade.value, run.grade.percent, run.grade.passed, run.grade.flags) == (0.0, 0.0, False, ("regraded",))
    assert [grade["value"] for grade in run.extra["grades"]] == [1.0, 0.0]


def test_no_grade_is_not_a_zero() -> None:
    run = run_of(Journal().released().after(300).exited().closed())
    assert (run.grade.status, run.grade.value, run.grade.passed) == ("not_graded", None, None)


@pytest.mark.parametrize(
    ("change", "capture"),
    [
        ({"kind": "integrity", "stream": "out", "detail": "shrank"}, "failed"),
        ({"kind": "captured", "stream": "out", "intact": False}, "failed"),
        ({"kind": "captured", "stream": "out", "intact": True}, "complete"),
    ],
)
def test_capture_stands_apart_from_time_and_grade(change: dict[str, Any], capture: str) -> None:
    journal = Journal().released().after(300).exited().add(**change).add("ended")
    run = run_of(journal)
    assert (run.capture, run.time.status, run.counts) == (capture, "valid", "yes")


def test_an_end_without_captured_files_is_a_failed_capture_only_once_all_is_over() -> None:
    journal = Journal().released().after(300).exited()
    assert run_of(journal).capture == "streaming"
    assert run_of(journal.add("ended")).capture == "failed"


def test_result_exec_and_drain_are_kept_apart_from_the_end() -> None:
    journal = Journal().released().after(0.002).add("exec_seen", step="work").after(99.998)
    journal.add("result_seen", step="work", offset=1).after(100).exited().closed()
    run = run_of(journal)
    assert (run.worked_s, run.extra["exec_s"], run.extra["result_s"]) == (200.0, 0.002, 100.0)
    assert run.extra["drained_s"] == pytest.approx(200.1)


def test_strange_data_of_a_newer_agent_is_taken_without_a_fault() -> None:
    journal = Journal().add("opened", engine=7).add("wholly_new", x=[1]).add("released", step=None, cutoff_ms="x")
    journal.after(3).add("clock_flag", flag=None, amount_ns="?").add("gap", from_seq="a").add("fault", typed=3)
    journal.exited("zero", interval=["a", 2], cause=4, basis=9).add("graded", status="shiny", flags=None).add(
        "ended", ending=5
    )
    run = run_of(journal)
    assert (run.execution, run.ending, run.worked_s, run.grade.status) == ("ended", None, 3.0, "pending")
