"""From a plan and the tasks of its packs to cells: every combination that is to be run once.

Requests are named by their place. The three of a task are shortest, middle and longest. A plan that lists requests of
its own names them by their place in its list (three: shortest, middle, longest; two: shortest, longest; one:
shortest), except where each of them is one of the task's own: then it keeps that name, and unit and cutoff stay the
task's. The unit of the prompt comes from the middle request; of two the shorter one stands in, of one itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agenttime_tui.campaign.durations import spell
from agenttime_tui.campaign.plan import AgentConfig, Plan, TaskSelection, canonical
from agenttime_tui.errors import UserError
from agenttime_tui.protocols import aftersight, duration, eta, forecast, natural
from agenttime_tui.protocols.prompt import FROM_PLAN, Cutoff, PromptRefused

NAMES = {1: ("shortest",), 2: ("shortest", "longest"), 3: ("shortest", "middle", "longest")}

QUESTION_CUTOFF_MS = {
    "forecast": forecast.TIMEOUT_MS,
    "retrospection": aftersight.TIMEOUT_MS,
    "self-score": aftersight.TIMEOUT_MS,
}
"""Timeouts of the published question sessions; the study's own default."""


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """What the plan needs to know of a task."""

    id: str
    requests_ms: tuple[int, ...]
    """The task's own requests, shortest first; empty where it has none."""
    benchmark: str
    steps: bool = False
    """Whether its pack says that it has steps with a prompt each."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination, to be run once."""

    id: str
    """16 hex digits over everything that makes the run comparable; the same in every campaign."""
    study: str
    agent: str
    pack: str
    benchmark: str
    task: str
    request: str | None
    """shortest, middle, longest, natural or None (studies that ask a question)."""
    requested_ms: int | None
    middle_ms: int | None
    """The task's middle request, which chooses the unit of the prompt."""
    cutoff_ms: int
    """0: not known (a run that came without its plan)."""
    cutoff_source: str
    variant: str | None = None
    """Of a forecast or a retrospection condition."""
    wording: str | None = None
    """None: the paper's sentence. Cells of different wordings are never pooled."""
    repeat: int = 1
    position: int = 0
    """Place in the plan's order, from 0."""

    def fields(self) -> dict[str, Any]:
        """The cell as the store keeps it: plain columns, the rest under `spec`."""
        spec = {name: getattr(self, name) for name in _SPEC}
        return {name: getattr(self, name) for name in _COLUMNS} | {"spec": spec}


_COLUMNS = (
    "id", "study", "agent", "benchmark", "task", "request", "requested_ms", "cutoff_ms", "repeat", "position",
)  # fmt: skip
_SPEC = ("pack", "middle_ms", "cutoff_source", "variant", "wording")


class StoredCell(Protocol):
    """A cell as the store gives it back."""

    @property
    def cutoff_ms(self) -> int | None:
        """Milliseconds to the hidden cutoff."""

    @property
    def spec(self) -> dict[str, Any]:
        """What `Cell.fields` put under `spec`, and more."""


def cell_of(row: StoredCell) -> Cell:
    """The cell of a stored row (the inverse of `Cell.fields`)."""
    fields: dict[str, Any] = {name: getattr(row, name) for name in _COLUMNS}
    fields |= {name: row.spec.get(name) for name in _SPEC}
    return Cell(**fields | {"cutoff_ms": row.cutoff_ms or 0})


def make_cells(plan: Plan, tasks: Mapping[str, Sequence[TaskInfo]]) -> list[Cell]:
    """The plan's cells in running order; `tasks` holds the roster of every pack the plan names.

    UserError (code 2) for an unknown pack or task, a task selected twice for one agent, a duration study without
    requests, a request without exact words, or a cutoff shorter than a request.
    """
    chosen = [(selection, task) for selection in plan.tasks for task in _chosen(selection, tasks)]
    _refuse_twice(plan, chosen)
    cells = [
        cell
        for repeat in range(1, plan.repeats + 1)
        for study in plan.studies
        for selection, task in chosen
        if selection.studies is None or study in selection.studies
        for agent in plan.takers(selection)
        for cell in _cells(plan, study, selection, task, agent, repeat)
    ]
    if plan.order == "shuffled":
        cells.sort(key=lambda cell: _sha256(f"{plan.seed}:{cell.id}"))
    return [replace(cell, position=position) for position, cell in enumerate(cells)]


def within(campaign: str, cells: Sequence[Cell]) -> list[Cell]:
    """The cells under ids that are unique to this campaign, for a store that holds several campaigns."""
    return [replace(cell, id=_sha256(f"{campaign}:{cell.id}")[:16]) for cell in cells]


def _chosen(selection: TaskSelection, tasks: Mapping[str, Sequence[TaskInfo]]) -> Iterator[TaskInfo]:
    roster = tasks.get(selection.pack)
    if roster is None:
        known = ", ".join(sorted(tasks)) or "none"
        raise UserError(f'unknown pack "{selection.pack}": known packs are {known}', 2)
    by_id = {task.id: task for task in roster}
    for name in by_id if selection.include is None else selection.include:
        if name not in by_id:
            raise UserError(
                f'pack "{selection.pack}" has no task "{name}": `agenttime packs show {selection.pack}` lists them', 2
            )
        yield by_id[name]


