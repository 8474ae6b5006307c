"""The prompts of a task's steps as they are delivered, and the variables of their graders."""

from __future__ import annotations

from collections.abc import Mapping

from task_packs.harbor.variables import Known
from task_packs.manifest import PACK_FILE
from task_packs.steps.step import TaskStep, stripped
from task_packs.surroundings import container_env, filled
from task_packs.task import Task


def step_instruction(task: Task, step: TaskStep) -> bytes:
    """The native text of one step in UTF-8; what the pack removes must occur once in all of them together.

    PackError.
    """
    texts, strip = [one.text for one in task.steps], task.pack.manifest.prompt.strip
    return stripped(step.path / "instruction.md", step.text, texts, strip, task.pack.path / PACK_FILE)


def step_env(task: Task, step: TaskStep, known: Mapping[str, str]) -> dict[str, str]:
    """The variables of a step's grader: its container's and its own. PackError where one cannot be filled in."""
    own = f"{task.path / 'task.toml'}: verifier.env"
    return {**container_env(task, known), **filled(own, step.harbor.verifier_env, Known(known))}
