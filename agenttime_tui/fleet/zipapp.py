"""Packs the remote agent: one small zipapp, the same bytes for the same sources, named by the hash of the sources.

Beside its entry and a package that loads the rest (packed.py) it holds one inner archive of all the sources: they are
compressed as one piece, and a machine unpacks them as they are.
"""

from __future__ import annotations

import functools
import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from importlib import resources
from importlib.resources.abc import Traversable

from agenttime_tui.fleet.packed import INNER
from agenttime_tui.fleet.slim import slim

SIZE_CAP_BYTES = 100_000
SHEBANG = b"#!/usr/bin/env python3\n"
MAIN = (
    b'"""Starts the agent."""\n\nimport sys\n\nfrom remote_agent.__main__ import main\n\nsys.exit(main(sys.argv[1:]))\n'
)
_EPOCH = (1980, 1, 1, 0, 0, 0)


@functools.cache
def sources() -> tuple[tuple[str, bytes], ...]:
    """(path, content) of every file that goes to a machine, sorted by path; `__main__.py` is the entry."""
    found = dict(_walk(resources.files("remote_agent"), "remote_agent"))
    found["__main__.py"] = MAIN
    return tuple(sorted(found.items()))


@functools.cache
def source_hash() -> str:
    """16 hex digits that name this version of the agent: SHA-256 over paths and contents, not over the archive."""
    digest = hashlib.sha256()
    for path, content in sources():
        digest.update(b"%s\0%d\0" % (path.encode(), len(content)))
        digest.update(content)
    return digest.hexdigest()[:16]


@functools.cache
def agent_archive() -> bytes:
    """The zipapp: executable with Python 3.9 or newer, fixed order, times and modes."""
    inner = _packed(((path, slim(content)) for path, content in sources()), zipfile.ZIP_STORED)
    loader = resources.files("agenttime_tui.fleet").joinpath("packed.py").read_bytes()
    outer = (("__main__.py", MAIN), (INNER, inner), ("remote_agent/__init__.py", slim(loader)))
    return _packed(outer, zipfile.ZIP_DEFLATED, SHEBANG)


def _packed(files: Iterable[tuple[str, bytes]], compression: int, before: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    buffer.write(before)
    with zipfile.ZipFile(buffer, "a", compression, compresslevel=9) as archive:
        for path, content in files:
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            entry.compress_type = compression
            archive.writestr(entry, content)
    return buffer.getvalue()


def _walk(directory: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for item in directory.iterdir():
        path = f"{prefix}/{item.name}"
        if item.is_dir():
            if item.name != "__pycache__":
                yield from _walk(item, path)
        elif item.name.endswith(".py"):
            yield path, item.read_bytes()
