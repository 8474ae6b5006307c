"""What ETABench tells before an estimate, and the commitment to the solutions it withholds."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from task_packs.archive import walk
from task_packs.errors import PackError
from task_packs.load import Pack
from task_packs.manifest import Eta
from task_packs.task import Task

LINE = re.compile(r"([0-9a-f]{64})[ *] ?(tasks/\S+/solution/solve\.sh)")
WITHHELD = "solution/solve.sh"


def disclosure(task: Task) -> str:
    """All that is told before the estimate: instructions, environment, verifier source, timing rule.

    PackError where the pack is not of kind eta or a verifier file is no text.
    """
    parts = [task.instruction().decode("utf-8").rstrip("\n"), "## Environment", environment_text(task)]
    parts += ["## Verifier", "Your work is checked by this program, again and again, until it passes."]
    for name, text in verifier_source(task).items():
        parts.append(f"`{name}`:\n```\n{text.rstrip(chr(10))}\n```")
    return "\n\n".join([*parts, "## Timing", _eta(task.pack).timing_rule]) + "\n"


def environment_text(task: Task) -> str:
    """The environment in one sentence."""
    made = task.pack.image
    base = f"an image of {' with '.join([made.kind, *made.packages])}" if made else "the task's own image"
    network = "without a network" if task.network == "none" else f"with network access: {task.network}"
    return f"A fresh container from {base}, {task.cpus:g} CPUs, {task.memory_bytes / 2**30:g} GiB of memory, {network}."


def verifier_source(task: Task) -> dict[str, str]:
    """The verifier's files, name -> text; PackError for one that is no text: it could not be told."""
    top = task.path / "tests"
    found = {}
    for path in walk(top):
        if path.is_file():
            try:
                found[path.relative_to(top).as_posix()] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                raise PackError(f"{path}: is no text, so it cannot be told before the estimate") from None
    return dict(sorted(found.items(), key=lambda item: (item[0] != "test.sh", item[0])))


def commitments(pack: Pack) -> dict[str, str]:
    """Task directory -> SHA-256 of its withheld solution; PackError naming file and line."""
    path = pack.path / _eta(pack).solutions
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PackError(f"{path}: cannot be read ({error}): an eta pack commits to its solutions there") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        match = LINE.fullmatch(line)
        if match is None:
            raise PackError(f"{path}: line {number} is not of the form SHA-256, two blanks, tasks/ID/{WITHHELD}")
        folder = match[2].removesuffix(f"/{WITHHELD}")
        if folder in found:
            raise PackError(f"{path}: line {number} commits to {folder} twice")
        found[folder] = match[1]
    return found


def check_eta(pack: Pack) -> list[str]:
    """What is wrong with the commitments and the disclosure; a solution that is withheld is no fault."""
    try:
        committed = commitments(pack)
    except PackError as error:
        return [str(error)]
    findings = []
    for task in pack.tasks:
        folder = task.path.relative_to(pack.path).as_posix()
        if folder not in committed:
            findings.append(f"{pack.path / _eta(pack).solutions}: commits to no solution of {task.id}")
        elif (task.path / WITHHELD).is_file() and _sha256(task.path / WITHHELD) != committed[folder]:
            findings.append(f"{task.path / WITHHELD}: is not the solution that was committed to")
        try:
            disclosure(task)
        except PackError as error:
            findings.append(str(error))
    return findings


def _eta(pack: Pack) -> Eta:
    if pack.manifest.eta is None:
        raise PackError(f'pack {pack.name} is not of kind "eta"')
    return pack.manifest.eta


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
