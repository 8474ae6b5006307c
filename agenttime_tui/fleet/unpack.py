"""Runs on the machine, not here: unpacks the agent once, whole or not at all. Python 3.9, standard library only."""

from __future__ import annotations

import base64
import errno
import io
import os
import py_compile
import shutil
import sys
import tempfile
import zipfile

INNER = "agent.zip"
MARKER = "complete"
FAILED = 74


def unpack(name: str, archive: bytes) -> str:
    """The directory `~/.agenttime/agent/NAME`, made from the zipapp unless it is there already; raises OSError."""
    os.umask(0o077)
    top = os.path.join(os.path.expanduser("~"), ".agenttime", "agent")
    home = os.path.join(top, name)
    if is_complete(home, name):
        return home
    os.makedirs(top, exist_ok=True)
    draft = tempfile.mkdtemp(prefix="." + name + ".", dir=top)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as outer, zipfile.ZipFile(outer.open(INNER)) as packed:
            packed.extractall(draft)
            for path in packed.namelist():
                compile_(os.path.join(draft, path), path)
        with open(os.path.join(draft, MARKER), "w") as file:
            file.write(name + "\n" + sys.executable + "\n")
        for folder, _, files in os.walk(draft):
            for path in [folder, *(os.path.join(folder, file) for file in files)]:
                sync(path)
        publish(draft, home, name)
        sync(top)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return home


def is_complete(home: str, name: str) -> bool:
    """Whether the directory was published whole."""
    try:
        with open(os.path.join(home, MARKER)) as file:
            return file.readline() == name + "\n"
    except OSError:
        return False


def compile_(path: str, shown: str) -> None:
    """Byte-compiles one file so that no start ever compiles or compares times."""
    py_compile.compile(path, dfile=shown, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def publish(draft: str, home: str, name: str) -> None:
    """Renames the draft into place; whoever comes second leaves the first one's directory as it is."""
    for _ in range(2):
        try:
            os.rename(draft, home)
            return
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        if is_complete(home, name):
            return
        broken = tempfile.mkdtemp(prefix=".broken.", dir=os.path.dirname(home))
        os.rename(home, os.path.join(broken, name))
        shutil.rmtree(broken, ignore_errors=True)
    raise OSError(errno.EEXIST, "is in the way", home)


def sync(path: str) -> None:
    """Brings a file or directory to the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def main(name: str, archive: str) -> None:
    """Prints the directory, or `ERRNO NAME: path` on stderr and exit code 74."""
    try:
        sys.stdout.write(unpack(name, base64.b64decode(archive)) + "\n")
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "EIO")
        sys.stderr.write("%s %s: %s\n" % (code, error.strerror or error, error.filename or ""))  # noqa: UP031
        sys.exit(FAILED)
