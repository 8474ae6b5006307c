from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agenttime_tui.look.cellwidth import cells
from agenttime_tui.panels.state import Event, TranscriptPage
from agenttime_tui.panels.transcript import raw_lines
from agenttime_tui.panels.transcript_log import WINDOW_CAP, TranscriptLog, body_of


def events(first: int, number: int, text: str = "x") -> tuple[Event, ...]:
    return tuple(Event(first + n, "say", text) for n in range(number))


@given(
    st.lists(st.text(max_size=80), min_size=1, max_size=6), st.sampled_from(["prompt", "say", "tool", "out", "error"])
)
def test_no_line_of_a_body_is_wider_than_its_room(texts: list[str], kind: str) -> None:
    event = Event(0, kind, "\n".join(texts))
    for unfolded in (False, True):
        assert all(cells(line) <= 60 - 20 for line in body_of(event, 60, unfolded).lines)


def test_a_prompt_is_never_folded_and_one_line_is_never_hidden_behind_a_fold() -> None:
    assert body_of(Event(0, "prompt", "word " * 400), 60, False).folded == 0
    assert body_of(Event(0, "out", "one\ntwo"), 60, False).folded == 0
    assert body_of(Event(0, "out", "one\ntwo\nthree"), 60, False).folded == 2


def test_pages_join_at_both_ends_and_say_how_far_things_moved() -> None:
    log = TranscriptLog(width=60)
    log.replace(TranscriptPage(events(100, 50), 200))
    assert log.take(TranscriptPage(events(150, 50), 200)) == 0
    assert log.take(TranscriptPage(events(90, 10), 200)) == 10
    assert (log.first, log.last, log.height) == (90, 200, 110)
    found = log.at(10)
    assert found is not None
    assert found[0].index == 100
    assert log.take(TranscriptPage(events(0, 5), 200)) == 0
    assert (log.first, log.last) == (0, 5)


def test_an_event_that_changed_replaces_itself() -> None:
    log = TranscriptLog(width=60)
    log.replace(TranscriptPage((*events(0, 3), Event(3, "tool", "make", running=True)), 4))
    assert log.resume_from() == 3
    log.take(TranscriptPage((Event(3, "tool", "make", took_s=2.0), *events(4, 1)), 5))
    held = log.event(3)
    assert held is not None
    assert held.took_s == 2.0
    assert log.last == 5


def test_the_window_is_bounded() -> None:
    log = TranscriptLog(width=60)
    for start in range(0, 10_000, 500):
        log.take(TranscriptPage(events(start, 500), start + 500))
    assert len(log.events) == WINDOW_CAP
    assert log.last == 10_000


def test_the_raw_view_of_wide_letters_leaves_none_beside_the_sheet() -> None:
    text = "漢字 wide " * 40
    drawn = raw_lines(Event(0, "say", text), 30)
    assert "".join(drawn) == text
    assert all(cells(line) <= 26 for line in drawn)
