"""Checks a pack before anyone relies on it: its files, and that the start fails where the solution passes."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from task_packs.answers import REFERENCE_FILE, NotGraded, grade_message, read_key
from task_packs.archive import walk as files_below
from task_packs.errors import PackError
from task_packs.eta import check_eta
from task_packs.grading import Outcome, RawGrade, grade
from task_packs.load import Pack, load_pack
from task_packs.lock import record_check, task_sha256
from task_packs.session_files import SAID
from task_packs.steps.files import REQUEST_SENTENCE, check_steps, stepped
from task_packs.steps.walk import Place, walk
from task_packs.surroundings import container_env, solution_env
from task_packs.task import Task

CLEAN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
REWARD_CAP_BYTES = 1 << 20
SHOWN_CAP_BYTES = 1 << 20
SOLVED_TIMES = 5
"""How often a solution must pass, graded again and again in one workspace."""

Grader = Callable[[Task, bool], Outcome]
"""Grades a fresh workspace of a task: untouched (False) or after its solution has run (True)."""


def check_pack(directory: Path) -> list[str]:
    """What is wrong with the pack in `directory` without running anything: one sentence per finding."""
    try:
        pack = load_pack(directory)
    except PackError as error:
        return [str(error)]
    findings = []
    for task in pack.tasks:
        if task.present or pack.manifest.source.access == "bundled" or (task.entry.steps and task.path.exists()):
            findings += _check_files(task)
        elif task.path.exists():
            findings.append(f"{task.path}: instruction.md is missing")
    findings += check_eta(pack) if pack.manifest.kind == "eta" else []
    listed = {task.path.resolve() for task in pack.tasks}
    told = [*pack.path.glob("tasks/*/instruction.md"), *pack.path.glob("tasks/*/steps")]
    for folder in sorted({path.parent for path in told}):
        if folder.resolve() not in listed:
            findings.append(f"{folder}: is not listed as a [[task]] in pack.toml")
    return findings


def _check_files(task: Task) -> list[str]:
    if stepped(task):
        return check_steps(task)
    findings = []
    try:
        text = task.instruction().decode()
        if REQUEST_SENTENCE in text:
            findings.append(f"{task.path}/instruction.md: already holds {REQUEST_SENTENCE!r}")
    except PackError as error:
        findings.append(str(error))
    graded: tuple[Callable[[], object], ...] = (task.tests_tar,)
    if task.by_answer:
        graded = (lambda: read_key(task.path),)
    elif task.solved or task.pack.manifest.source.access == "bundled":
        graded = (task.tests_tar, task.solution_tar) if task.scripted or not task.solved else (task.tests_tar,)
    for part in (lambda: task.harbor, task.workspace_tar, *graded):
        try:
            part()
        except (PackError, OSError) as error:
            findings.append(str(error))
    findings += [f"{path}: is {hidden} of the task, which no agent may see" for path, hidden in _shown(task)]
    if (task.path / "environment/Dockerfile").exists() and task.pack.image is not None:
        findings.append(f"{task.path}/environment/Dockerfile: is not used, [image] of pack.toml makes the environment")
    return list(dict.fromkeys(findings))


def _shown(task: Task) -> Iterator[tuple[Path, str]]:
    """Files that the agent would meet and that are one of the two programs that are hidden from it."""
    programs = {hidden: task.path / hidden for hidden in ("solution/solve.sh", "tests/test.sh")}
    texts = {path.read_bytes().strip(): hidden for hidden, path in programs.items() if path.is_file()}
    for path in sorted(files_below(task.path / "environment")):
        small = path.is_file() and not path.is_symlink() and path.stat().st_size < SHOWN_CAP_BYTES
        if small and (text := path.read_bytes().strip()) and text in texts:
            yield path, texts[text]


def verify_pack(pack: Pack, grader: Grader, log: Callable[[str], None] = lambda line: None) -> list[str]:
    """Grades every task that is here untouched and solved; one sentence per task that does not behave.

    What was imported gets the outcome written in its pack.lock.
    """
    findings = []
    for task in pack.tasks:
        if not task.present and pack.manifest.source.access != "bundled":
            continue
        if task.hindrance:
            findings.append(f"{pack.name} {task.id}: {task.hindrance}")
            continue
        chosen = grade_by_answer if task.by_answer else grader
        untouched = chosen(task, False)
        if not task.solved:
            log(f"{task.id}: untouched {_words(untouched)}, no reference solution")
            place = REFERENCE_FILE if task.by_answer or task.grade.session else "solution/solve.sh"
            findings.append(f"{pack.name} {task.id}: has no reference solution; put one in {task.path / place}")
            record_check(pack.path, task.id, task_sha256(task.path), (_words(untouched), ""), False)
            continue
        solved = chosen(task, True)
        log(f"{task.id}: untouched {_words(untouched)}, solved {_words(solved)}")
        faults = _faults(task, untouched, solved)
        findings += [f"{pack.name} {task.id}: {fault}" for fault in faults]
        if pack.manifest.source.access != "bundled":
            record_check(pack.path, task.id, task_sha256(task.path), (_words(untouched), _words(solved)), not faults)
    return findings


def grade_by_answer(task: Task, solve: bool) -> Outcome:
    """Grades no answer, or the reference answer, as an answer of an agent is graded."""
    message = (task.path / REFERENCE_FILE).read_text(encoding="utf-8") if solve else None
    try:
        return grade(task.grade, grade_message(read_key(task.path), message, task.pack.path))
    except NotGraded as error:
        return Outcome("not_graded", detail=str(error))
    except (PackError, OSError) as error:
        return Outcome("grader_error", detail=str(error))


def _faults(task: Task, untouched: Outcome, solved: Outcome) -> list[str]:
    faults = []
    if untouched.status not in ("scored", "empty"):
        faults.append(f"the untouched start ended as {_words(untouched)}")
    elif untouched.passed:
        faults.append("the untouched start passes")
    if solved.status != "scored":
        faults.append(f"the solution ended as {_words(solved)}")
    elif solved.passed is False:
        faults.append(f"the solution does not pass: {solved.detail}")
    elif solved.passed is None and untouched.value is not None and solved.value is not None:
        gain = solved.value - untouched.value
        if (gain if task.grade.better == "higher" else -gain) <= 0:
            faults.append(f"the solution ({solved.value}) is no better than the untouched start ({untouched.value})")
    return faults


def _words(outcome: Outcome) -> str:
    value = "" if outcome.value is None else f" {outcome.value:g}"
    return f"{outcome.status}{value}" + (f" ({outcome.detail})" if outcome.detail else "")


def grade_in_directory(task: Task, solve: bool) -> Outcome:
    """Grades a task in a private directory of this machine, not isolated; what it started is ended afterwards."""
    if task.steps and solve:
        return repeated(lambda: _in_directory(task, True), SOLVED_TIMES)
    return _in_directory(task, solve)


def _in_directory(task: Task, solve: bool) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="x") as name:
        root = Path(name)
        unpack(task.workspace_tar(), root)
        if task.steps:
            return walk(_place(task, root), task, solve)
        if solve and task.scripted:
            unpack(task.solution_tar(), root / "solution")
        if task.grade.session:
            unpack(task.session_tar(solve), root / SAID.strip("/"))
        unpack(task.tests_tar(), root / "tests")
        workdir = root / task.workdir.strip("/")
        workdir.mkdir(parents=True, exist_ok=True)
        groups: list[int] = []
        try:
            if solve and task.scripted:
                env = container_env(task, os.environ) | solution_env(task, os.environ)
                code, out = _run(task.solution_argv(f"{root}/solution"), workdir, env, 60, groups)
                if code != 0:
                    return Outcome(
                        "grader_error", detail=f"solve.sh ended with {code}: {out[-200:].decode(errors='replace')}"
                    )
            return repeated(lambda: _graded(task, root, groups), SOLVED_TIMES if solve else 1)
        finally:
            for group in groups:
                _end_group(group)


def _place(task: Task, root: Path) -> Place:
    """A private directory for a walk through the steps of a task; what each program left running is ended."""
    workdir, verifier = root / task.workdir.strip("/"), root / "logs/verifier"
    workdir.mkdir(parents=True, exist_ok=True)

    def put(tar: bytes, dest: str) -> None:
        (root / dest.strip("/")).mkdir(parents=True, exist_ok=True)
        unpack(tar, root / dest.strip("/"))

    def run(argv: list[str], env: dict[str, str], limit_s: float, user: str) -> tuple[int | None, bytes]:
        groups: list[int] = []
        found = _run(argv, workdir, {**container_env(task, os.environ), **env}, limit_s, groups)
        for group in groups:
            _end_group(group)
        return found

    def remove(dest: str) -> None:
        shutil.rmtree(root / dest.strip("/"), ignore_errors=True)

    def graded(code: int | None, out: bytes) -> RawGrade:
        return RawGrade(code, _read(verifier / "reward.json"), _read(verifier / "reward.txt"), out)

    return Place(str(root), put, run, remove, graded)


def _graded(task: Task, root: Path, groups: list[int]) -> Outcome:
    verifier = root / "logs/verifier"
    env = {"VERIFIER_DIR": str(verifier), **task.session_env(f"{root}{SAID}"), **_grader_env(task)}
    shutil.rmtree(verifier, ignore_errors=True)
    verifier.mkdir(parents=True)
    workdir = root / task.workdir.strip("/")
    code, out = _run(task.grader_argv(f"{root}/tests"), workdir, env, task.grader_timeout_ms / 1000, groups)
    return grade(task.grade, RawGrade(code, _read(verifier / "reward.json"), _read(verifier / "reward.txt"), out))


def _grader_env(task: Task) -> dict[str, str]:
    """The grader's variables: here they may be filled with the operator's keys."""
    return {**container_env(task, os.environ), **task.verifier_env(os.environ)}


def repeated(graded: Callable[[], Outcome], times: int) -> Outcome:
    """The outcome of grading one workspace `times` times, which must be the same each time."""
    first = graded()
    for number in range(2, times + 1):
        if first.status != "scored":
            break
        found = graded()
        if (found.status, found.value) != (first.status, first.value):
            said = f"graded {_words(first)} at first and {_words(found)} the {number}. time"
            return Outcome("grader_error", detail=said)
    return first


def _run(
    argv: list[str], cwd: Path, env: dict[str, str], timeout_s: float, groups: list[int]
) -> tuple[int | None, bytes]:
    """Exit code (None on timeout) and output; what it leaves running may hold no pipe of ours, so it goes to a file."""
    clean = {"PATH": CLEAN_PATH, "HOME": str(cwd), "LC_ALL": "C", **env}
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(
            argv, cwd=cwd, env=clean, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        groups.append(child.pid)
        try:
            code: int | None = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            _end_group(child.pid)
            child.wait()
            code = None
        out.seek(0)
        return code, out.read(REWARD_CAP_BYTES)


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def unpack(tar: bytes, root: Path) -> None:
    """Extracts a tar below `root`, owned by whoever runs this; links out of it are refused."""
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        for entry in archive:
            entry.uid, entry.gid = os.getuid(), os.getgid()
            archive.extract(entry, root, filter="data")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()[:REWARD_CAP_BYTES]
    except OSError:
        return None
