"""Reads a Harbor task directory (schema 1.0 to 1.4): their files, so what we do not know is left alone."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from task_packs.errors import PackError
from task_packs.harbor.parts import (
    Artifact,
    GraderPlace,
    Healthcheck,
    Hook,
    McpServer,
    allowed_hosts,
    artifact,
    grader_place,
    healthcheck,
    hook,
    mcp_server,
    memory,
    network_mode,
    user,
    workdir,
)
from task_packs.harbor.steps import read_steps
from task_packs.harbor.toml import Section, read_toml
from task_packs.surroundings import folder_hindrance

CANARY = re.compile(r"^(<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HarborTask:
    """What a task.toml says; None or 0 where it says nothing."""

    schema: str = "1.4"
    agent_timeout_s: float | None = None
    """The native cap, which a study replaces by its own cutoff."""
    agent_user: str | None = None
    verifier_timeout_s: float = 600.0
    verifier_env: tuple[tuple[str, str], ...] = ()
    verifier_user: str | None = None
    verifier_network: str | None = None
    """none, public or allowlist, where the grader is to have another network than the session."""
    network: str = "public"
    """none, public or allowlist."""
    allowed_hosts: tuple[str, ...] = ()
    cpus: float = 0.0
    memory_bytes: int = 0
    gpus: int = 0
    tpu: bool = False
    workdir: str | None = None
    image: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    """Variables of the container, as task.toml has them: ${NAME} is not filled in yet."""
    mcp_servers: tuple[McpServer, ...] = ()
    healthcheck: Healthcheck | None = None
    skills_dir: str | None = None
    os: str = "linux"
    steps: tuple[str, ...] = ()
    """Names of its steps, each with a prompt of its own; empty for a task of one prompt."""
    artifacts: tuple[Artifact, ...] = ()
    """Paths inside the environment that the verifier needs besides the workdir."""
    separate: bool = False
    """Whether the verifier has an environment of its own."""
    grader: GraderPlace | None = None
    """That environment, where it is described."""
    collect: tuple[Hook, ...] = ()
    """Commands to run after the session, so that artifacts exist."""
    solution_env: tuple[tuple[str, str], ...] = ()
    """Variables of the reference solution."""


def read_task_toml(path: Path) -> HarborTask:
    """What `path` says; raises PackError naming file and key."""
    top = read_toml(path)
    environment, agent, verifier = top.table("environment"), top.table("agent"), top.table("verifier")
    own = agent if "network_mode" in agent else environment
    separate, place = _separate(verifier)
    return HarborTask(
        schema=str(top.raw.get("schema_version", "1.0" if "version" in top.raw else "1.4")),
        agent_timeout_s=agent.number("timeout_sec"),
        agent_user=user(agent),
        verifier_timeout_s=verifier.number("timeout_sec") or 600.0,
        verifier_env=verifier.strings("env"),
        verifier_user=verifier.text("user"),
        verifier_network=network_mode(verifier) if "network_mode" in verifier else None,
        network=network_mode(own),
        allowed_hosts=allowed_hosts(agent) or allowed_hosts(environment),
        cpus=environment.number("cpus") or 0.0,
        memory_bytes=memory(environment),
        gpus=int(environment.number("gpus") or 0),
        tpu="tpu" in environment,
        workdir=workdir(environment),
        image=environment.text("docker_image"),
        env=environment.strings("env"),
        mcp_servers=_mcp_servers(environment),
        healthcheck=healthcheck(environment.table("healthcheck")) if "healthcheck" in environment else None,
        skills_dir=environment.text("skills_dir"),
        os=(environment.text("os") or "linux").lower(),
        steps=tuple(step.raw["name"] for step in top.named("steps", "name")),
        artifacts=tuple(artifact(one) for one in top.named("artifacts", "source")),
        separate=separate,
        grader=place,
        collect=tuple(hook(one) for one in verifier.named("collect", "command")),
        solution_env=top.table("solution").strings("env"),
    )


def _separate(verifier: Section) -> tuple[bool, GraderPlace | None]:
    """Whether the grader has an environment of its own, and the one that is described: that alone makes it so."""
    mode = verifier.text("environment_mode")
    if mode not in (None, "shared", "separate"):
        raise verifier.wrong("environment_mode", f"{mode!r} is not one of shared, separate")
    if "environment" not in verifier:
        return mode == "separate", None
    if mode == "shared":
        raise verifier.wrong("environment_mode", "'shared' and [verifier.environment] exclude each other")
    return True, grader_place(verifier.table("environment"))


def _mcp_servers(environment: Section) -> tuple[McpServer, ...]:
    found = tuple(mcp_server(one) for one in environment.tables("mcp_servers"))
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise environment.wrong("mcp_servers", f"there are two of the name {twice!r}")
    return found


def read_instruction(path: Path) -> str:
    """The text of instruction.md as Harbor delivers it: universal newlines, leading canary lines and blanks dropped."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PackError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PackError(f"{path}: is not UTF-8 at byte {error.start}") from None
    lines = text.split("\n")
    start = 0
    while start < len(lines) and CANARY.match(lines[start].strip()):
        start += 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    return "\n".join(lines[start:])


def hindrance(folder: Path) -> str:
    """Why the task in `folder` cannot be launched here although it can be read; empty when it can."""
    toml = folder / "task.toml"
    task = read_task_toml(toml) if toml.exists() else HarborTask()
    if task.steps and (why := next((one.hindrance for one in read_steps(toml).steps if one.hindrance), "")):
        return why
    if not task.schema.startswith("1"):
        return f"is of schema {task.schema} (schema_version in task.toml), and 1.0 to 1.4 are understood"
    if task.os != "linux":
        return f"needs {task.os}"
    return folder_hindrance(folder, task, os.environ)


def dockerfile_workdir(path: Path) -> str | None:
    """The directory that the image of a Dockerfile starts in; None where it says none or takes it from a variable."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    found: PurePosixPath | None = None
    for line in lines:
        words = line.split(None, 1)
        if len(words) == 2 and words[0].upper() == "FROM":
            found = None
        if len(words) == 2 and words[0].upper() == "WORKDIR":
            place = words[1].strip().strip("\"'")
            if "$" in place:
                return None
            found = PurePosixPath("/") / (found or "/") / place
    return None if found is None else str(found)


def dockerfile_entrypoint(path: Path) -> tuple[str, ...]:
    """The ENTRYPOINT that the last stage of a Dockerfile gives itself; empty where it gives none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    found: tuple[str, ...] = ()
    for line in re.sub(r"\\[ \t]*\n", " ", "\n".join(lines)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word.upper() == "FROM":
            found = ()
        elif word.upper() == "ENTRYPOINT":
            try:
                told = json.loads(rest)
            except ValueError:
                told = ["/bin/sh", "-c", rest.strip()]
            found = tuple(str(item) for item in told) if isinstance(told, list) else ()
    return found
