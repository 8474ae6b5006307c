"""`packs`: what there is to run, and whether it is sound."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agenttime_tui.engines import engine_here
from agenttime_tui.errors import UserError
from agenttime_tui.look import durations
from agenttime_tui.look.sanitise import clean
from agenttime_tui.protocols import duration
from agenttime_tui.protocols.prompt import PromptRefused
from agenttime_tui.verbs.context import Context, table
from task_packs.checking.containers import container_grader
from task_packs.checking.pack import Grader, check_pack, grade_in_directory, verify_pack
from task_packs.errors import PackError
from task_packs.grading import Outcome
from task_packs.load import BUILT_IN, Pack, find_packs, load_pack, study_families
from task_packs.surroundings import brought
from task_packs.task import Task

CELLS_PER_TASK = 3
ENDINGS = (signal.SIGTERM, signal.SIGHUP)
"""Signals at which nothing of a check may stay on the engine."""
LIVE = "Graded live: what a session leaves is kept alive, and its slot held, until it is graded or released."


def listed(context: Context) -> int:
    """The study's families with their tasks, ranges and states, then the other packs."""
    packs = find_packs(context.pack_dirs)
    families = [pack for pack in packs if pack.name in study_families()]
    others = [pack for pack in packs if pack.name not in study_families()]
    tasks = sum(len(pack.tasks) for pack in find_packs() if pack.name in study_families())
    if context.json:
        context.answer(
            {
                "packs": [_pack(pack) for pack in packs],
                "families": len(families),
                "tasks": tasks,
                "cells": tasks * CELLS_PER_TASK,
            }
        )
        return 0
    rows = [["pack", "title", "tasks", "requests", "state", "next"]]
    rows += [_row(pack) for pack in families]
    for line in table([*rows, *map(_row, others)], right=frozenset({2})):
        context.say(line)
    context.say(f"\n{len(families)} families, {tasks} tasks, {tasks * CELLS_PER_TASK} cells an agent")
    context.say(f"{len(others)} other packs: {', '.join(pack.name for pack in others)}")
    return 0


def _row(pack: Pack) -> list[str]:
    stands = pack.standing
    return [pack.name, clean(pack.title), str(len(pack.tasks)), _range(pack), clean(stands.text), stands.command]


def show(context: Context) -> int:
    """One pack and its tasks."""
    pack = load_pack(context.args.pack, context.pack_dirs)
    if context.json:
        context.answer({"pack": _pack(pack)})
        return 0
    context.say(f"{pack.name}: {clean(pack.title)}, {clean(pack.state)}")
    if pack.manifest.about:
        context.say(f"  {clean(pack.manifest.about)}")
    if pack.grade.where == "live":
        context.say(f"  {LIVE}")
    if pack.grade.judge:
        keys = " and ".join(pack.manifest.needs.keys) or "its key"
        context.say(f"  Judged by {pack.grade.judge} on this side, with {keys} set; again with agenttime grade ID.")
    rows = [
        [task.id, *_requests(task), task.track or task.settle, str(task.path), _brings(task)] for task in pack.tasks
    ]
    for line in table(rows, right=frozenset({1, 2, 3})):
        context.say("  " + line)
    return 0


def check(context: Context) -> int:
    """Reads everything, then grades the untouched start (must fail) and the solution (must pass) of every task."""
    pack = load_pack(_place(context.args.pack), context.pack_dirs)
    if pack.missing == len(pack.tasks) and pack.manifest.source.access != "bundled":
        stands = pack.standing
        raise UserError(f"pack {pack.name} {stands.text}: nothing is here to check; first {stands.command}")
    findings = [*check_pack(pack.path), *_unrendered(pack)]
    if not findings:
        log = (lambda line: None) if context.json else context.say
        with _grader(context, pack, log) as grader:
            findings = verify_pack(pack, grader, log)
    if context.json:
        context.answer({"pack": pack.name, "sound": not findings, "findings": findings})
    else:
        for finding in findings:
            context.say(f"! {clean(finding)}")
        here = f" ({len(pack.tasks) - pack.missing} of {len(pack.tasks)} tasks are here)" if pack.missing else ""
        context.say(f"{pack.name}: {'sound' if not findings else f'{len(findings)} findings'}{here}")
        if not findings:
            _said_of_use(context, pack)
    return 1 if findings else 0


