"""What an agent finds in its working directory when a study does not start from the task's own files."""

from __future__ import annotations

import io
import tarfile
from pathlib import PurePosixPath

from agenttime_tui.protocols.outline import NotNow, Start
from task_packs.archive import walk
from task_packs.task import Task

MTIME_S = 315_619_200
EVIDENCE = "evidence"
"""Folder of a task with what the forecasts' later variants show: docs/ and the probe pb."""


def start_tar(task: Task, start: Start) -> bytes:
    """The files of a start as a tar to be extracted at the root; NotNow where the task has no such evidence."""
    if start == "task":
        return task.workspace_tar()
    files: dict[str, tuple[bytes, int]] = {}
    if start != "empty":
        files["TASK.md"] = (task.instruction(), 0o444)
    if start in ("docs", "probe"):
        files |= _evidence(task, "docs", 0o444)
    if start == "probe":
        files |= _evidence(task, "pb", 0o555)
    return _tar(task, files)


def empties(task: Task, start: Start) -> bool:
    """Whether the working directory of the task's own image must be emptied first."""
    return start != "task" and task.builds and task.workdir.strip("/") != ""


def _evidence(task: Task, name: str, mode: int) -> dict[str, tuple[bytes, int]]:
    top = task.path / EVIDENCE / name
    if not top.exists():
        raise NotNow(f"{top}: is missing; forecasts with {name} need it there")
    if top.is_file():
        return {name: (top.read_bytes(), mode)}
    return {f"{name}/{path.relative_to(top).as_posix()}": (path.read_bytes(), mode) for path in walk(top)
            if path.is_file()}  # fmt: skip


def _tar(task: Task, files: dict[str, tuple[bytes, int]]) -> bytes:
    """The working directory, owned by the agent, with read-only files in folders that are not its own."""
    buffer = io.BytesIO()
    top = PurePosixPath(task.workdir.strip("/"))
    places = {top / name: entry for name, entry in files.items()}
    folders = {folder for place in (top, *places) for folder in place.parents} | {top}
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for folder in sorted(folder for folder in folders if folder == top or top in folder.parents):
            entry = tarfile.TarInfo(folder.as_posix())
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, MTIME_S
            entry.uid = entry.gid = task.uid if folder == top else 0
            archive.addfile(entry)
        for place, (data, mode) in sorted(places.items()):
            entry = tarfile.TarInfo(place.as_posix())
            entry.mode, entry.size, entry.mtime = mode, len(data), MTIME_S
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
