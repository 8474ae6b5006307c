"""When in its work a run said something: of several sessions one after another, without what lies between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, Protocol

NS_PER_S = 1_000_000_000


class Marked(Protocol):
    """The part of a journal record that is read here."""

    @property
    def seq(self) -> int:
        """Place in the journal."""

    @property
    def kind(self) -> str:
        """What it is."""

    @property
    def boot_id(self) -> str:
        """The boot that the stamps belong to."""

    @property
    def t_boot_ns(self) -> int:
        """CLOCK_BOOTTIME."""

    @property
    def data(self) -> dict[str, Any]:
        """What the kind says."""


class Worked:
    """The sessions of a run whose times make one, by their `released` and `exited` records in order."""

    def __init__(self, records: Iterable[Marked] = ()) -> None:
        self._began: list[int] = []
        """Sequence numbers of the releases."""
        self._starts: list[tuple[str, int]] = []
        """Boot and instant at which each would have begun had they followed each other at once."""
        self._open: Marked | None = None
        self._before_ns = 0
        for record in records:
            self.take(record)

    @property
    def several(self) -> bool:
        """Whether the last session that began is not the first."""
        return len(self._began) > 1

    @property
    def before_s(self) -> float:
        """What the sessions that have ended worked, while one of those that follow is still to come or under way."""
        return self._before_ns / NS_PER_S

    def take(self, record: Marked) -> None:
        """Takes in a record; those of other kinds, and of runs with one timed session, change nothing."""
        if record.kind == "released" and record.data.get("timed", True):
            if self._began and not self._before_ns:
                return  # a second release of one session: the first one counts
            self._began.append(record.seq)
            self._starts.append((record.boot_id, record.t_boot_ns - self._before_ns))
            self._open = record
        elif record.kind == "exited" and (began := self._open) is not None:
            if record.data.get("step") != began.data.get("step"):
                return
            if began.data.get("then") and record.boot_id == began.boot_id:
                self._before_ns += max(0, record.t_boot_ns - began.t_boot_ns)
            self._open = None

    def at_s(self, seq: int, boot_id: str, t_boot_ns: int) -> float | None:
        """Seconds worked at a record; None before the first session, and in another boot than that of its session."""
        place = bisect_left(self._began, seq) - 1
        if place < 0 or self._starts[place][0] != boot_id:
            return None
        return (t_boot_ns - self._starts[place][1]) / NS_PER_S


def sessions_in(spec: Any) -> list[Any]:
    """The steps of a spec whose times make that of the run, where there are several; else none."""
    steps = [one for one in (spec or {}).get("steps") or () if one.get("timed", True)]
    return steps if len(steps) > 1 else []
