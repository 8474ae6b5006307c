"""Grades a task in containers without a network, untouched or solved: the check of what users brought."""

from __future__ import annotations

import gc
import io
import os
import tarfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from task_packs.archive import without
from task_packs.checking.pack import SOLVED_TIMES, repeated
from task_packs.checking.services import Around, beside, put_copies, served
from task_packs.errors import ImageError, PackError, ServiceError
from task_packs.grading import Outcome, RawGrade, grade
from task_packs.harbor.parts import MAIN
from task_packs.images.of_tasks import ensure_service_image, ensure_task_image, ensure_verifier_image, has_grader_image
from task_packs.images.recipes import ensure_image
from task_packs.images.rootfs import Log
from task_packs.session_files import SAID
from task_packs.set_up import set_up_argv, set_up_s
from task_packs.steps.walk import Place, walk
from task_packs.surroundings import (
    ARTIFACTS,
    around_grader,
    artifacts,
    container_env,
    grader_env,
    grader_workdir,
    solution_env,
)
from task_packs.task import Task

if TYPE_CHECKING:
    import docker
    from docker.models.containers import Container

FIXED_PATH = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
"""Where a session may have been; elsewhere the image's own PATH holds."""
CLEAN = {"HOME": "/root", "LC_ALL": "C"}
TESTS, SOLUTION, PREPARE, REWARD = "/tests", "/solution", "/prepare", "/logs/verifier"
SOLVE_S = PREPARE_S = 1800.0
ALONE = Around()
COLLECT_S = 600.0
REWARD_CAP_BYTES = 1 << 20


def container_grader(client: docker.DockerClient, cache: Path, log: Log) -> Callable[[Task, bool], Outcome]:
    """What grades a task in a fresh container of the engine of `client`; images are made where they are not there.

    A solution is graded again and again, each time from the untouched start: many graders change what they grade. Of
    an eta pack one repaired state must pass repeatedly, because its verifier is polled.
    """

    def whole(task: Task, solve: bool, tag: str, images: Mapping[str, str], times: int) -> Outcome:
        with served(client, task, images) as around, _container(client, tag, task, around=around) as container:
            return _in(client, container, tag, task, solve, times, log, around)

    def graded(task: Task, solve: bool) -> Outcome:
        import docker.errors
        import requests

        try:
            image = task.pack.image
            tag = ensure_image(client, image, cache, log) if image else ensure_task_image(client, task, log)
            images = {one.name: ensure_service_image(client, task, one, log) for one in task.composed.services}
            times = SOLVED_TIMES if solve else 1
            within, again = (times, 1) if task.track else (1, times)
            return repeated(lambda: whole(task, solve, tag, images, within), again)
        except (ImageError, ServiceError, PackError) as error:
            return Outcome("grader_error", detail=str(error))
        except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
            return Outcome("grader_error", detail=f"the engine did not do as it was asked: {error}"[:300])

    return graded


def _in(
    client: docker.DockerClient, there: Container, tag: str, task: Task, solve: bool, times: int, log: Log,
    around: Around,
) -> Outcome:  # fmt: skip
    there.put_archive("/", task.workspace_tar())
    put_copies(there, task.inside.copies)
    if fault := _open_to(there, around):
        return Outcome("grader_error", detail=fault)
    if argv := set_up_argv(task, PREPARE if task.prepares else "", os.environ):
        tar = task.prepare_tar() if task.prepares else b""
        if fault := _ran(there, tar, PREPARE, argv, task, set_up_s(task), "root", {}):
            return Outcome("grader_error", detail=fault)
    if task.steps:
        return walk(_place(there, task, around), task, solve)
    if solve and task.scripted:
        env = solution_env(task, os.environ)
        argv = task.solution_argv(SOLUTION)
        if fault := _ran(there, task.solution_tar(), SOLUTION, argv, task, SOLVE_S, task.user, env):
            return Outcome("grader_error", detail=fault)
    if not task.separate:
        _gather(there, task, around)
        return repeated(lambda: _graded(there, task, solve, FIXED_PATH), times)
    with _moved_on(client, there, tag, task, log, around=around) as fresh:
        return repeated(lambda: _graded(fresh, task, solve, {}), times)


