"""Has a run graded from its copy: what it left is brought here and verified, then graded in a bounded process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agenttime_tui.config import Settings
from agenttime_tui.copies import Copy, copy_of, masked, without_key
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.client import Client
from agenttime_tui.fleet.errors import FleetError
from agenttime_tui.fleet.outputs import copy_outputs
from agenttime_tui.judge import later
from store.reader import Reader
from task_packs.errors import PackError
from task_packs.task import Task

IMAGES_S = 3600.0
"""How long images may take to be made, beside the grader's own time."""
FAREWELL_S = 20.0
PACKAGE = Path(__file__).resolve().parents[2]


class Away(Exception):
    """What is to be graded cannot be brought here now; the sentence says why."""


async def judged(
    database: Path, settings: Settings, run: str, task: Task, client: Client | None, env: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """The data of a `graded` record; what keeps it from being graded stands in it. Away where it is to be tried again.

    A cancel ends the grader and its containers.
    """

    def found() -> Copy:
        with Reader(database) as reader:
            return copy_of(reader, settings.home, run, task)

    try:
        copy = await asyncio.to_thread(found)
    except UserError as error:
        return {"where": "operator", "status": "not_graded", "detail": str(error)}
    if (ungraded := without_key(copy, env)) is not None:
        return ungraded
    try:
        if not await asyncio.to_thread(lambda: copy.here):
            await _brought(copy, client)
        return await _graded(database, settings, copy, env)
    except Away:
        raise
    except UserError as error:
        return {**copy.base, "status": "not_graded", "detail": f"{error}; then: {later(run)}"}
    except PackError as error:
        return {**copy.base, "status": "grader_error", "detail": str(error)}
    except OSError as error:
        raise Away(f"run {run[:8]} is not graded yet: {error.strerror or error}") from None


async def _brought(copy: Copy, client: Client | None) -> None:
    if client is None:
        raise Away(f"run {copy.run[:8]} is graded once its machine is back")
    try:
        await copy_outputs(client, copy.run, copy.items, copy.directory)
    except FleetError as error:
        if error.kind == "unreachable":
            raise Away(f"run {copy.run[:8]} is graded once its machine is back: {error}") from None
        raise


async def _graded(database: Path, settings: Settings, copy: Copy, env: Mapping[str, str]) -> dict[str, Any]:
    task, within_s = copy.task, copy.task.grader_timeout_ms / 1000 + IMAGES_S
    asked = {
        "database": str(database), "home": str(settings.home), "images": str(settings.cache / "images"),
        "run": copy.run, "pack": str(task.pack.path), "task": task.id,
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "agenttime_tui.copies", stdin=PIPE, stdout=PIPE, stderr=PIPE,
        env={**env, "PYTHONPATH": os.pathsep.join(filter(None, (str(PACKAGE), env.get("PYTHONPATH"))))},
        start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(within_s):
            out, err = await process.communicate(json.dumps(asked).encode())
    except TimeoutError:
        return {**copy.base, "status": "grader_error", "detail": f"the grader did not end within {within_s:.0f} s"}
    finally:
        await _ended(process)
    if process.returncode != 0:
        last = (err.decode("utf-8", "replace").strip().splitlines() or ["no word"])[-1]
        raise UserError(f"its grader's process ended with {process.returncode}: {masked(last, task, env)[:300]}")
    said = json.loads(out)
    if "refused" in said:
        raise UserError(str(said["refused"]))
    return dict(said["data"])


async def _ended(process: Process) -> None:
    """Ends the grader's process: asked first, because it removes its containers."""
    if process.returncode is not None:
        return
    for end in (process.terminate, process.kill):
        try:
            end()
            async with asyncio.timeout(FAREWELL_S):
                await process.wait()
            return
        except (ProcessLookupError, TimeoutError):
            continue
