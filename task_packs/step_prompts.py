"""The prompts of a task's steps, as they are delivered."""

from __future__ import annotations

from task_packs.load import Task
from task_packs.manifest import PACK_FILE
from task_packs.task_steps import TaskStep, stripped


def step_instruction(task: Task, step: TaskStep) -> bytes:
    """The native text of one step in UTF-8; what the pack removes must occur once in all of them together.

    PackError.
    """
    texts, strip = [one.text for one in task.steps], task.pack.manifest.prompt.strip
    return stripped(step.path / "instruction.md", step.text, texts, strip, task.pack.path / PACK_FILE)
