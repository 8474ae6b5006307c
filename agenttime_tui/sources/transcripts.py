"""Transcripts as events: decoded once as records come, kept for the runs that are open."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from agenttime_tui.harness.view import Facts
from agenttime_tui.panels.state import Event, TranscriptPage
from agenttime_tui.protocols import duration
from agenttime_tui.sources.reading import Reading
from remote_agent.capture import body_bytes
from store.reader import Reader
from store.rows import RecordRow

KEPT = 4
"""Transcripts of so many runs stay decoded."""
PAGE = 2000


class Transcript:
    """One run's events, growing with its records."""

    def __init__(self, harness: str, spec: Mapping[str, Any] | None) -> None:
        self._last_seq = 0
        self._released_ns: int | None = None
        self.events: list[Event] = []
        if spec is not None:
            self._prompt(spec)
        self._reading = Reading(harness, len(self.events))

    @property
    def facts(self) -> Facts:
        """What the decoder counted."""
        return self._reading.facts

    def update(self, reader: Reader, run_id: str) -> None:
        """Takes in what the store holds beyond what was read."""
        if self._released_ns is None:
            released = next(iter(reader.records(run_id, kinds=["released"])), None)
            self._released_ns = released.t_boot_ns if released else None
        while rows := reader.transcript_page(run_id, self._last_seq, PAGE):
            for row in rows:
                self._take(row)
            self._last_seq = rows[-1].seq

    def _take(self, row: RecordRow) -> None:
        at_s = None if self._released_ns is None else (row.t_boot_ns - self._released_ns) / 1e9
        data = body_bytes(row.data)
        for event in self._reading.feed(row.seq, at_s, row.t_utc_ns, row.data["stream"], data):
            if event.index < len(self.events):
                self.events[event.index] = replace(event, utc_ns=self.events[event.index].utc_ns)
            else:
                self.events.append(event)

    def _prompt(self, spec: Mapping[str, Any]) -> None:
        step = (spec.get("steps") or [{}])[0]
        text = step.get("stdin") or (step.get("argv") or [""])[-1]
        cell = (spec.get("origin") or {}).get("cell") or {}
        asked, middle = cell.get("requested_ms"), (cell.get("spec") or {}).get("middle_ms")
        phrase = f"full {duration.phrase(asked, middle)}" if asked and middle else ""
        self.events.append(Event(0, "prompt", text, 0.0, phrase=phrase if phrase in text else ""))


class Transcripts:
    """The transcripts that are open now."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, Transcript] = OrderedDict()

    def page(self, reader: Reader, run_id: str, harness: str, start: int | None, limit: int) -> TranscriptPage:
        """At most `limit` events from `start`, or the last ones for None."""
        events = self._events(reader, run_id, harness)
        first = max(0, len(events) - limit) if start is None else max(0, start)
        return TranscriptPage(tuple(events[first : first + limit]), len(events))

    def find(
        self,
        reader: Reader,
        run_id: str,
        harness: str,
        kinds: frozenset[str],
        text: str,
        start: int,
        step: Literal[1, -1],
    ) -> int | None:
        """Index of the next event of these kinds holding the text, from `start` on."""
        events, wanted = self._events(reader, run_id, harness), text.lower()
        ahead = range(max(0, start), len(events)) if step == 1 else range(min(start, len(events) - 1), -1, -1)
        for index in ahead:
            event = events[index]
            if (not kinds or event.kind in kinds) and wanted in event.text.lower():
                return index
        return None

    def facts(self, reader: Reader, run_id: str, harness: str) -> Facts:
        """What the decoder counted in one run so far."""
        return self._transcript(reader, run_id, harness).facts

    def _events(self, reader: Reader, run_id: str, harness: str) -> Sequence[Event]:
        return self._transcript(reader, run_id, harness).events

    def _transcript(self, reader: Reader, run_id: str, harness: str) -> Transcript:
        found = self._open.pop(run_id, None) or Transcript(harness, reader.spec(run_id))
        self._open[run_id] = found
        while len(self._open) > KEPT:
            self._open.popitem(last=False)
        found.update(reader, run_id)
        return found
