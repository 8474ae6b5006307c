"""What a study asks of one run: its steps in order, what the agent starts with, and what is judged afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agenttime_tui.harness.protocol import PLAIN, Turn
from agenttime_tui.protocols.prompt import Prompt
from agenttime_tui.protocols.retrospection.request_words import Request

Start = Literal["task", "empty", "text", "docs", "probe"]
"""The task's own workspace; an empty working directory; or one with the task's text, its documents, its probe."""

MEASURED = "session"
"""Name of the step whose time is the run's."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One step: what is delivered in which turn of the session, and how it is timed."""

    prompt: Prompt
    cutoff_ms: int
    name: str = MEASURED
    turn: Turn = PLAIN
    timed: bool = True
    requested_ms: int | None = None
    seal: str = ""
    """Label before the number that is sealed when the step has ended: "minutes"; empty: nothing is sealed."""
    after_success: bool = False
    """Not begun unless the step before ended by itself with code 0."""
    verified: bool = False
    """Whether the task's verifier polls beside it."""
    part: str = ""
    """Name of the task's step that it delivers, with the preparation and the grader of that step."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A study as the steps of one run."""

    steps: tuple[Asked, ...]
    start: Start = "task"
    graded: bool = True
    """Whether the task's grader judges what the session left."""

    @property
    def timed(self) -> tuple[Asked, ...]:
        """The steps whose times together are the run's; only a task with steps of its own has several."""
        return tuple(step for step in self.steps if step.timed)

    @property
    def measured(self) -> Asked:
        """The step whose time is the run's, or the first of those whose times are."""
        return next(step for step in self.steps if step.timed)


@dataclass(frozen=True, slots=True)
class Parent:
    """The finished run that a question is asked about: sealed, and only ever copied."""

    run: str
    study: str
    worked_s: float
    """The true runtime."""
    requested_ms: int | None = None
    session: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Its session files by their path inside the environment."""
    sha256: str = ""
    """Hash of the session as it was sealed."""
    delivered: Prompt | None = None
    """What opened its session."""

    @property
    def request(self) -> Request | None:
        """The requested duration as its prompt said it; None for a run that was asked for none."""
        if self.requested_ms is None:
            return None
        told = self.delivered
        return Request(self.requested_ms, told.phrase if told else None, told.sentence if told else None)


def session_file(files: Mapping[str, bytes], session: str = "") -> bytes:
    """The CLI's own session file among those that were kept: that of the session's id, else the largest of JSON lines.

    A fork keeps its parent's beside its own. Empty without one.
    """
    found = {path: data for path, data in files.items() if path.endswith(".jsonl")}
    named = [data for path, data in found.items() if session and session in path]
    return max(named or found.values(), key=len, default=b"")


class NotNow(ValueError):
    """A study that cannot be asked of this task in this way; one sentence says why."""
