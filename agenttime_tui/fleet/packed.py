"""Goes into the zipapp as its package: finds the modules in the sources that are packed there as one piece.

Runs on the machine, not here: Python 3.9, standard library only. Where the agent is unpacked nothing of it is left.
"""

from __future__ import annotations

import io
import os
import sys
import zipfile
from importlib.util import spec_from_file_location

INNER = "agent.zip"
"""Compressed as one, the sources take a quarter less than one by one."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class Packed:
    """The sources in the archive at `top`, as a finder and loader of modules."""

    def __init__(self, top: str, data: bytes) -> None:
        self.top = top
        self.archive = zipfile.ZipFile(io.BytesIO(data))
        self.places = frozenset(self.archive.namelist())

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module of that name, None for one that is not ours."""
        place = name.replace(".", "/") + ".py"
        return spec_from_file_location(name, f"{self.top}/{place}", loader=self) if place in self.places else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs a module's source."""
        assert module.__file__ is not None
        self.run(module.__file__[len(self.top) + 1 :], module.__dict__)

    def run(self, place: str, names: dict[str, Any]) -> None:
        """Runs the source at `place`; tracebacks name its line in the archive."""
        exec(compile(self.archive.read(place), f"{self.top}/{place}", "exec"), names)


if __name__ == "remote_agent":
    assert __spec__ is not None
    _top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    _packed = Packed(_top, __spec__.loader.get_data(f"{_top}/{INNER}"))  # type: ignore[union-attr]
    sys.meta_path.insert(0, _packed)
    _packed.run("remote_agent/__init__.py", globals())
