"""Takes files out of a user's copy, directory or archive, without ever leaving it or being flooded by it."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from task_packs.archive import lies_below
from task_packs.errors import PackError

FILES_AT_MOST = 50_000
BYTES_AT_MOST = 4 << 30
RATIO_AT_MOST = 200
"""An archive that unpacks to more than this many times its size (above RATIO_FLOOR_BYTES) is a bomb."""
RATIO_FLOOR_BYTES = 64 << 20
NOT_TAKEN = {".git", "__pycache__", ".DS_Store"}
CHUNK_BYTES = 1 << 20

Keep = Callable[[str], bool]
"""Whether the file of this path, relative to the top, is wanted."""


def everything(name: str) -> bool:
    """Keeps every file."""
    return True


class Budget:
    """Counts what one task takes; PackError when it is more than a task can be."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._files = 0
        self._bytes = 0

    def take(self, size_bytes: int) -> None:
        """One more file of that size."""
        self._files += 1
        self._bytes += size_bytes
        if self._files > FILES_AT_MOST:
            raise PackError(f"{self._source}: holds more than {FILES_AT_MOST} files, which is no task")
        if self._bytes > BYTES_AT_MOST:
            raise PackError(f"{self._source}: is larger than {BYTES_AT_MOST >> 30} GiB, which is no task")


def copy_tree(source: Path, target: Path, keep: Keep = everything, hidden: frozenset[str] = frozenset()) -> None:
    """Copies the wanted files below `source`; `hidden` names top directories that are left out.

    PackError for a link out of `source` and for anything that is neither file, directory nor link.
    """
    budget = Budget(source)
    for path in _walk(source, hidden):
        name = path.relative_to(source).as_posix()
        if path.is_symlink():
            _copy_link(path, target / name, source)
        elif path.is_dir():
            (target / name).mkdir(parents=True, exist_ok=True)
        elif keep(name):
            info = path.stat()
            if not stat.S_ISREG(info.st_mode):
                raise PackError(f"{path}: is neither file, directory nor link")
            budget.take(info.st_size)
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / name)
            (target / name).chmod(0o755 if info.st_mode & 0o100 else 0o644)


def _walk(source: Path, hidden: frozenset[str]) -> Iterator[Path]:
    for folder, folders, files in os.walk(source):
        left_out = NOT_TAKEN | (hidden if Path(folder) == source else frozenset())
        folders[:] = sorted(name for name in folders if name not in left_out)
        for name in (*folders, *sorted(files)):
            if name not in left_out:
                yield Path(folder, name)


def _copy_link(path: Path, target: Path, source: Path) -> None:
    aim = os.readlink(path)
    if os.path.isabs(aim) or not lies_below(path, source):
        raise PackError(f"{path}: is a link out of {source}; put the file itself there")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(aim)


def read_within(root: Path, path: Path) -> bytes:
    """The bytes of a file that must lie below `root`, links followed; PackError otherwise."""
    try:
        if not path.resolve(strict=True).is_relative_to(root.resolve()):
            raise PackError(f"{path}: is a link out of {root}; put the file itself there")
        if not path.is_file():
            raise PackError(f"{path}: is not a file")
        return path.read_bytes()
    except OSError as error:
        raise PackError(f"{path}: cannot be read: {error.strerror}") from None
    except RuntimeError:
        raise PackError(f"{path}: cannot be read: its links go in a ring") from None


def unpack_archive(archive: Path, target: Path, keep: Keep = everything) -> None:
    """Unpacks a zip or tar file; PackError for names out of it, links out of it, devices, and archive bombs."""
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, target, keep)
        elif tarfile.is_tarfile(archive):
            _unpack_tar(archive, target, keep)
        else:
            raise PackError(f"{archive}: is neither a zip nor a tar file")
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, PackError):
            raise
        raise PackError(f"{archive}: cannot be unpacked: {error}") from None
    except OSError as error:
        raise PackError(f"{archive}: cannot be unpacked: {error.strerror or error}") from None


def _unpack_zip(archive: Path, target: Path, keep: Keep) -> None:
    budget = _ArchiveBudget(archive)
    with zipfile.ZipFile(archive) as opened:
        for member in opened.infolist():
            name = _safe(archive, member.filename)
            if stat.S_ISLNK(member.external_attr >> 16):
                raise PackError(f"{archive}: {member.filename} is a link; archives with links are not taken")
            if member.is_dir() or not name or not keep(name):
                continue
            with opened.open(member) as data:
                _write(data, target / name, budget, runs=bool((member.external_attr >> 16) & 0o100))


def _unpack_tar(archive: Path, target: Path, keep: Keep) -> None:
    budget = _ArchiveBudget(archive)
    with tarfile.open(archive) as opened:
        for member in opened:
            name = _safe(archive, member.name)
            if member.isdir() or not name:
                continue
            if member.issym() or member.islnk():
                raise PackError(f"{archive}: {member.name} is a link; archives with links are not taken")
            data = opened.extractfile(member) if member.isfile() else None
            if data is None:
                raise PackError(f"{archive}: {member.name} is neither file nor directory")
            if keep(name):
                _write(data, target / name, budget, runs=bool(member.mode & 0o100))


class _ArchiveBudget(Budget):
    """Also compares what comes out with the size of the archive."""

    def __init__(self, archive: Path) -> None:
        super().__init__(archive)
        self._archive = archive
        self._size_bytes = max(1, archive.stat().st_size)
        self._out_bytes = 0

    def more(self, size_bytes: int) -> None:
        """Bytes that came out, whatever the archive's index claims."""
        self._out_bytes += size_bytes
        if self._out_bytes > BYTES_AT_MOST:
            raise PackError(f"{self._archive}: unpacks to more than {BYTES_AT_MOST >> 30} GiB, which is no task")
        if self._out_bytes > RATIO_FLOOR_BYTES and self._out_bytes > RATIO_AT_MOST * self._size_bytes:
            raise PackError(f"{self._archive}: unpacks to over {RATIO_AT_MOST} times its size: an archive bomb")


def _write(data: IO[bytes], target: Path, budget: _ArchiveBudget, runs: bool) -> None:
    budget.take(0)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        while chunk := data.read(CHUNK_BYTES):
            budget.more(len(chunk))
            file.write(chunk)
    target.chmod(0o755 if runs else 0o644)


def _safe(archive: Path, name: str) -> str:
    """A member's name as a relative path ('' for the top); PackError for one that leads out."""
    path = PurePosixPath(name)
    odd = "\\" in name or "\0" in name or (path.parts and ":" in path.parts[0])
    if odd or path.is_absolute() or ".." in path.parts:
        raise PackError(f"{archive}: holds the path {name!r}, which leads out of it")
    return "" if path == PurePosixPath(".") else path.as_posix()
