"""Finds packs, and hands out their tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from task_packs.errors import PackError
from task_packs.manifest import PACK_FILE, Grade, Manifest, Recipe, read_manifest
from task_packs.standing import Standing, standing
from task_packs.task import Task

BUILT_IN = Path(__file__).parent


@dataclass(frozen=True)
class Pack:
    """A family's tasks with everything a study must know about them."""

    path: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """What plans and commands call it."""
        return self.manifest.name

    @property
    def family(self) -> str:
        """Slug of the benchmark in results."""
        return self.manifest.family or self.manifest.name

    @property
    def title(self) -> str:
        """Name for people."""
        return self.manifest.title

    @property
    def image(self) -> Recipe | None:
        """How its environment is made, or None where each task brings an image."""
        return self.manifest.image

    @property
    def grade(self) -> Grade:
        """The grade mapping."""
        return self.manifest.grade

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The roster in the order of pack.toml."""
        return tuple(Task(self, entry) for entry in self.manifest.task)

    def task(self, task_id: str) -> Task:
        """The task of that id; PackError that lists what there is."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise PackError(f"pack {self.name} has no task {task_id!r}; it has {_listed(task.id for task in self.tasks)}")

    @property
    def missing(self) -> int:
        """How many tasks have no files here."""
        return sum(not task.present for task in self.tasks)

    @property
    def standing(self) -> Standing:
        """Where it stands, and the command that gets it on."""
        return standing(self.manifest, self.path, [task.id for task in self.tasks if task.present])

    @property
    def state(self) -> str:
        """`ready`, or what it takes."""
        return self.standing.text


def load_pack(name_or_dir: str | Path, extra_dirs: Sequence[Path] = ()) -> Pack:
    """The pack of that name, or in that directory; PackError lists the known ones."""
    if isinstance(name_or_dir, Path) or "/" in name_or_dir:
        path = Path(name_or_dir)
        path = path.parent if path.name == PACK_FILE else path
        return Pack(path, read_manifest(path / PACK_FILE))
    packs = {pack.name: pack for pack in find_packs(extra_dirs)}
    if name_or_dir not in packs:
        raise PackError(f"there is no pack {name_or_dir!r}; known are {_listed(sorted(packs))}")
    return packs[name_or_dir]


def find_packs(extra_dirs: Sequence[Path] = ()) -> list[Pack]:
    """The built-in packs and those below `extra_dirs` (a pack or a directory of packs), by name.

    A pack of the same name found later takes the place of an earlier one, so a user's copy wins.
    """
    found: dict[str, Pack] = {}
    for folder in (BUILT_IN, BUILT_IN / "families", *extra_dirs):
        for manifest in _manifests(folder):
            pack = Pack(manifest.parent, read_manifest(manifest))
            found[pack.name] = pack
    return sorted(found.values(), key=lambda pack: pack.name)


def study_families() -> tuple[str, ...]:
    """Names of the study's families, whether their files are here or not."""
    return tuple(manifest.parent.name for manifest in _manifests(BUILT_IN / "families"))


def _manifests(folder: Path) -> list[Path]:
    own = folder / PACK_FILE
    return [own] if own.is_file() else sorted(folder.glob(f"*/{PACK_FILE}"))


def _listed(names: Iterable[str], most: int = 30) -> str:
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