def _said_of_use(context: Context, pack: Pack) -> None:
    """What stands between a sound pack and its first run: where plans look for it."""
    known = {one.path.resolve() for one in find_packs(context.pack_dirs)}
    if pack.path.resolve() not in known:
        place = context.settings.home / "packs" / pack.name
        context.say(f"plans find it once it lies in {place}: a link will do")


def _unrendered(pack: Pack) -> list[str]:
    """A sentence for each request of a task that its prompt cannot be written for."""
    found = []
    for task in pack.tasks:
        for asked_ms in task.requests_ms if task.present else ():
            try:
                duration.prompt(task.instruction(), asked_ms, task.requests["middle"])
            except PromptRefused as error:
                found.append(f"{task.path}: no prompt for a request of {asked_ms / 1000:g} s: {error}")
            except PackError:
                break  # its text cannot be read: that is a finding already
    return found


@contextmanager
def _grader(context: Context, pack: Pack, log: Callable[[str], None]) -> Iterator[Grader]:
    """What grades a pack's tasks: all but what comes with the program runs in containers where an engine answers."""
    ours = pack.path.resolve().is_relative_to(BUILT_IN.resolve())
    client = None if ours else engine_here()
    if client is None:
        if not ours:
            log("no container engine answers here: checked in a directory; its network and what it hides were not")
        yield in_directory_or_not
        return
    was = {each: signal.signal(each, _ended) for each in ENDINGS}
    try:
        yield container_grader(client, context.settings.cache / "images", log)
    finally:
        client.close()
        for each, handler in was.items():
            signal.signal(each, handler)


def _ended(number: int, frame: object) -> None:
    """Ends the verb by way of all that removes what it made on the engine, once."""
    for each in ENDINGS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def in_directory_or_not(task: Task, solve: bool) -> Outcome:
    """Grades in a directory of this computer, unless the task needs a container."""
    if task.contained:
        return Outcome("not_graded", detail="it takes a container engine, and none answers here")
    return grade_in_directory(task, solve)


def _place(text: str) -> str | Path:
    path = Path(text)
    if path.is_dir() or path.is_file():
        return path
    if "/" in text:
        raise UserError(f"{text} does not exist: name a directory with a pack.toml, or a pack", 2)
    return text


def _requests(task: Task) -> list[str]:
    return [durations.asked_text(ms / 1000) for ms in task.requests_ms] or ["", "", ""]


def _brings(task: Task) -> str:
    """What stands beside its container, or why it cannot be launched; empty where there is neither."""
    try:
        return clean(f"cannot be launched: it {hindrance}" if (hindrance := task.hindrance) else brought(task))
    except PackError as error:
        return clean(str(error))


def _range(pack: Pack) -> str:
    shortest_ms, longest_ms = _extent_ms(pack)
    return durations.extent(shortest_ms / 1000, longest_ms / 1000) if longest_ms else "none"


def _extent_ms(pack: Pack) -> tuple[int, int]:
    every = [ms for task in pack.tasks for ms in task.requests_ms]
    return min(every, default=0), max(every, default=0)


def _pack(pack: Pack) -> dict[str, object]:
    return {
        "name": pack.name,
        "family": pack.family,
        "title": pack.title,
        "state": pack.standing.state,
        "standing": pack.standing.text,
        "next": pack.standing.command,
        "gated": pack.manifest.gated,
        "live": pack.grade.where == "live",
        "requests_s": [_extent_ms(pack)[0] / 1000, _extent_ms(pack)[1] / 1000],
        "range": _range(pack),
        "tasks": [
            {
                "id": task.id,
                "requests_s": [ms / 1000 for ms in task.requests_ms],
                "present": task.present,
                "brings": _brings(task),
            }
            for task in pack.tasks
        ],
        "cells": sum(len(task.requests_ms) or 1 for task in pack.tasks),
    }
