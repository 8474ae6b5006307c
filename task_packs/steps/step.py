"""One step of a task as it is delivered: its prompt, what comes before it, its grader, its reference solution."""

from __future__ import annotations

import io
import math
import os
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from task_packs.archive import MTIME_S, interpreter, tar_tree
from task_packs.errors import PackError
from task_packs.harbor.parts import Healthcheck
from task_packs.harbor.steps import FOLDER, HarborStep, Strategy, read_steps
from task_packs.harbor.task import read_instruction
from task_packs.harbor.variables import Known
from task_packs.manifest import Grade
from task_packs.surroundings import filled

SETUP, TEST, SOLVE = "setup.sh", "test.sh", "solve.sh"
HARBORS_SHELL = ["/bin/bash"]
"""Of a setup.sh that names no interpreter."""


@dataclass(frozen=True)
class TaskStep:
    """A step of the task in `task`, a Harbor task directory."""

    task: Path
    harbor: HarborStep
    uid: int
    """Who owns what it finds."""
    strategy: Strategy = "mean"
    """How the task makes one reward of those of its steps."""

    @property
    def name(self) -> str:
        """Its name in task.toml and of its directory."""
        return self.harbor.name

    @property
    def path(self) -> Path:
        """Its directory."""
        return self.task / FOLDER / self.name

    @property
    def text(self) -> str:
        """Its prompt as Harbor delivers it. PackError when it is not there or empty."""
        text = read_instruction(self.path / "instruction.md")
        if not text.strip():
            raise PackError(f"{self.path / 'instruction.md'}: is empty")
        return text

    @property
    def readied(self) -> bool:
        """Whether anything is put in or run before it."""
        return (self.path / "workdir").is_dir() or self.harbor.healthcheck is not None

    def workdir_tar(self) -> bytes:
        """What it finds besides in the working directory, to be extracted there; empty for nothing."""
        return tar_tree(self.path / "workdir", owner=self.uid)

    def ready_argv(self, workdir: str) -> list[str]:
        """What readies it, as the session's user: setup.sh in `workdir` where there is one, then its health check."""
        check = self.harbor.healthcheck or Healthcheck("")
        seconds = (f"{one:g}" for one in (check.interval_s, check.timeout_s))
        grace = (str(math.ceil(check.start_period_s)), f"{check.start_interval_s:g}", str(check.retries))
        script = self.path / "workdir" / SETUP
        setup: list[str] = []
        if script.is_file():
            named = script.read_bytes().startswith(b"#!")
            setup = [*(interpreter(script) if named else HARBORS_SHELL), f"{workdir}/{SETUP}"]
        return ["/bin/sh", "-c", ready_script(), "sh", check.command, *seconds, *grace, *setup]

    @property
    def test(self) -> Path:
        """Its test.sh, else that of the task. PackError without either."""
        for folder in (self.path, self.task):
            if (folder / "tests" / TEST).is_file():
                return folder / "tests" / TEST
        raise PackError(f"{self.path}/tests/{TEST}: is missing: nothing could grade this step")

    def tests_tar(self) -> bytes:
        """The grader's files, those of the step over those of the task, owned by root."""
        self.test.stat()
        return merged([tar_tree(folder / "tests") for folder in (self.task, self.path)])

    def grader_argv(self, tests: str) -> list[str]:
        """What grades, given the directory the tests were put in."""
        return [*interpreter(self.test), f"{tests}/{TEST}"]

    @property
    def solved(self) -> bool:
        """Whether it has a reference solution."""
        return (self.path / "solution" / SOLVE).is_file()

    def solution_tar(self) -> bytes:
        """Its reference solution, for checking a pack and never for an agent."""
        if not self.solved:
            raise PackError(f"{self.path}/solution/{SOLVE}: is missing")
        return tar_tree(self.path / "solution")

    def solution_argv(self, solution: str) -> list[str]:
        """What solves it, given the directory the solution was put in."""
        return [*interpreter(self.path / "solution" / SOLVE), f"{solution}/{SOLVE}"]


def steps_of(task: Path, uid: int) -> tuple[TaskStep, ...]:
    """The steps of the task in this directory. PackError."""
    found = read_steps(task / "task.toml")
    return tuple(TaskStep(task, one, uid, found.strategy) for one in found.steps)


def prompts_of_steps(task: Path) -> bool:
    """Whether the directory of a task holds steps with a prompt each. Never raises."""
    if not (task / FOLDER).is_dir():
        return False
    try:
        steps = read_steps(task / "task.toml").steps
    except PackError:
        return False
    return bool(steps) and all((task / FOLDER / one.name / "instruction.md").is_file() for one in steps)


def solved_steps(task: Path) -> bool:
    """Whether the directory of a task holds steps with a reference solution each. Never raises."""
    return prompts_of_steps(task) and all(step.solved for step in steps_of(task, 0))


class Graded(Protocol):
    """What of a task says how it is graded."""

    @property
    def steps(self) -> tuple[TaskStep, ...]:
        """Its steps."""

    @property
    def by_answer(self) -> bool:
        """Whether the last message alone is graded."""

    @property
    def live(self) -> bool:
        """Whether its grader needs what the session left alive."""

    @property
    def grade(self) -> Grade:
        """The pack's grade mapping."""


def steps_hindrance(task: Graded) -> str:
    """Why a task with steps cannot be graded step by step; empty where it can, and for a task without steps."""
    if not task.steps:
        return ""
    kinds = {
        "by its answer": task.by_answer, "by a judge": bool(task.grade.judge), "while all it left lives": task.live,
        "by its session": task.grade.session,
    }  # fmt: skip
    kind = next((name for name, so in kinds.items() if so), "")
    try:
        for step in task.steps:
            filled(f"task.toml: verifier.env of step {step.name}", step.harbor.verifier_env, Known(os.environ))
    except PackError as error:
        return f"cannot be graded: {error}"
    many = f"has {len(task.steps)} steps with a grade each"
    return f"{many}, and its pack grades {kind}, which is done once, after a run" if kind else ""


@cache
def ready_script() -> str:
    """The shell text that readies a step."""
    return Path(__file__).with_name("step_script.sh").read_text(encoding="utf-8")


def stripped(path: Path, text: str, texts: Iterable[str], strip: Iterable[str], pack_file: Path) -> bytes:
    """The text of `path` in UTF-8 without the texts of `strip`, each of which must occur once in all `texts`."""
    told = list(texts)
    for anchor in strip:
        if (count := sum(one.count(anchor) for one in told)) != 1:
            steps = " in the steps" if len(told) > 1 else ""
            raise PackError(
                f"{path}: the text {anchor!r} of prompt.strip in {pack_file} occurs {count} times{steps}, "
                f"it must occur once"
            )
        text = text.replace(anchor, "")
    if not text.strip():
        raise PackError(f"{path}: is empty")
    return text.encode("utf-8")


def merged(tars: list[bytes]) -> bytes:
    """One tar of several, later files over earlier ones of the same name."""
    found: dict[str, tuple[tarfile.TarInfo, bytes]] = {}
    for tar in tars:
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
            for entry in archive:
                file = archive.extractfile(entry) if entry.isfile() else None
                found[entry.name] = entry, file.read() if file else b""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(found, key=lambda name: name.split("/")):
            entry, data = found[name]
            entry.mtime = MTIME_S
            archive.addfile(entry, io.BytesIO(data) if entry.isfile() else None)
    return buffer.getvalue()
