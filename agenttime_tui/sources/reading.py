"""From what a harness's decoder reads to the events that the run screen draws."""

from __future__ import annotations

from agenttime_tui.harness.decoders import decoder
from agenttime_tui.harness.view import Facts, Item
from agenttime_tui.panels.state import Event

DRAWN = {
    "raw": "out", "wait": "note", "result": "note", "retry": "note", "model": "note", "limit": "error",
    "refusal": "error",
}  # fmt: skip
"""Kind of an item -> kind of the event where they differ."""


class Reading:
    """Reads one run's lines in order. `first` is the index of its first event."""

    def __init__(self, harness: str, first: int) -> None:
        self._decoder = decoder(harness)
        self._first = first
        self._shifts: list[int] = []
        """Items from which on the events lie one place further."""

    @property
    def facts(self) -> Facts:
        """What is counted so far."""
        return self._decoder.facts

    def make_room(self, events: int) -> None:
        """Leaves a place for an event of somebody else's after the `events` that there are."""
        self._shifts.append(events - self._first - len(self._shifts))

    def feed(self, seq: int, at_s: float | None, utc_ns: int, stream: str, data: bytes) -> list[Event]:
        """The events of one line; an event may come again, completed, under its old index and with a later `utc_ns`."""
        return [self._event(index, item, utc_ns) for index, item in self._decoder.feed(seq, at_s, stream, data)]

    def _event(self, index: int, item: Item, utc_ns: int) -> Event:
        return Event(
            self._first + index + sum(index >= start for start in self._shifts),
            DRAWN.get(item.kind, item.kind),
            item.text,
            item.at_s,
            utc_ns,
            item.took_s,
            item.running,
            item.note,
            seq=item.seq,
        )
