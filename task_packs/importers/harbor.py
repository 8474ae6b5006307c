"""Harbor task directories, schema 1.0 to 1.4: taken as they are, without what no agent and no grader needs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from task_packs.errors import PackError
from task_packs.harbor.task import hindrance, read_instruction, read_task_toml
from task_packs.importers.protocol import Found, FoundTask, task_folder
from task_packs.importers.source import commit_of
from task_packs.importers.trees import copy_tree
from task_packs.manifest import Manifest
from task_packs.steps.step import steps_of

DEEP_AT_MOST = 5
HIDDEN = frozenset({"cheat"})
"""Left behind altogether: neither agent nor grader needs it."""


class Harbor:
    """A task directory, or a tree with such directories anywhere in it."""

    form = "Harbor task directories"

    def find(self, path: Path, manifest: Manifest, frozen: Mapping[str, str]) -> Found:
        """The task directories below `path`, each named by its directory."""
        top = path.resolve()
        ids = {task_folder(entry.id): entry.id for entry in manifest.task}
        tasks: dict[str, FoundTask] = {}
        broken: dict[str, str] = {}
        for folder in task_directories(path):
            name = ids.get(folder.resolve().name, folder.resolve().name)
            if name in tasks or name in broken:
                continue
            where = folder.relative_to(path).as_posix() if folder != path else name
            try:
                if not folder.resolve().is_relative_to(top):
                    raise PackError(f"{folder}: is a link out of {path}; put the directory itself there")
                note = _look(folder)
            except PackError as error:
                broken[name] = str(error)
                continue
            tasks[name] = FoundTask(name, partial(_write, folder), where, note)
        if not tasks and not broken:
            raise PackError(f"{path}: holds no Harbor task directory (a directory with task.toml)")
        absent = {entry.id: "no task directory of this name" for entry in manifest.task if entry.id not in tasks}
        return Found(
            self.form, tuple(tasks.values()), absent | broken, commit=commit_of(path),
            settings={"environment": {"user": "root"}},
        )  # fmt: skip


def task_directories(path: Path) -> Iterator[Path]:
    """Directories with a task.toml at `path` or below it; tasks lie not within tasks."""
    for folder, folders, files in os.walk(path):
        here = Path(folder)
        if "task.toml" in files:
            folders.clear()
            yield here
        elif len(here.relative_to(path).parts) >= DEEP_AT_MOST:
            folders.clear()
        else:
            links = [name for name in folders if (here / name).is_symlink() and (here / name / "task.toml").is_file()]
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in links)
            yield from (here / name for name in sorted(links))


def _look(folder: Path) -> str:
    """Reads what must be readable; what stands in the way of a run. PackError for a task that is no task."""
    read_task_toml(folder / "task.toml")
    steps = steps_of(folder, 0)
    if steps:
        for step in steps:
            step.text, step.test  # noqa: B018
        return hindrance(folder)
    if not read_instruction(folder / "instruction.md").strip():
        raise PackError(f"{folder / 'instruction.md'}: is empty")
    if not (folder / "tests/test.sh").is_file():
        raise PackError(f"{folder}/tests/test.sh: is missing: nothing could grade this task")
    return hindrance(folder)


def _write(folder: Path, target: Path) -> None:
    copy_tree(folder, target, hidden=HIDDEN)
