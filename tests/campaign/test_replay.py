"""Batches, replays and order of arrival make no difference to a run."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agenttime_tui.campaign.facts import Seen
from agenttime_tui.campaign.reducer import RunState, reduce
from agenttime_tui.campaign.run import ENDINGS, EXECUTIONS
from remote_agent.wire import KINDS, Record
from tests.campaign.journal import ATTEMPT, BOOT, CELL, Journal, S

DATA: list[dict[str, Any]] = [
    {},
    {"step": "work", "code": 0, "cause": "own"},
    {"step": "work", "code": 1, "cause": "cutoff", "interval": [1, 2]},
    {"step": "ask", "timed": False},
    {"step": "work", "then": ["more", "last"]},
    {"step": "more", "then": 3, "code": 0},
    {"step": "more", "combine": "final", "code": 0, "reward": {"name": "reward.txt", "text": "0.5"}},
    {"step": "last", "reason": "too little", "reward": "none"},
    {"action": "release", "flag": "suspend", "amount_ns": 10**9, "typed": "disk", "where": "session"},
    {"stream": "out", "intact": True, "status": "scored", "value": 0.5},
    {"from_seq": 2, "to_seq": 3},
]


@st.composite
def journals(draw: st.DrawFn) -> list[Record]:
    """Any sequence of records, sensible or not, in journal order."""
    journal = Journal()
    likely = ["opened", "released", "transcript", "heartbeat", "exited", "graded", "ended", *KINDS, "new_kind"]
    for kind, data, moment in draw(
        st.lists(st.tuples(st.sampled_from(likely), st.sampled_from(DATA), st.integers(0, 9)), max_size=25)
    ):
        if moment == 9:
            journal.reboot()
        journal.after(moment / 3).add(kind, **data)
    return journal.records


@settings(deadline=None)
@given(journals(), st.data())
def test_any_batches_replayed_in_any_order_equal_all_at_once(records: list[Record], data: st.DataObject) -> None:
    whole = reduce(CELL, "camp", ATTEMPT, records)
    state = RunState(CELL, "camp", ATTEMPT)
    again = data.draw(st.lists(st.sampled_from(records), max_size=10)) if records else []
    arriving = data.draw(st.permutations(records + again))
    for record in arriving:
        state.apply(record)
        if data.draw(st.booleans()):
            state.run()
    assert state.run() == whole


@settings(deadline=None)
@given(journals())
def test_every_journal_gives_known_states_and_no_invented_time(records: list[Record]) -> None:
    run = reduce(CELL, "camp", ATTEMPT, records)
    assert run.execution in EXECUTIONS
    assert run.ending is None or run.ending in ENDINGS
    assert run.counts in ("yes", "no", "pending")
    assert run.time.status in ("none", "live", "valid", "review", "invalid")
    if not any(one.kind == "released" and one.data.get("timed", True) for one in records):
        assert run.worked_s is None
    if run.time.status == "valid" and "steps" not in run.extra:
        released = next(one for one in records if one.t_boot_ns == run.released_boot_ns and one.kind == "released")
        ends = [one for one in records if one.kind == "exited" and one.seq > released.seq and one.boot_id == BOOT]
        assert run.worked_s in [(one.t_boot_ns - released.t_boot_ns) / S for one in ends] or released.boot_id != BOOT
    run.as_json()


def test_a_whole_run_in_every_order_of_three_batches() -> None:
    journal = (
        Journal().released().after(3).add("transcript", stream="out").after(3).exited().closed(status="scored", value=1)
    )
    whole = reduce(CELL, "camp", ATTEMPT, journal.records)
    for seed in range(20):
        records = list(journal.records)
        random.Random(seed).shuffle(records)
        state = RunState(CELL, "camp", ATTEMPT)
        for record in records:
            state.apply(record)
        assert state.run() == whole


def test_a_known_record_changes_nothing() -> None:
    state = RunState(CELL, "camp", ATTEMPT)
    records = Journal().released().records
    assert all(state.apply(record) for record in records)
    before = state.run()
    assert not any(state.apply(record) for record in records)
    assert state.run() is before


@settings(deadline=None)
@given(st.lists(st.integers(1, 40)), st.lists(st.tuples(st.integers(1, 40), st.integers(0, 9))))
def test_seen_numbers_and_holes(numbers: list[int], spans: list[tuple[int, int]]) -> None:
    seen, held = Seen(), set(numbers)
    for number in numbers:
        seen.add(number)
    for first, more in spans:
        seen.add(first, first + more)
        held |= set(range(first, first + more + 1))
    missing = set(range(1, max(held, default=0))) - held
    assert {n for low, high in seen.holes() for n in range(low, high + 1)} == missing
    assert all((n in seen) == (n in held) for n in range(60))
