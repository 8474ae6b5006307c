"""What the model holds of one journal: every fact, and of the bulk (transcript, heartbeat) only that it was there."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

NS_PER_S = 1_000_000_000


class JournalRecord(Protocol):
    """A journal record, from the wire or from the store."""

    @property
    def seq(self) -> int:
        """Place in the journal, from 1."""

    @property
    def kind(self) -> str:
        """One of `remote_agent.wire.KINDS`; others are kept and mean nothing here."""

    @property
    def boot_id(self) -> str:
        """The boot that the stamps belong to."""

    @property
    def t_boot_ns(self) -> int:
        """CLOCK_BOOTTIME."""

    @property
    def t_mono_ns(self) -> int:
        """CLOCK_MONOTONIC."""

    @property
    def t_utc_ns(self) -> int:
        """UTC, for display only."""

    @property
    def data(self) -> dict[str, Any]:
        """What the kind says."""


class Seen:
    """The sequence numbers held, as closed intervals in order."""

    __slots__ = ("_spans",)

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []

    def __contains__(self, seq: int) -> bool:
        at = bisect_right(self._spans, (seq, float("inf"))) - 1
        return at >= 0 and self._spans[at][1] >= seq

    def add(self, first: int, last: int | None = None) -> None:
        """Holds `first` to `last` (both included)."""
        last = first if last is None else last
        if self._spans and self._spans[-1][1] == first - 1:
            self._spans[-1] = (self._spans[-1][0], last)
            return
        insort(self._spans, (first, last))
        merged = [self._spans[0]]
        for low, high in self._spans[1:]:
            if low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        self._spans = merged

    @property
    def gapless(self) -> bool:
        """Whether every number up to the highest is held."""
        return not self._spans or (len(self._spans) == 1 and self._spans[0][0] <= 1)

    def copy(self) -> Seen:
        """The same numbers, apart."""
        other = Seen()
        other._spans = list(self._spans)
        return other

    def holes(self) -> list[tuple[int, int]]:
        """Every hole [from, to] below the highest number held, the beginning included."""
        ends = [0, *(high for _, high in self._spans)]
        return [(end + 1, low - 1) for end, (low, _) in zip(ends, self._spans, strict=False) if low > end + 1]


class Facts:
    """The facts of one attempt, in journal order whatever order they came in."""

    def __init__(self) -> None:
        self.seen = Seen()
        self.conflict = False
        """Whether one sequence number came twice with different content."""
        self._records: dict[int, JournalRecord] = {}
        self._beat: JournalRecord | None = None
        self._order: list[JournalRecord] | None = None

    def add(self, record: JournalRecord) -> bool:
        """Takes a record in; False when it changes nothing."""
        if record.seq in self.seen:
            known = self._records.get(record.seq)
            if known is None or _same(known, record) or self.conflict:
                return False
            self.conflict = True
            return True
        had_holes = bool(self.holes)
        self.seen.add(record.seq)
        touched = had_holes or bool(self.holes)
        if record.kind == "transcript":
            return touched
        if record.kind == "heartbeat":
            if self._beat is not None and self._beat.seq > record.seq:
                return touched
            self._beat = record
            return True
        self._records[record.seq] = record
        self._order = None
        return True

    def keep(self, records: Iterable[JournalRecord]) -> None:
        """Facts and heartbeats of a store, each number once; `hold` then says which numbers the store has."""
        for record in records:
            if record.kind == "heartbeat":
                self._beat = record if self._beat is None or self._beat.seq < record.seq else self._beat
            elif record.kind != "transcript":
                self._records[record.seq] = record
        self._order = None

    def hold(self, last_seq: int, holes: Iterable[tuple[int, int]] = ()) -> None:
        """Holds everything up to `last_seq` but the holes: the bulk stayed in the store."""
        first = 1
        for low, high in sorted(holes):
            if low > last_seq:
                break
            if low > first:
                self.seen.add(first, low - 1)
            first = high + 1
        if last_seq >= first:
            self.seen.add(first, last_seq)

    @property
    def holes(self) -> list[tuple[int, int]]:
        """Sequence numbers that are missing and may still come: no `gap` record says that they are gone."""
        if self.seen.gapless:
            return []
        holes = self.seen.holes()
        gone = self.of("gap") if holes else []
        if not gone:
            return holes
        known = self.seen.copy()
        for record in gone:
            first, last = whole(record.data.get("from_seq")), whole(record.data.get("to_seq"))
            if first is not None and last is not None and 1 <= first <= last:
                known.add(first, last)
        return known.holes()

    def __iter__(self) -> Iterator[JournalRecord]:
        if self._order is None:
            self._order = [self._records[seq] for seq in sorted(self._records)]
        return iter(self._order)

    def of(self, kind: str, step: object = None) -> list[JournalRecord]:
        """The records of one kind (of one step), oldest first."""
        return [one for one in self if one.kind == kind and (step is None or one.data.get("step", step) == step)]

    def newest(self) -> JournalRecord | None:
        """The newest fact or heartbeat: when the run was last seen. Transcripts are left out, as a rebuild has none."""
        last = next(reversed(list(self)), None)
        if self._beat is not None and (last is None or self._beat.seq > last.seq):
            return self._beat
        return last

    def last_of_boot(self, boot_id: str) -> JournalRecord | None:
        """The newest fact or heartbeat of one boot."""
        mine = [one for one in self if one.boot_id == boot_id]
        if self._beat is not None and self._beat.boot_id == boot_id:
            mine.append(self._beat)
        return max(mine, key=lambda one: one.seq, default=None)


def _same(left: JournalRecord, right: JournalRecord) -> bool:
    names = ("kind", "boot_id", "t_boot_ns", "t_mono_ns", "t_utc_ns", "data")
    return all(getattr(left, name) == getattr(right, name) for name in names)


def whole(value: object) -> int | None:
    """The integer, or None for anything else (a journal may come from a newer agent)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def text(value: object) -> str | None:
    """The text, or None for anything else or nothing."""
    return value if isinstance(value, str) and value else None


def span_ns(value: object) -> tuple[int, int] | None:
    """A [first, last] pair of nanoseconds in order, or None."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    first, last = whole(value[0]), whole(value[1])
    return None if first is None or last is None else (min(first, last), max(first, last))
