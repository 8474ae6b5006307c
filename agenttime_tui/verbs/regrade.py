"""Grades the verified copy of what a run left, in a container on this side: again, or for the first time by a judge."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttime_tui.answering import fingerprint
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.outputs import copy_outputs, is_copied
from agenttime_tui.fleet.visit import visit
from agenttime_tui.harness.message import last_message
from agenttime_tui.look.sanitise import clean
from agenttime_tui.verbs.asking import found_run
from agenttime_tui.verbs.context import Context
from task_packs.errors import ImageError, PackError
from task_packs.grading import RawGrade
from task_packs.load import Task
from task_packs.session_files import session_tar

TAIL_CHARS = 4000


def regraded(
    context: Context,
    run: str,
    task: Task,
    spec: Mapping[str, Any],
    collected: Sequence[Mapping[str, Any]],
    out: bytes,
) -> dict[str, Any]:
    """The data of a `graded` record; UserError where no copy can be had or no engine answers here."""
    said = f"task {task.id} of pack {task.pack.name} is graded on its machine"
    if task.steps:
        raise UserError(
            f"{said}, after each of its {len(task.steps)} steps, and what they left is gone: launch it again"
        )
    if task.settle == "keep":
        raise UserError(f"{said}, by what its session left running, and that is gone: launch it again")
    base = {"where": "operator", "grader": fingerprint(task), "flags": ["graded from its copy"]}
    key = next(iter(task.pack.manifest.needs.keys), "")
    if task.judged and key and not os.environ.get(key):
        return {**base, "status": "not_graded", "detail": f"the judge {task.grade.judge} has no key: set {key}"}
    workdir = str((spec.get("environment") or {}).get("workdir", ""))
    items = [item for one in collected for item in one.get("manifest", ()) if item.get("path") == workdir]
    if not items or "file" not in items[0]:
        raise UserError(f"{said}, and nothing of its working directory was collected: launch it again")
    copy = _copied(context, run, items)
    try:
        raw, image = _graded(context, task, copy, _session(out) if task.grade.session else b"", said)
    except (ImageError, PackError) as error:
        return {**base, "status": "grader_error", "detail": str(error)}
    name, reward = ("reward.json", raw.reward_json) if raw.reward_json is not None else ("reward.txt", raw.reward_txt)
    return {
        **base,
        "grader": {**fingerprint(task), "image_id": image},
        "code": raw.code,
        "reward": None if reward is None else {"name": name, "text": reward.decode("utf-8", "replace")},
        "stdout": masked(raw.stdout.decode("utf-8", "replace"), task)[-TAIL_CHARS:],
    }


def masked(text: str, task: Task) -> str:
    """The text without the values of the grader's own variables, which may be keys."""
    for name in sorted(task.verifier_names):
        if secret := os.environ.get(name):
            text = text.replace(secret, "*" * len(secret))
    return text


def _session(out: bytes) -> bytes:
    return session_tar(out, (last_message(out) or "").encode())


def _copied(context: Context, run: str, items: Sequence[Mapping[str, Any]]) -> Path:
    """The copy of the working directory, brought here first where it is not, and its hash compared."""
    directory = context.settings.home / "outputs" / run
    if not is_copied(directory, items):
        there, config, _ = found_run(context, run)

        async def bring() -> None:
            async with visit(context.settings, str(there.machine), config) as visited:
                await copy_outputs(visited.client, run, items, directory)

        asyncio.run(bring())
    return directory / str(items[0]["file"])


def _graded(context: Context, task: Task, copy: Path, session: bytes, said: str) -> tuple[RawGrade, str]:
    from docker.errors import DockerException

    from agenttime_tui.verbs.packs import engine_here
    from task_packs.container_check import grade_copy

    client = engine_here()
    if client is None:
        raise UserError(f"{said}; to grade its copy here, a container engine must answer (DOCKER_HOST)")
    try:
        log = (lambda line: None) if context.json else (lambda line: context.tell(clean(line)))
        return grade_copy(client, context.settings.cache / "images", log, task, copy, session, os.environ)
    except DockerException as error:
        raise UserError(f"{said}; the engine here did not do as it was asked: {clean(str(error))[:300]}") from None
    finally:
        client.close()
