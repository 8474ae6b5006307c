"""What stands around a task's session: variables, services, health checks; and why it may be impossible to have it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from task_packs.compose.services import Composed
from task_packs.errors import PackError
from task_packs.harbor.parts import MAIN, Artifact, Healthcheck
from task_packs.harbor.variables import NAME, Known, Unfilled, is_secret, resolved

if TYPE_CHECKING:
    from task_packs.harbor.task import HarborTask
    from task_packs.task import Task

COMPOSE = ("docker-compose.yaml", "docker-compose.yml")
ARTIFACTS = "/logs/artifacts"
ROOT = (None, "root", "0", "0:0", "root:root")
USUAL_START_S = 5.0
USUAL_INTERVAL_S = USUAL_TIMEOUT_S = 30.0
"""Of a compose file's health check that says nothing, as the engine has them."""


def compose_file(folder: Path) -> Path | None:
    """The compose file of a task directory. PackError where there are two, or what is there is no file of the task."""
    there = [path for name in COMPOSE if os.path.lexists(path := folder / "environment" / name)]
    if len(there) > 1:
        raise PackError(f"{there[1]}: lies beside {COMPOSE[0]}, and only one of them can be meant: remove the other")
    for path in there:
        if not path.is_file() or not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(path.parent)):
            raise PackError(f"{path}: is no file below environment/")
    return there[0] if there else None


def filled(where: str, pairs: Iterable[tuple[str, str]], known: Known) -> dict[str, str]:
    """Variables of task.toml with the operator's filled in. PackError that names the one that cannot be."""
    found = {}
    for name, value in pairs:
        try:
            found[name] = resolved(value, known)
        except Unfilled as error:
            raise PackError(f"{where}.{name}: {error}") from None
    return found


def composed(folder: Path, task: HarborTask, known: Mapping[str, str]) -> Composed:
    """What the compose file of a task asks for, nothing where there is none. PackError names file and key."""
    path = compose_file(folder)
    if path is None:
        return Composed()
    from task_packs.compose.reading import read_compose  # only where there is something to read: it takes 30 ms

    given = filled(f"{folder / 'task.toml'}: environment.env", task.env, Known(known))
    return read_compose(
        path, Known(known, dotenv(path.parent, known) | given), task.cpus, task.memory_bytes, task.image or ""
    )


def dotenv(folder: Path, known: Mapping[str, str]) -> dict[str, str]:
    """What the file .env beside a compose file gives it; the operator's variables go before it, but for keys."""
    try:
        lines = (folder / ".env").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found = {}
    for line in lines:
        name, sign, value = line.strip().removeprefix("export ").partition("=")
        if sign and NAME.fullmatch(name := name.strip()) and (name not in known or is_secret(name)):
            try:
                found[name] = " ".join(shlex.split(value, comments=True))
            except ValueError:  # a quote or a backslash with nothing after it stands for itself
                found[name] = value
    return found


def container_env(task: Task, known: Mapping[str, str]) -> dict[str, str]:
    """The variables of the agent's container: of the compose file, and over them those of environment.env.

    PackError where one of the operator's cannot be filled in.
    """
    own = filled(f"{task.path / 'task.toml'}: environment.env", task.harbor.env, Known(known))
    return {**dict(task.inside.env), **own}


def around_grader(task: Task, known: Mapping[str, str]) -> dict[str, str]:
    """The variables of the container that the grader works in. PackError as `container_env`."""
    place = task.harbor.grader
    if place is None:
        return container_env(task, known)
    return filled(f"{task.path / 'task.toml'}: verifier.environment.env", place.env, Known(known))


def grader_env(task: Task, known: Mapping[str, str]) -> dict[str, str]:
    """The variables of a grader on a machine: its container's and its own. PackError as `container_env`."""
    own = filled(f"{task.path / 'task.toml'}: verifier.env", task.harbor.verifier_env, Known(known))
    return {**around_grader(task, known), **own}


def solution_env(task: Task, known: Mapping[str, str]) -> dict[str, str]:
    """The variables of the reference solution beside its container's. PackError as `container_env`."""
    return filled(f"{task.path / 'task.toml'}: solution.env", task.harbor.solution_env, Known(known))


def health_checks(task: Task) -> tuple[Healthcheck, ...]:
    """What must succeed in the agent's container before its session."""
    checks, inside = [task.harbor.healthcheck] if task.harbor.healthcheck else [], task.inside
    if inside.check is not None and inside.check.test:
        check, test = inside.check, inside.check.test
        command = test[1] if test[0] == "CMD-SHELL" else shlex.join(test[1:])
        checks.append(
            Healthcheck(
                command,
                check.interval / 1000 or USUAL_INTERVAL_S,
                check.timeout / 1000 or USUAL_TIMEOUT_S,
                check.start_period / 1000,
                check.start_interval / 1000 or USUAL_START_S,
                retries=check.retries or 3,
            )
        )
    return tuple(checks)


