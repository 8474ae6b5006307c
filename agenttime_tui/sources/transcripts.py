"""Transcripts as events: decoded once as records come, kept for the runs that are open."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from agenttime_tui.harness.view import Facts
from agenttime_tui.harness.worked import Worked, sessions_in
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
        self._worked: Worked | None = Worked() if sessions_in(spec) else None
        """Of a run with several sessions, each with a prompt of its own."""
        self._later = {} if spec is None else {str(one["name"]): one for one in sessions_in(spec)[1:]}
        self._begun: list[RecordRow] = []
        """Their releases that no line has followed yet."""
        self._marked_seq = 0
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
        self._mark(reader, run_id)
        while rows := reader.transcript_page(run_id, self._last_seq, PAGE):
            self._mark(reader, run_id)
            for row in rows:
                self._take(row)
            self._last_seq = rows[-1].seq
        self._deliver(None)

    def _mark(self, reader: Reader, run_id: str) -> None:
        """Takes in the sessions that began and ended since; none of a page of lines is older than the page's own."""
        if self._worked is None:
            return
        for record in reader.records(run_id, since=self._marked_seq, kinds=["released", "exited"]):
            self._worked.take(record)
            self._marked_seq = record.seq
            if record.kind == "released" and record.data.get("step") in self._later:
                self._begun.append(record)

    def _deliver(self, before: int | None) -> None:
        """Shows the prompts that were released before a record, or all that were."""
        while self._worked is not None and self._begun and (before is None or self._begun[0].seq < before):
            released = self._begun.pop(0)
            step = self._later[str(released.data.get("step"))]
            at_s = self._worked.at_s(released.seq + 1, released.boot_id, released.t_boot_ns)
            self._reading.make_room(len(self.events))
            self.events.append(Event(len(self.events), "prompt", _text(step), at_s, released.t_utc_ns))

    def _take(self, row: RecordRow) -> None:
        at_s = None if self._released_ns is None else (row.t_boot_ns - self._released_ns) / 1e9
        if self._worked is not None:
            self._deliver(row.seq)
            at_s = self._worked.at_s(row.seq, row.boot_id, row.t_boot_ns)
        data = body_bytes(row.data)
        for event in self._reading.feed(row.seq, at_s, row.t_utc_ns, row.data["stream"], data):
            if event.index < len(self.events):
                self.events[event.index] = replace(event, utc_ns=self.events[event.index].utc_ns)
            else:
                self.events.append(event)

    def _prompt(self, spec: Mapping[str, Any]) -> None:
        text = _text((spec.get("steps") or [{}])[0])
        cell = (spec.get("origin") or {}).get("cell") or {}
        asked, middle = cell.get("requested_ms"), (cell.get("spec") or {}).get("middle_ms")
        phrase = f"full {duration.phrase(asked, middle)}" if asked and middle else ""
        self.events.append(Event(0, "prompt", text, 0.0, phrase=phrase if phrase in text else ""))


def _text(step: Mapping[str, Any]) -> str:
    """The prompt of a step: what goes to its stdin, else its last argument."""
    return str(step.get("stdin") or (step.get("argv") or [""])[-1])


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
