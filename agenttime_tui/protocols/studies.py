"""Which study asks what: from a cell and its task to the outline of one run."""

from __future__ import annotations

from dataclasses import replace

from agenttime_tui.campaign.cells import Cell
from agenttime_tui.errors import UserError
from agenttime_tui.protocols import aftersight, duration, eta, forecast, natural, same_turn
from agenttime_tui.protocols.outline import Asked, NotNow, Outline, Parent
from agenttime_tui.protocols.prompt import Prompt, PromptRefused, make_prompt
from agenttime_tui.protocols.retrospection.question import QUESTION, REBUILT
from task_packs import eta as eta_pack
from task_packs.errors import PackError
from task_packs.task import Task

RUNNABLE = ("duration", "natural", "forecast", "retrospection", "same-turn", "self-score", "eta")
"""Studies that can be launched."""

ASKED_OF_A_RUN = ("retrospection", "self-score")
"""Studies whose cells wait for a finished run of the same agent and task."""

ANYONE = Parent("", "natural", 0.0)
"""Stands for a parent that is not known yet, where only the question is wanted."""


def on_machine(cell: Cell) -> bool:
    """Whether a cell is run on a machine; the others ask a model from here, with a rebuilt transcript."""
    return not (cell.study == "retrospection" and cell.variant in REBUILT)


def outline_of(cell: Cell, task: Task, parent: Parent = ANYONE) -> Outline:
    """The steps of a cell; UserError that names the task where it may not be delivered."""
    where = f'task "{task.id}" of pack "{task.pack.name}"'
    try:
        return _with_task(_outline(cell, task, parent), cell, task)
    except (PackError, PromptRefused, NotNow) as error:
        raise UserError(f"{where}: {error}", 2) from None


def delivered(cell: Cell, task: Task) -> Prompt:
    """The exact message that opens a cell's session, or that ends a replay; UserError as `outline_of`."""
    if not on_machine(cell):
        return make_prompt(QUESTION.encode())
    return outline_of(cell, task).steps[0].prompt


def _outline(cell: Cell, task: Task, parent: Parent) -> Outline:
    study, variant = cell.study, cell.variant or ""
    if task.steps and study != "natural":
        raise NotNow(natural.only_natural(study, [step.name for step in task.steps]))
    if study == "duration" and cell.requested_ms is not None and cell.middle_ms is not None:
        prompt = duration.prompt(task.instruction(), cell.requested_ms, cell.middle_ms, cell.wording)
        return Outline((Asked(prompt, cell.cutoff_ms, requested_ms=cell.requested_ms),))
    if study == "natural":
        return natural.outline(task, cell.cutoff_ms)
    if study == "forecast":
        return forecast.outline(task.instruction(), variant or "paper", task.pack.family)
    if study == "same-turn":
        return same_turn.outline(task.instruction(), cell.cutoff_ms)
    if study == "self-score":
        return aftersight.self_score()
    if study == "retrospection":
        return aftersight.retrospection(variant, parent)
    if study == "eta":
        return eta.outline(eta_pack.disclosure(task), cell.cutoff_ms)
    raise NotNow(f'study "{study}" cannot be launched; launchable are {", ".join(RUNNABLE)}')


def _with_task(outline: Outline, cell: Cell, task: Task) -> Outline:
    """The outline with what the task itself says of its prompt and tools, where the agent works on it."""
    if outline.start != "task":
        return outline
    clock_only = task.pack.manifest.prompt.tools == "clock-only"
    steps = []
    for step in outline.steps:
        turn = replace(step.turn, system=task.system)
        if clock_only and turn.tools == "native":
            turn = replace(turn, tools="clock")
        if turn.tools == "native":
            turn = replace(turn, servers=task.harbor.mcp_servers)
        steps.append(replace(step, turn=turn))
    return replace(outline, steps=tuple(steps))