def _refuse_twice(plan: Plan, chosen: Sequence[tuple[TaskSelection, TaskInfo]]) -> None:
    seen = set()
    for selection, task in chosen:
        for agent in plan.takers(selection):
            key = (agent.id, selection.pack, task.id)
            if key in seen:
                raise UserError(f'task "{task.id}" of pack "{selection.pack}" is selected twice for "{agent.id}"', 2)
            seen.add(key)


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of one task in one plan."""

    named_ms: tuple[tuple[str, int], ...]
    middle_ms: int | None
    all_ms: tuple[int, ...]
    """What the cutoff is twice the longest of."""


def requests_of(own_ms: Sequence[int], given_ms: Sequence[int] | None) -> Requests:
    """Names, middle and extent of a task's requests by the rule at the head of this module."""
    given = tuple(own_ms) if given_ms is None else tuple(given_ms)
    if len(own_ms) == 3 and set(given) <= set(own_ms):
        names = dict(zip(own_ms, NAMES[3], strict=True))
        return Requests(tuple((names[ms], ms) for ms in given), own_ms[1], tuple(own_ms))
    if not given:
        return Requests((), None, ())
    middle_ms = given[1] if len(given) == 3 else given[0]
    return Requests(tuple(zip(NAMES[len(given)], given, strict=True)), middle_ms, given)


def _cells(
    plan: Plan, study: str, selection: TaskSelection, task: TaskInfo, agent: AgentConfig, repeat: int
) -> Iterator[Cell]:
    requests = requests_of(task.requests_ms, selection.requests_ms)
    where = f'task "{task.id}" of pack "{selection.pack}"'
    if task.steps and study != "natural":
        raise UserError(f"{where} {natural.only_natural(study)}", 2)
    wanted: list[tuple[str | None, int | None]] = [*requests.named_ms]
    if study != "duration":
        wanted = [("natural" if study == "natural" else None, None)]
    elif not wanted:
        raise UserError(f"{where} has no requests of its own: list some under requests in the plan", 2)
    cutoff = _cutoff(plan, study, selection, requests, where)
    for variant, number in _variants(plan, study, repeat):
        for name, requested_ms in wanted:
            cell = Cell(
                id="",
                study=study,
                agent=agent.id,
                pack=selection.pack,
                benchmark=task.benchmark,
                task=task.id,
                request=name,
                requested_ms=requested_ms,
                middle_ms=requests.middle_ms if study == "duration" else None,
                cutoff_ms=cutoff.ms,
                cutoff_source=cutoff.source,
                variant=variant,
                wording=plan.wording if study == "duration" else None,
                repeat=number,
            )
            _check_words(cell, where)
            yield replace(cell, id=_cell_id(cell, agent))


def _cutoff(plan: Plan, study: str, selection: TaskSelection, requests: Requests, where: str) -> Cutoff:
    planned_ms = selection.cutoff_ms or plan.cutoff_ms
    if study in QUESTION_CUTOFF_MS:
        return Cutoff(QUESTION_CUTOFF_MS[study], "the study's default")
    if planned_ms is not None:
        longest_ms = max((ms for _, ms in requests.named_ms), default=0)
        if study == "duration" and planned_ms <= longest_ms:
            raise UserError(
                f"cutoff {spell(planned_ms)} is not longer than the request {spell(longest_ms)} of {where}", 2
            )
        return Cutoff(planned_ms, FROM_PLAN)
    if study == "eta":
        return Cutoff(eta.DEFAULT_CUTOFF_MS, eta.CUTOFF_SOURCE)
    return natural.cutoff(requests.all_ms)


def _variants(plan: Plan, study: str, repeat: int) -> Iterator[tuple[str | None, int]]:
    if study == "forecast":
        variant = plan.study.forecast.variant
        for one in forecast.REFERENTS if variant == "referents" else (variant,):
            yield one, repeat
    elif study == "retrospection":
        options = plan.study.retrospection
        for condition in options.conditions:
            for answer in range(1, options.answers + 1):
                yield condition, (repeat - 1) * options.answers + answer
    else:
        yield None, repeat


def _check_words(cell: Cell, where: str) -> None:
    if cell.requested_ms is None or cell.middle_ms is None:
        return
    try:
        duration.phrase(cell.requested_ms, cell.middle_ms)
    except PromptRefused as error:
        raise UserError(f"{where}: {error}", 2) from None


def _cell_id(cell: Cell, agent: AgentConfig) -> str:
    """Over the agent's whole configuration (its account apart), the task and what is asked of it."""
    content = {name: getattr(cell, name) for name in (*_COLUMNS, *_SPEC) if name not in ("id", "position")}
    del content["cutoff_source"]
    content["agent"] = agent.model_dump(mode="json", exclude={"account"})
    return hashlib.sha256(canonical(content)).hexdigest()[:16]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
