from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from agenttime_tui.fleet.packed import INNER
from agenttime_tui.fleet.zipapp import SIZE_CAP_BYTES, agent_archive, source_hash, sources

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13")
IMPORT_ALL = (
    "import sys; sys.path.insert(0, '.'); import importlib\n"
    "for name in sys.argv[1:]: importlib.import_module(name)\n"
    "print(len(sys.argv) - 1)"
)


def interpreter(version: str) -> str | None:
    """A Python of that version, from PATH or from pyenv's versions."""
    if sys.version.startswith(version + "."):
        return sys.executable
    for found in sorted(Path(os.environ.get("PYENV_ROOT", "/root/.pyenv")).glob(f"versions/{version}.*/bin/python3")):
        return str(found)
    return next(
        (path for path in (f"/usr/bin/python{version}", f"/usr/local/bin/python{version}") if os.path.exists(path)),
        None,
    )


def modules() -> list[str]:
    """Every module that is shipped."""
    names = [path.removesuffix(".py").replace("/", ".") for path, _ in sources() if path != "__main__.py"]
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


def test_the_archive_is_small_and_the_same_every_time() -> None:
    first = agent_archive()
    agent_archive.cache_clear()
    assert agent_archive() == first
    assert len(first) <= SIZE_CAP_BYTES


def names_of(archive: bytes) -> list[str]:
    """What a zip file holds, checked whole and free of the day it was made on."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.testzip() is None
        assert {entry.date_time for entry in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        return opened.namelist()


def test_nothing_but_sources_goes_in_and_in_order() -> None:
    assert names_of(agent_archive()) == ["__main__.py", INNER, "remote_agent/__init__.py"]
    with zipfile.ZipFile(io.BytesIO(agent_archive())) as archive:
        names = names_of(archive.read(INNER))
    assert names == sorted(names)
    assert all(name.endswith(".py") and "__pycache__" not in name for name in names)
    assert {"__main__.py", "remote_agent/__init__.py", "remote_agent/wire.py"} <= set(names)


@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_a_traceback_out_of_the_archive_names_file_and_line(version: str, tmp_path: Path) -> None:
    if (python := interpreter(version)) is None:
        pytest.skip(f"no Python {version} here")
    packed = tmp_path / "agent.pyz"
    packed.write_bytes(agent_archive())
    line = (
        dict(sources())["remote_agent/spec.py"].decode().splitlines().index('        if raw.get("schema") != SCHEMA:')
    )
    program = f"import sys; sys.path.insert(0, {str(packed)!r}); from remote_agent.spec import RunSpec; RunSpec({{}})"
    ran = subprocess.run([python, "-S", "-I", "-c", program], capture_output=True, text=True, check=False)
    assert f'File "{packed}/remote_agent/spec.py", line {line + 2}, in __init__' in ran.stderr
    assert "SpecError: run spec has schema None" in ran.stderr


def test_the_hash_names_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    before = source_hash()
    assert len(before) == 16
    assert int(before, 16) >= 0
    changed = tuple((path, content + b"\n" if path.endswith("wire.py") else content) for path, content in sources())
    monkeypatch.setattr("agenttime_tui.fleet.zipapp.sources", lambda: changed)
    source_hash.cache_clear()
    try:
        assert source_hash() != before
    finally:
        source_hash.cache_clear()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_module_loads_and_the_agent_starts(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    packed = tmp_path / "agent.pyz"
    packed.write_bytes(agent_archive())
    run = [python, "-S", "-I", "-W", "error"]
    zipped = subprocess.run([*run, str(packed), "version"], capture_output=True, text=True, check=False)
    assert (zipped.returncode, zipped.stderr) == (0, "")
    shutil.unpack_archive(packed, tmp_path / "out", "zip")
    plain = subprocess.run([*run, ".", "version"], cwd=tmp_path / "out", capture_output=True, text=True, check=False)
    assert plain.stdout == zipped.stdout
    names = modules()
    loaded = subprocess.run(
        [*run, "-c", IMPORT_ALL, *names], cwd=tmp_path / "out", capture_output=True, text=True, check=False
    )
    assert (loaded.stdout.strip(), loaded.stderr) == (str(len(names)), "")


def test_the_packed_agent_can_be_executed(tmp_path: Path) -> None:
    packed = tmp_path / "agent"
    packed.write_bytes(agent_archive())
    packed.chmod(0o755)
    assert subprocess.run([packed, "version"], capture_output=True, check=True).stdout
