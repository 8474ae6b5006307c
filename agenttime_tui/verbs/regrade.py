"""Grades the verified copy of what a run left when it is asked for: again, or for the first time by a judge."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from agenttime_tui.copies import Copy, copy_of, grade_copied, without_key
from agenttime_tui.fleet.outputs import copy_outputs
from agenttime_tui.fleet.visit import visit
from agenttime_tui.look.sanitise import clean
from agenttime_tui.verbs.asking import found_run
from agenttime_tui.verbs.context import Context
from task_packs.task import Task


def regraded(context: Context, run: str, task: Task) -> dict[str, Any]:
    """The data of a `graded` record; UserError where no copy can be had or no engine answers here."""
    log = (lambda line: None) if context.json else (lambda line: context.tell(clean(line)))
    with context.reader() as reader:
        copy = copy_of(reader, context.settings.home, run, task)
        if (ungraded := without_key(copy, os.environ)) is not None:
            return ungraded
        if not copy.here:
            _bring(context, copy)
        return grade_copied(reader, copy, context.settings.cache / "images", log)


def _bring(context: Context, copy: Copy) -> None:
    there, config, _ = found_run(context, copy.run)

    async def bring() -> None:
        async with visit(context.settings, str(there.machine), config) as visited:
            await copy_outputs(visited.client, copy.run, copy.items, copy.directory)

    asyncio.run(bring())