def artifacts(task: Task) -> tuple[Artifact, ...]:
    """What a separate grader gets: the directory of artifacts, and what else the task names; a path once."""
    first = next((one for one in task.harbor.artifacts if one.path == ARTIFACTS), Artifact(ARTIFACTS))
    found = {first.path: first}
    for one in task.harbor.artifacts:
        if first != Artifact(ARTIFACTS) or not one.below(ARTIFACTS):
            found.setdefault(one.path, one)
    return tuple(found.values())


def grader_workdir(task: Task) -> str:
    """Where the grader works."""
    place = task.harbor.grader
    return (place.workdir if place and task.separate else None) or task.workdir


def brought(task: Task) -> str:
    """`2 services: api, db; 3 steps: make, mend, tell`; empty where it brings none, or they cannot be had."""
    if task.hindrance:
        return ""
    found = {
        "service": [service.name for service in task.composed.services],
        "tool server": [server.name for server in task.harbor.mcp_servers],
        "step": list(task.harbor.steps),
    }
    told = [(word, names) for word, names in found.items() if names]
    return "; ".join(f"{len(names)} {word}{'s' * (len(names) > 1)}: {', '.join(names)}" for word, names in told)


def folder_hindrance(folder: Path, task: HarborTask, known: Mapping[str, str]) -> str:
    """Why the task in `folder` cannot be launched, by what its files ask for; empty when it can."""
    if task.tpu:
        return "needs a TPU (environment.tpu in task.toml)"
    if task.skills_dir:
        return "brings skills (environment.skills_dir in task.toml), which are not handed on"
    try:
        names = [MAIN, *(service.name for service in composed(folder, task, known).services)]
        filled("task.toml: environment.env", task.env, Known(known))
    except PackError as error:
        return f"cannot be set up: {_short(error, folder)}"
    for key, service in (
        *(("artifacts", one.service) for one in task.artifacts),
        *(("verifier.collect", one.service) for one in task.collect),
    ):
        if service not in names:
            return f"names service {service} in {key} of task.toml, which is not among its services"
    return ""


def task_hindrance(task: Task, known: Mapping[str, str]) -> str:
    """Why the task cannot be launched, by what its pack makes of it; empty when it can."""
    ranges = [host for host in task.allowed_hosts if "/" in host and task.network == "allowlist"]
    if ranges:
        return f"allows {ranges[0]} (allowed_hosts), and only hosts can be let through, not ranges"
    return _grader_hindrance(task, known)


def _grader_hindrance(task: Task, known: Mapping[str, str]) -> str:
    """Why the task cannot be graded as its task.toml says; empty when it can."""
    if task.by_answer:
        return ""
    if task.settle == "snapshot" and task.composed.services:
        return 'brings services, and settle = "snapshot" of its pack grades in a copy that cannot reach them'
    harbor, place = task.harbor, task.harbor.grader
    if harbor.verifier_user not in ROOT:
        return f"wants its grader run as {harbor.verifier_user} (verifier.user in task.toml), and graders run as root"
    if place is not None:
        lacks = {
            f"os = {place.os}": place.os != "linux",
            "tpu": place.tpu,
            "healthcheck": place.healthcheck,
            f"gpus = {place.gpus}": place.gpus > task.gpus,
            f"cpus = {place.cpus:g}": place.cpus > task.cpus > 0,
            f"memory of {place.memory_bytes >> 20} MiB": place.memory_bytes > task.memory_bytes > 0,
        }
        if found := next((name for name, lacking in lacks.items() if lacking), ""):
            what = f"wants {found} for its grader alone (verifier.environment in task.toml)"
            return f"{what}, which has what the session had"
    named = [*(one.service for one in harbor.artifacts), *(one.service for one in harbor.collect)]
    services = [service for service in named if service != MAIN]
    if task.judged and services:
        return f"is judged over a copy of its working directory, and its grader needs what service {services[0]} saw"
    if not task.judged:
        try:
            grader_env(task, known)
        except PackError as error:
            return f"cannot be graded: {_short(error, task.path)}"
    return "" if task.live else _grader_network(task)


def _grader_network(task: Task) -> str:
    place = task.harbor.grader
    wanted = task.harbor.verifier_network or (place.network if place is not None else None)
    has = task.network == "public" and not task.separate and task.settle != "snapshot"
    if wanted in ("public", "allowlist") and not has and not task.judged:
        return f"wants a network for its grader (verifier: {wanted} in task.toml), which has none"
    if wanted == "none" and has:
        what = "wants its grader without a network (verifier.network_mode in task.toml)"
        return f'{what}: set settle = "snapshot" in its pack'
    return ""


def _short(error: PackError, folder: Path) -> str:
    return str(error).replace(f"{folder}/", "")
