"""Turns a directory into a tar whose bytes depend on nothing but names and contents, so its hash is stable."""

from __future__ import annotations

import fnmatch
import io
import os
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

from task_packs.errors import PackError

MTIME_S = 315_619_200
"""2 January 1980: constant, and not before 1980, which zip writers inside a task refuse."""


def tar_tree(
    root: Path, prefix: str = "", owner: int = 0, keep: Callable[[str], bool] = lambda name: True, top: bool = False
) -> bytes:
    """A tar of the files below `root` that `keep` (given the path relative to it) wants, sorted, owned by `owner`.

    Names get `prefix` (without slashes at its ends); `top` adds the directory `prefix` itself as first entry.
    Links must stay inside `root`; other file kinds are refused (PackError).
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        if top:
            archive.addfile(_entry(prefix, tarfile.DIRTYPE, 0o755, owner))
        for path in sorted(walk(root), key=lambda item: item.relative_to(root).parts):
            name = path.relative_to(root).as_posix()
            if keep(name):
                _add(archive, root, path, f"{prefix}/{name}" if prefix else name, owner)
    return buffer.getvalue()


def tar_at(source: Path, name: str) -> bytes:
    """A tar of one file, or of a directory with all below it, under `name`; of nothing there an empty directory."""
    if not source.is_file():
        return tar_tree(source, name, top=True)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, source.parent, source, name, 0)
    return buffer.getvalue()


def without(tar: bytes, patterns: Sequence[str]) -> bytes:
    """A tar without the entries of which any part of the name matches a pattern, as `tar --exclude` has it."""
    if not patterns:
        return tar
    buffer = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(tar)) as archive,
        tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as made,
    ):
        for entry in archive:
            parts = entry.name.split("/")
            ways = {"/".join(parts[first:last]) for last in range(1, len(parts) + 1) for first in range(last)}
            if not any(fnmatch.fnmatchcase(way, pattern.removeprefix("./")) for way in ways for pattern in patterns):
                made.addfile(entry, archive.extractfile(entry) if entry.isfile() else None)
    return buffer.getvalue()


def lies_below(path: Path, root: Path) -> bool:
    """Whether a path is in a directory, links followed; links that go in a ring lead nowhere, and so not out."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def walk(root: Path) -> list[Path]:
    """Every directory, file and link below `root`; links to directories are not entered."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        found += [Path(folder, name) for name in (*folders, *files)]
    return found


def _add(archive: tarfile.TarFile, root: Path, path: Path, name: str, owner: int) -> None:
    if path.is_symlink():
        target = os.readlink(path)
        if os.path.isabs(target) or not lies_below(path, root):
            raise PackError(f"{path}: is a link out of {root}; put the file itself there")
        entry = _entry(name, tarfile.SYMTYPE, 0o777, owner)
        entry.linkname = target
        archive.addfile(entry)
    elif path.is_dir():
        archive.addfile(_entry(name, tarfile.DIRTYPE, 0o755, owner))
    elif path.is_file():
        data = path.read_bytes()
        # The execute bit does not survive every way a package is installed, a shebang does.
        runs = data.startswith(b"#!") or path.stat().st_mode & 0o100
        entry = _entry(name, tarfile.REGTYPE, 0o755 if runs else 0o644, owner)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    else:
        raise PackError(f"{path}: is neither file, directory nor link")


def _entry(name: str, kind: bytes, mode: int, owner: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.mode = mode
    entry.uid = entry.gid = owner
    entry.mtime = MTIME_S
    return entry


def interpreter(script: Path) -> list[str]:
    """What a script names in its first line, else a shell: the execute bit may have been lost."""
    try:
        with script.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return ["/bin/sh"]
    return first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else ["/bin/sh"]
