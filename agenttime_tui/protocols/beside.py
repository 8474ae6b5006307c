"""What a task asks for around its session, as a machine is told: services, volumes, variables, health checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from shlex import quote
from typing import Any

from task_packs.archive import tar_at
from task_packs.compose.services import Copied, Service, Volume
from task_packs.harbor.parts import MAIN, Artifact
from task_packs.harbor.variables import NAME
from task_packs.set_up import set_up_argv, set_up_s
from task_packs.surroundings import artifacts, container_env, grader_workdir
from task_packs.task import Task

Put = Callable[[bytes, str], dict[str, str]]
"""Keeps a tar and says where it goes: (bytes, place) -> a placed blob of the spec."""


def surroundings(task: Task, images: Mapping[str, str], placed: Put) -> dict[str, Any]:
    """Keys of `environment` for the services of a task and what it shares with them. `images`: name -> tag."""
    found: dict[str, Any] = {}
    if task.composed.services:
        found["services"] = [_service(one, images[one.name], placed) for one in task.composed.services]
    if task.inside.volumes:
        found["volumes"] = _volumes(task.inside.volumes)
    return found


def _service(service: Service, image: str, placed: Put) -> dict[str, Any]:
    check = service.check
    health = None if check is None else {
        "test": list(check.test), "interval_ms": check.interval, "timeout_ms": check.timeout,
        "start_period_ms": check.start_period, "retries": check.retries,
    }  # fmt: skip
    return {
        "name": service.name,
        "image": image,
        "argv": None if service.argv is None else list(service.argv),
        "entrypoint": None if service.entrypoint is None else list(service.entrypoint),
        "env": dict(service.env),
        "user": service.user,
        "workdir": service.workdir,
        "files": copies(service.copies, placed),
        "volumes": _volumes(service.volumes),
        "tmpfs": list(service.tmpfs),
        "cpus": service.cpus,
        "memory_bytes": service.memory_bytes,
        "shm_bytes": service.shm_bytes,
        "init": service.init,
        "health": health,
        "ready": service.ready,
    }


def copies(asked: tuple[Copied, ...], placed: Put) -> list[dict[str, str]]:
    """The files that a compose file mounts from the task's own: each container gets a copy."""
    places = [(one.source, PurePosixPath(one.target)) for one in asked]
    return [placed(tar_at(source, target.name), str(target.parent)) for source, target in places]


def _volumes(volumes: tuple[Volume, ...]) -> list[dict[str, Any]]:
    return [{"name": one.name, "target": one.target, "read_only": one.read_only} for one in volumes]


def set_up(task: Task, prepare: tuple[dict[str, str], str] | None) -> dict[str, Any] | None:
    """environment.setup: the task's preparation (its files and their place), then its health checks."""
    argv = set_up_argv(task, prepare[1] if prepare else "", os.environ)
    if not argv:
        return None
    return {
        "files": [prepare[0]] if prepare else [],
        "argv": argv,
        "cwd": task.workdir,
        "timeout_ms": round(set_up_s(task) * 1000),
    }


def sealed(task: Task) -> dict[str, Any]:
    """Keys of `grade` for what a separate grader gets: commands that make it, and the paths, by service."""
    first = "".join(f"export {name}={quote(value)}; " for name, value in container_env(task, os.environ).items()
                    if NAME.fullmatch(name))  # fmt: skip
    first += f"cd {quote(task.workdir)} || exit; " if grader_workdir(task) != task.workdir else ""
    hooks = [
        {
            "command": (first if one.service == MAIN else "") + one.command,
            "service": one.service,
            "timeout_ms": round(one.timeout_s * 1000),
            "user": one.user or "",
        }
        for one in task.harbor.collect
    ]
    paths = [
        one.path if one == Artifact(one.path) else {"path": one.path, "service": one.service, "exclude": [*one.exclude]}
        for one in artifacts(task)
    ]
    return {"collect": hooks, "artifacts": paths}


def collecting(commands: Sequence[str], argv: list[str]) -> list[str]:
    """A grader that works where the session was, after the commands that make what it looks at."""
    if not commands:
        return argv
    script = 'while [ "$1" != -- ]; do sh -c "$1" </dev/null; shift; done; shift; exec "$@"'
    return ["/bin/sh", "-c", script, "sh", *commands, "--", *argv]
