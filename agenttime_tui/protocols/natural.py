"""The natural-runtime study: the native message alone, no request; how long does the agent take by itself."""

from __future__ import annotations

from collections.abc import Sequence

from agenttime_tui.protocols import duration
from agenttime_tui.protocols.outline import Asked, Outline
from agenttime_tui.protocols.prompt import Cutoff, Prompt, check_native, make_prompt
from task_packs.steps.prompts import step_instruction
from task_packs.task import Task

DEFAULT_CUTOFF_MS = 24 * 3_600_000
"""For a task without requests. The published natural runs had no cap; a rented machine needs one."""

DAY_CAP = "the study's default of 24 h"


def prompt(native: bytes) -> Prompt:
    """The native bytes and nothing else; PromptRefused when they are empty or not UTF-8."""
    check_native(native)
    return make_prompt(native)


def outline(task: Task, cutoff_ms: int) -> Outline:
    """One session, or a new one for each step of the task, whose times make one and have one cutoff."""
    if not task.steps:
        return Outline((Asked(prompt(task.instruction()), cutoff_ms),))
    return Outline(tuple(
        Asked(prompt(step_instruction(task, step)), cutoff_ms, step.name, part=step.name) for step in task.steps
    ))  # fmt: skip


def only_natural(study: str, steps: Sequence[str] = ()) -> str:
    """Why another study cannot be asked of a task with several prompts, as what follows "it"."""
    many = f"{len(steps)} steps with a prompt each ({', '.join(steps)})" if steps else "steps with a prompt each"
    return (
        f"has {many}, and a request, a forecast or a question is about one prompt: "
        f"only the study natural can be asked of it, not {study}"
    )


def cutoff(requests_ms: Sequence[int]) -> Cutoff:
    """Twice the task's longest request where it has requests, else 24 h; the agent is told neither."""
    if requests_ms:
        return duration.cutoff(requests_ms)
    return Cutoff(DEFAULT_CUTOFF_MS, DAY_CAP)