def _place(there: Container, task: Task, around: Around) -> Place:
    """A container for a walk through the steps of a task."""

    def put(tar: bytes, dest: str) -> None:
        _put(there, tar, dest, open_to_all=dest not in (TESTS, REWARD))

    def run(argv: list[str], env: dict[str, str], limit_s: float, user: str) -> tuple[int | None, bytes]:
        return _run(there, argv, task.workdir, {**(FIXED_PATH if user == "root" else {}), **env}, limit_s, user)

    def remove(dest: str) -> None:
        _run(there, ["rm", "-rf", dest], "/", {}, COLLECT_S)

    def graded(code: int | None, said: bytes) -> RawGrade:
        return RawGrade(code, _reward(there, "reward.json"), _reward(there, "reward.txt"), said)

    return Place("", put, run, remove, graded, lambda: _open_to(there, around))


def _ran(
    there: Container, tar: bytes, place: str, argv: list[str], task: Task, limit_s: float, user: str,
    env: dict[str, str],
) -> str:  # fmt: skip
    """Why a program of the task failed, whose files are there only while it runs; empty when it did not."""
    if tar:
        _put(there, tar, place, open_to_all=True)
    code, said = _run(there, argv, task.workdir, env, limit_s, user)
    if tar:
        _run(there, ["rm", "-rf", place], "/", {}, COLLECT_S)
    return "" if code == 0 else f"{argv[-1] if tar else 'the set-up'} ended with {code}: {_last(said)}"


def _open_to(there: Container, around: Around) -> str:
    """What the agent could see or reach at its start though it must not; empty where there is nothing.

    Among services the network is an internal one: there is a route, and nothing lets it out.
    """
    hidden = " ".join((TESTS, SOLUTION, PREPARE))
    code, said = _run(there, ["/bin/sh", "-c", f'for one in {hidden}; do [ -e "$one" ] && echo "$one"; done; true'],
                      "/", {}, COLLECT_S)  # fmt: skip
    if code == 0 and said.strip():
        return f"the agent would see {' and '.join(said.decode('utf-8', 'replace').split())} of its image"
    if around.services:
        return ""
    routes = _run(there, ["cat", "/proc/net/route"], "/", {}, COLLECT_S)[1].decode("utf-8", "replace").splitlines()[1:]
    return f"the container is not without a network: it has a route by {routes[0].split()[0]}" if routes else ""


def grade_copy(
    client: docker.DockerClient, cache: Path, log: Log, task: Task, copy: Path, session: bytes, env: Mapping[str, str]
) -> tuple[RawGrade, str]:
    """What the task's grader says of a copy of the working directory, a tar, and the id of the image it said it in.

    `session` is the tar of the session's files for a grader that reads them, `env` what its own variables are filled
    from: keys of judges among it. There is a network only where one of them is given. ImageError, DockerException.
    """
    image = task.pack.image
    tag = ensure_image(client, image, cache, log) if image else ensure_task_image(client, task, log)
    variables = {**around_grader(task, os.environ), **task.verifier_env(env)}
    network = "bridge" if task.verifier_names & set(env) else "none"
    with _container(client, tag, task, network if not task.separate else "none") as there:
        if task.prepares:
            _put(there, task.prepare_tar(), PREPARE, open_to_all=True)
            _run(there, task.prepare_argv(PREPARE), task.workdir, container_env(task, os.environ), PREPARE_S)
        _run(there, ["rm", "-rf", PREPARE, task.workdir], "/", {}, COLLECT_S)
        parent = str(Path(task.workdir).parent)
        _run(there, ["mkdir", "-p", parent], "/", {}, COLLECT_S)
        with copy.open("rb") as file:
            there.put_archive(parent, file)
        if not task.separate:
            _gather(there, task, ALONE)
            return _raw(there, task, FIXED_PATH, session, variables), str(there.image.id if there.image else tag)
        with _moved_on(client, there, tag, task, log, network) as fresh:
            return _raw(fresh, task, {}, session, variables), str(fresh.image.id if fresh.image else tag)


@contextmanager
def _moved_on(
    client: docker.DockerClient, there: Container, tag: str, task: Task, log: Log, network: str = "none",
    around: Around = ALONE,
) -> Iterator[Container]:  # fmt: skip
    """The separate grader's own container, with the artifacts of the session's and nothing else of it."""
    _gather(there, task, around)
    own = has_grader_image(task)
    image = ensure_verifier_image(client, task, log) if own else tag
    with _container(client, image, task, network) as fresh:
        for one in artifacts(task):
            taken = _fetch(there if one.service == MAIN else around.services[one.service], one.path)
            if taken is not None:
                _put(fresh, without(taken, one.exclude), str(Path(one.path).parent), open_to_all=True)
        yield fresh


