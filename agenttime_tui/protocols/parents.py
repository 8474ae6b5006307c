"""Which finished run a question is asked about: the same agent, task and campaign, chosen by the study's own rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.plan import Plan
from agenttime_tui.campaign.run import Run

PREFERRED = ("middle", "longest", "shortest")
"""Of a duration study's three runs the published choice: one request for all agents of a task, in this order."""

Family = tuple[str, str, str, int, str | None]
"""Study, pack, task, repeat and wording of the cells that differ in nothing but agent and request."""

UNFINISHED = ("planned", "staged", "preparing", "running", "unknown")


@dataclass(frozen=True, slots=True)
class Choice:
    """The parent; or, without one, whether one may still come, and why there is none."""

    run: Run | None = None
    why: str = ""

    @property
    def never(self) -> bool:
        """Whether no parent will come any more."""
        return self.run is None and bool(self.why)


Newest = Callable[[str], Run | None]
"""The newest run of a cell by its id, None where nobody has tried it."""


class Parents:
    """The runs that the questions of a plan may be about, found once: a campaign asks for them at every turn."""

    def __init__(self, plan: Plan, cells: Iterable[Cell]) -> None:
        self._plan = plan
        self._families: dict[Family, list[Cell]] = {}
        for cell in cells:
            self._families.setdefault((cell.study, cell.pack, cell.task, cell.repeat, cell.wording), []).append(cell)

    def of(self, cell: Cell, newest: Newest, failed: Collection[str] = ()) -> Choice:
        """The run that `cell` asks about. `failed`: cells that fit no machine and will not be run."""
        study = self._plan.study.retrospection.parents
        nth = (cell.repeat - 1) // answers_of(cell, self._plan) + 1
        wording = self._plan.wording if study == "duration" else None
        family = self._families.get((study, cell.pack, cell.task, nth, wording), [])
        if not any(one.agent == cell.agent for one in family):
            return Choice(None, f'the campaign has no {study} run of this agent and task: add "{study}" to its studies')
        if study == "natural":
            (own,) = (one for one in family if one.agent == cell.agent)
            return _settled(own, newest, failed)
        return _common(cell, family, newest, failed)


def answers_of(cell: Cell, plan: Plan) -> int:
    """How many answers one parent gives in the study of a cell."""
    return plan.study.retrospection.answers if cell.study == "retrospection" else 1


def _settled(own: Cell, newest: Newest, failed: Collection[str]) -> Choice:
    run = newest(own.id)
    if own.id in failed:
        return Choice(None, "its parent fits no machine")
    if run is None or run.execution in UNFINISHED or not is_settled(run) or run.capture == "streaming":
        return Choice()  # also while records of it are missing here that its machine still has
    why = unfit(run)
    return Choice(None, f"its parent, {run.id[:8]}, {why}") if why else Choice(run)


def _common(cell: Cell, family: Sequence[Cell], newest: Newest, failed: Collection[str]) -> Choice:
    """The request that every agent's run of the task has, in the preferred order; else the agent's own first."""
    choices = {one: _settled(one, newest, failed) for one in family}
    if any(choice.run is None and not choice.never for choice in choices.values()):
        return Choice()
    mine = {one.request: choice for one, choice in choices.items() if one.agent == cell.agent}
    for request in PREFERRED:
        if all(choice.run is not None for one, choice in choices.items() if one.request == request) and request in mine:
            return mine[request]
    own = (mine[request] for request in PREFERRED if request in mine and mine[request].run is not None)
    return next(own, Choice(None, "none of its parents can be asked about"))


def is_settled(run: Run) -> bool:
    """Whether its machine has kept all that the session left: transcript and session files come after its end."""
    return run.extra.get("closed", True) is not False or bool(run.extra.get("held"))


def unfit(run: Run) -> str:
    """Why a finished run is no parent; empty when it is one."""
    if run.execution != "ended" or run.worked_s is None:
        return f"did not end with a known runtime ({run.execution})"
    if run.counts == "no":
        return f"does not count: {run.counts_reason or 'no reason given'}"
    if run.capture != "complete":
        return f"has no complete transcript (capture {run.capture})"
    return ""
