"""Writes found tasks into a pack of the user's own, one task at a time, so that it can be stopped and run again."""

from __future__ import annotations

import os
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from task_packs.errors import PackError
from task_packs.harbor.task import read_task_toml
from task_packs.importers.protocol import Found, FoundTask, Write, task_folder
from task_packs.lock import Locked, read_lock, task_sha256, write_lock, write_text
from task_packs.manifest import PACK_FILE, Manifest
from task_packs.toml_text import toml_text

WORK = ".importing"
"""Directory for what is half written; whatever lies in it is nobody's."""


@dataclass
class Brought:
    """What an import did."""

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Task -> why it was not taken."""


def chosen(found: Found, manifest: Manifest, only: Sequence[str] = (), beyond: bool = False) -> list[FoundTask]:
    """The tasks to bring: those of the roster in its order, or `only` these; `beyond` adds what the roster lacks."""
    by_id = {task.id: task for task in found.tasks}
    roster = [entry.id for entry in manifest.task]
    if only:
        unknown = [task for task in only if task not in by_id]
        if unknown:
            raise PackError(f"task {unknown[0]!r} is not in this copy; it has {len(by_id)} others")
        return [by_id[task] for task in only]
    ids = [task for task in roster if task in by_id]
    return [by_id[task] for task in (*ids, *(sorted(set(by_id) - set(roster)) if beyond else ()))]


def bring(
    found: Found,
    manifest: Manifest,
    dest: Path,
    tasks: Sequence[FoundTask],
    said: Callable[[str], None] = lambda line: None,
) -> Brought:
    """Writes `tasks` below `dest`, with pack.toml and pack.lock. Run again, it goes on and changes only what differs.

    A task that cannot be taken is listed with its reason and the others go on. PackError when `dest` is not ours.
    """
    work = dest / WORK
    try:
        dest.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        for name, write in found.extra.items():
            _place(write, work, dest / name)
        locked = read_lock(dest)
        brought = Brought()
        kept = [task for task in tasks if _one(task, found, manifest, dest, work, locked, brought, said)]
        have = {*locked, *(task.id for task in kept)}
        if have:
            text = pack_text(manifest, found.settings, sorted(have), [task for task in have if _stepped(dest, task)])
            write_text(dest / PACK_FILE, text)
        shutil.rmtree(work, ignore_errors=True)
        return brought
    except OSError as error:
        raise PackError(f"{dest}: cannot be written: {error.strerror or error}; free some disk or look at it") from None


def _one(
    task: FoundTask,
    found: Found,
    manifest: Manifest,
    dest: Path,
    work: Path,
    locked: dict[str, Locked],
    brought: Brought,
    said: Callable[[str], None],
) -> bool:
    target = dest / "tasks" / task_folder(task.id)
    made = work / secrets.token_hex(8)
    try:
        made.mkdir()
        task.write(made)
        sha256 = task_sha256(made)
    except PackError as error:
        brought.refused[task.id] = str(error)
        said(f"{task.id}: not taken: {error}")
        return False
    was = locked.get(task.id)
    if was is not None and was.sha256 == sha256 and target.is_dir() and task_sha256(target) == sha256:
        brought.unchanged.append(task.id)
        return True
    _swap(made, target, work)
    source = f"{found.form}: {task.where}"
    locked[task.id] = Locked(task.id, sha256, source, found.commit, manifest.source.licence, task.frozen)
    write_lock(dest, locked)
    brought.written.append(task.id)
    said(f"{task.id}: taken from {task.where}")
    return True


def _place(write: Write, work: Path, target: Path) -> None:
    made = work / secrets.token_hex(8)
    made.mkdir()
    write(made)
    _swap(made, target, work)


def _swap(made: Path, target: Path, work: Path) -> None:
    """Puts a finished directory in its place; the place never holds half of one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.exists():
        os.rename(target, work / secrets.token_hex(8))
    os.rename(made, target)


def _stepped(dest: Path, task: str) -> bool:
    """Whether a task that is here has steps with a prompt each."""
    toml = dest / "tasks" / task_folder(task) / "task.toml"
    try:
        return toml.is_file() and bool(read_task_toml(toml).steps)
    except PackError:
        return False


def pack_text(
    manifest: Manifest, settings: Mapping[str, Any], have: Sequence[str], stepped: Collection[str] = ()
) -> str:
    """pack.toml of the user's pack: the family's own, with what the source form needs and where each task lies.

    A task that the roster lacks has the requests that most of it have, and none where it is one of the `stepped`.
    """
    tables = manifest.model_dump(mode="python", by_alias=True, exclude_unset=True, exclude_none=True)
    for key, value in settings.items():
        tables[key] = {**tables.get(key, {}), **value} if isinstance(value, Mapping) else value
    entries = {entry["id"]: {**entry, "path": f"tasks/{task_folder(entry['id'])}"} for entry in tables["task"]}
    usual = Counter(entry.requests for entry in manifest.task if entry.requests).most_common(1)
    for task in have:
        if task not in entries:
            requests = list(usual[0][0]) if usual else ["1m", "5m", "20m"]
            asked = {"steps": True} if task in stepped else {"requests": requests}
            entries[task] = {"id": task, "path": f"tasks/{task_folder(task)}", **asked}
    tables["task"] = list(entries.values())
    return "# Written by `agenttime packs import`; run it again after a change of your copy.\n" + toml_text(tables)
