"""Attempts and what people decided about them, as the model takes them from the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

OBSERVED = "observed"
"""The action by which the app keeps what it read in a transcript; nobody's decision."""


class AttemptRecord(Protocol):
    """One try at a cell (the store's row of an attempt fits)."""

    @property
    def id(self) -> str:
        """Neutral id, also the run's id."""

    @property
    def cell(self) -> str:
        """Id of the cell."""

    @property
    def ordinal(self) -> int:
        """1 for the first try."""

    @property
    def machine(self) -> str:
        """Name of the machine."""

    @property
    def engine(self) -> str:
        """docker or process."""

    @property
    def reason(self) -> str:
        """Why there is this attempt."""


class Decision(Protocol):
    """Something a person decided about a run (the store's row of an operator record fits).

    Actions read here: `count` with data {counts: "yes" or "no", reason}, `label` with data {label}, `abandon` with data
    {reason}, `grade` with the data of a `graded` record: an answer that was graded on the operator's side, `observed`
    with what a reader of the transcript found. Others are kept elsewhere and change no fact.
    """

    @property
    def id(self) -> str:
        """Orders what was said at the same moment, as the store does."""

    @property
    def at_utc_ns(self) -> int:
        """When."""

    @property
    def by(self) -> str:
        """Who."""

    @property
    def action(self) -> str:
        """What."""

    @property
    def data(self) -> dict[str, Any]:
        """With which words."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a cell."""

    id: str
    cell: str
    ordinal: int = 1
    machine: str = "local"
    engine: str = ""
    reason: str = "first"


@dataclass(frozen=True, slots=True)
class Said:
    """A decision by a person."""

    at_utc_ns: int
    by: str
    action: str
    data: dict[str, Any]
    id: str = ""


def latest(decisions: Iterable[Decision], action: str) -> Decision | None:
    """The newest decision of one kind: it counts, the older ones stay."""
    found = sorted((one for one in decisions if one.action == action), key=lambda one: one.at_utc_ns)
    return found[-1] if found else None