def _gather(there: Container, task: Task, around: Around) -> None:
    """Runs what makes the artifacts, where the session was and then in the services; what fails is the grader's to
    judge."""
    if task.harbor.collect:
        _run(there, ["mkdir", "-p", ARTIFACTS], "/", {}, COLLECT_S)
    for hook in sorted(task.harbor.collect, key=lambda one: one.service != MAIN):
        place = there if hook.service == MAIN else around.services[hook.service]
        cwd = task.workdir if hook.service == MAIN else ""
        _run(place, ["/bin/sh", "-c", hook.command], cwd, {}, hook.timeout_s, hook.user or "root")


def _graded(there: Container, task: Task, solve: bool, path: dict[str, str]) -> Outcome:
    session = task.session_tar(solve) if task.grade.session else b""
    variables = task.verifier_env({}) if task.judged else grader_env(task, os.environ)
    return grade(task.grade, _raw(there, task, path, session, variables))


def _raw(there: Container, task: Task, path: dict[str, str], session: bytes, variables: dict[str, str]) -> RawGrade:
    _run(there, ["rm", "-rf", TESTS, REWARD], "/", {}, COLLECT_S)
    if task.grade.session:
        _run(there, ["rm", "-rf", SAID], "/", {}, COLLECT_S)
        _put(there, session, SAID)
    _put(there, task.tests_tar(), TESTS)
    _run(there, ["mkdir", "-p", REWARD], "/", {}, COLLECT_S)
    env = {**path, **variables, **task.session_env(SAID), "VERIFIER_DIR": REWARD}
    code, said = _run(there, task.grader_argv(TESTS), grader_workdir(task), env, task.grader_timeout_ms / 1000)
    return RawGrade(code, _reward(there, "reward.json"), _reward(there, "reward.txt"), said)


@contextmanager
def _container(
    client: docker.DockerClient, tag: str, task: Task, network: str = "none", around: Around | None = None
) -> Iterator[Container]:
    """A container that idles, without a network unless one is named or it is `around` services, with the task's limits.

    Only where it is put among them has it the variables and mounts of a session.
    """
    given: dict[str, Any] = {"network_mode": network}
    if around is not None:
        given = {"network_mode": "none"} if around.network == "none" else beside(client, around.network, MAIN)
        given |= {"environment": container_env(task, os.environ), "volumes": around.mounted(task.inside.volumes)}
        given |= {"tmpfs": dict.fromkeys(task.inside.tmpfs, "")}
    there = client.containers.run(
        tag, ["2147483647"], entrypoint=["sleep"], user="0:0", init=True, detach=True, **given,
        nano_cpus=round(task.cpus * 1e9) or None, mem_limit=task.memory_bytes or None,
    )  # fmt: skip
    try:
        yield there
    finally:
        there.remove(force=True)


def _put(there: Container, tar: bytes, place: str, open_to_all: bool = False) -> None:
    _run(there, ["mkdir", "-p", "-m", "755" if open_to_all else "700", place], "/", {}, COLLECT_S)
    there.put_archive(place, tar)


def _run(
    there: Container, argv: list[str], cwd: str, env: dict[str, str], limit_s: float, user: str = "root"
) -> tuple[int | None, bytes]:
    """Exit code (None when it took too long) and output; what takes too long ends with the container's processes."""
    import docker.errors

    late = threading.Event()

    def end() -> None:
        late.set()
        there.restart(timeout=0)

    timer = threading.Timer(limit_s, end)
    timer.start()
    try:
        with warnings.catch_warnings():  # the SDK leaves the socket of an exec unclosed
            warnings.simplefilter("ignore", ResourceWarning)
            done = there.exec_run(argv, workdir=cwd or "/", environment={**CLEAN, **env}, user=user)
            gc.collect()
    except docker.errors.APIError:  # the restart may come before the start
        if not late.is_set():
            raise
        return None, b""
    finally:
        timer.cancel()
        timer.join()  # what comes next finds it started again
    return (None if late.is_set() else done.exit_code), done.output if isinstance(done.output, bytes) else b""


def _fetch(there: Container, path: str) -> bytes | None:
    import docker.errors

    try:
        chunks, _ = there.get_archive(path)
    except docker.errors.NotFound:
        return None
    return b"".join(chunks)


def _reward(there: Container, name: str) -> bytes | None:
    tar = _fetch(there, f"{REWARD}/{name}")
    if tar is None:
        return None
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        member = archive.next()
        file = archive.extractfile(member) if member is not None and member.isfile() else None
        return file.read(REWARD_CAP_BYTES) if file else None


def _last(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else "no output"
