"""What is wrong with the files of a task with steps, without running anything."""

from __future__ import annotations

from collections.abc import Iterator

from task_packs.errors import PackError
from task_packs.steps.prompts import step_instruction
from task_packs.task import Task

REQUEST_SENTENCE = "Please work on this task for"


def stepped(task: Task) -> bool:
    """Whether a task has steps, by pack.toml or by a task.toml that can be read."""
    try:
        return task.entry.steps or bool(task.steps)
    except PackError:
        return False


def check_steps(task: Task) -> list[str]:
    """One sentence per finding."""
    return list(dict.fromkeys(_findings(task)))


def _findings(task: Task) -> Iterator[str]:
    try:
        steps = task.steps
    except PackError as error:
        yield str(error)
        return
    where = f"{task.pack.path}/pack.toml: task {task.id!r}"
    if not steps:
        yield f"{where}: says steps = true, and {task.path}/task.toml has no [[steps]]"
    elif task.requests_ms:
        yield f"{where}: has {len(steps)} steps, and requests are about one prompt: give steps = true in their place"
    for step in steps:
        solution = (step.solution_tar,) if step.solved or task.pack.manifest.source.access == "bundled" else ()
        for part in (step.tests_tar, step.workdir_tar, *solution):
            try:
                part()
            except (PackError, OSError) as error:
                yield str(error)
        try:
            if REQUEST_SENTENCE in step_instruction(task, step).decode():
                yield f"{step.path}/instruction.md: already holds {REQUEST_SENTENCE!r}"
        except PackError as error:
            yield str(error)
    try:
        task.workspace_tar()
    except (PackError, OSError) as error:
        yield str(error)
