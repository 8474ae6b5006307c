"""From a cell to what a machine is told: the run spec and the files it needs, named by their hashes."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.plan import AgentConfig
from agenttime_tui.errors import UserError
from agenttime_tui.harness import harness
from agenttime_tui.harness.protocol import Answer, Launch
from agenttime_tui.protocols import access as accesses
from agenttime_tui.protocols import beside, verifying
from agenttime_tui.protocols.access import Access
from agenttime_tui.protocols.beside import Put
from agenttime_tui.protocols.outline import Asked, NotNow, Outline, Parent
from agenttime_tui.protocols.prompt import Prompt
from agenttime_tui.protocols.retrospection.fork_copy import fork_copy
from agenttime_tui.protocols.starts import empties, start_tar
from agenttime_tui.protocols.step_parts import step_parts
from agenttime_tui.protocols.studies import ANYONE, outline_of
from agenttime_tui.protocols.verifying import Polling
from remote_agent.spec import SCHEMA
from task_packs.session_files import SAID
from task_packs.surroundings import brought, container_env, grader_env, grader_workdir
from task_packs.task import Task

TESTS, REWARD, PREPARE = "/tests", "/logs/verifier", "/prepare"
POLLING = Polling()
EMPTY_ARGV = ["/bin/sh", "-c", "find . -mindepth 1 -delete"]


@dataclass(frozen=True)
class Staged:
    """One attempt, ready for a machine."""

    spec: dict[str, Any]
    prompt: Prompt
    """What opens the session."""
    blobs: Mapping[str, bytes] = field(repr=False)
    """SHA-256 -> tar bytes."""
    secrets: tuple[str, ...] = ()
    """Names of the secrets it needs."""


@dataclass(frozen=True, slots=True)
class Started:
    """A step with the command that starts it."""

    asked: Asked
    launch: Launch


def launches(
    cell: Cell, task: Task, agent: AgentConfig, access: Access | None = None, attempt: str = "", parent: Parent = ANYONE
) -> tuple[Outline, list[Started]]:
    """The outline of a cell and the command of each of its steps; UserError where there can be none."""
    outline = outline_of(cell, task, parent)
    access = access or accesses.plain(agent)
    started: list[Started] = []
    for asked in outline.steps:
        own = f" {asked.part}" if started and asked.part else ""
        turn = replace(asked.turn, **{"session": session_id(attempt + own), **access.turn_fields()})
        started.append(Started(asked, harness(agent.harness).command(agent, asked.prompt.bytes, task, turn)))
    return outline, started


def command_of(cell: Cell, task: Task, agent: AgentConfig, access: Access | None = None) -> Launch:
    """The command that a cell's session is started with."""
    return launches(cell, task, agent, access)[1][0].launch


def session_id(attempt: str) -> str:
    """The session's id: told by the attempt's, and telling nothing."""
    return str(uuid.UUID(bytes=hashlib.sha256(f"session {attempt}".encode()).digest()[:16], version=4))


def stage(
    attempt: str,
    cell: Cell,
    task: Task,
    agent: AgentConfig,
    engine: str,
    image: str,
    origin: Mapping[str, Any],
    grader_image: str = "",
    access: Access | None = None,
    parent: Parent | None = None,
    polling: Polling = POLLING,
    reasoning: bool = True,
    services: Mapping[str, str] | None = None,
) -> Staged:
    """The spec and blobs of one attempt. `origin` says which campaign and plan it belongs to.

    `services` are the images of the task's services by their names.

    `reasoning`: whether a fork is given the reasoning of a parent that was asked for no time.

    UserError where the task cannot be launched; PackError where its files cannot be read.
    """
    if task.hindrance:
        raise UserError(f'task "{task.id}" of pack "{task.pack.name}" cannot be launched: it {task.hindrance}', 2)
    if task.composed.services and engine != "docker":
        what = f'task "{task.id}" of pack "{task.pack.name}" brings {brought(task)}'
        raise UserError(f"{what}, and they take a container engine: this machine has none, or is not to use it", 1)
    access = access or accesses.plain(agent)
    blobs: dict[str, bytes] = {}

    def placed(tar: bytes, dest: str) -> dict[str, str]:
        name = hashlib.sha256(tar).hexdigest()
        blobs[name] = tar
        return {"blob": name, "dest": dest.replace("{root}", "", 1) or "/"}

    copied, access, about = _copied(agent, task, access, parent, reasoning)
    outline, started = launches(cell, task, agent, access, attempt, parent or ANYONE)
    if copied:
        started = [Started(one.asked, replace(one.launch, files=(*one.launch.files, copied))) for one in started]
    environment, secrets = _environment(task, engine, image, outline, started, access, placed, services or {})
    spec = {
        "schema": SCHEMA,
        "id": attempt,
        "engine": engine,
        "origin": {**origin, **_origin(cell, task, agent, started, parent, about)},
        "environment": environment,
        "steps": [_step(task, one, placed, polling) | step_parts(task, one.asked.part, placed) for one in started],
        **({"cutoff_ms": cell.cutoff_ms} if len(outline.timed) > 1 else {}),
        "settle": task.settle if outline.start == "task" else "stop",
        "collect": _collected(task, outline, started),
        "grade": _grade(task, placed(task.tests_tar(), TESTS), grader_image, started[-1].launch.answer)
        if outline.graded and not task.by_answer and not task.judged and not task.steps
        else None,
        **({"hold": {"key": task.grade.key}} if outline.graded and task.live else {}),
    }
    return Staged(spec, started[0].asked.prompt, blobs, secrets)


def _copied(
    agent: AgentConfig, task: Task, access: Access, parent: Parent | None, reasoning: bool
) -> tuple[tuple[bytes, str] | None, Access, Mapping[str, Any]]:
    """The copy of the parent's session, to be put in before the fork, the access with its id, and what was changed."""
    if parent is None or not parent.run:
        return None, access, {}
    copy = fork_copy(agent.harness, parent, reasoning)
    made, session = harness(agent.harness).copy_of_session(copy.files, accesses.turn(access), task.workdir)
    return (made, "{root}/"), replace(access, session=session), copy.about


def _environment(
    task: Task,
    engine: str,
    image: str,
    outline: Outline,
    started: list[Started],
    access: Access,
    placed: Put,
    images: Mapping[str, str],
) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        start = start_tar(task, outline.start)
    except NotNow as error:
        raise UserError(f'task "{task.id}" of pack "{task.pack.name}": {error}', 2) from None
    files = [placed(start, "/")]
    for one in started:
        files += [put for tar, dest in one.launch.files if (put := placed(tar, dest)) not in files]
    own = outline.start == "task"
    files += [put for put in beside.copies(task.inside.copies, placed) if own and put not in files]
    environment: dict[str, Any] = {"workdir": task.workdir, "files": files}
    tmpfs = sorted({*(place for one in started for place in one.launch.tmpfs), *(task.inside.tmpfs if own else ())})
    environment |= {"tmpfs": tmpfs} if tmpfs else {}
    if access.door is not None:
        environment["door"] = access.door
    env = {**(container_env(task, os.environ) if own else {}), **accesses.past_proxy(access.env, task)}
    if env:
        environment["env"] = env
    if access.mounts:
        environment["mounts"] = list(access.mounts)
    verified = any(one.asked.verified for one in started)
    if verified:
        environment["shared"] = [task.workdir]
    if engine == "docker":
        environment |= {
            "image": image,
            "user": task.user,
            "network": accesses.engine_network(task, verified, own),
            "cpus": float(task.cpus),
            "memory_bytes": task.memory_bytes,
        }
    if own:
        environment |= beside.surroundings(task, images, placed)
        prepare = (placed(task.prepare_tar(), PREPARE), "{root}" + PREPARE) if task.prepares else None
        environment |= {"setup": setup} if (setup := beside.set_up(task, prepare)) else {}
    elif empties(task, outline.start):
        environment["setup"] = {"files": [], "argv": EMPTY_ARGV, "cwd": task.workdir}
    return environment, _secrets(started, access)


def _secrets(started: list[Started], access: Access) -> tuple[str, ...]:
    names = [name for one in started for name in (*one.launch.secret_env, *one.launch.secret_files)]
    door = (access.door or {}).get("secret")
    return tuple(dict.fromkeys([*names, *([door] if door else [])]))


def _collected(task: Task, outline: Outline, started: list[Started]) -> list[str]:
    kept = [place for one in started for place in one.launch.keep]
    made = [task.workdir, *task.pack.manifest.outputs] if outline.start == "task" else []
    made += [place for step in task.steps for place in step.harbor.artifacts]
    return list(dict.fromkeys([*made, *kept]))


def _grade(task: Task, tests: dict[str, str], image: str, answer: Answer | None) -> dict[str, Any]:
    found = {"match": answer.match, "path": list(answer.path)} if answer else {}
    told = {"session": {"dir": SAID, **found}} if task.grade.session else {}
    argv = task.grader_argv("{root}" + TESTS)
    return {
        **({"image": image, **beside.sealed(task)} if image else {}),
        **told,
        "files": [tests],
        "argv": argv if image else beside.collecting([one.command for one in task.harbor.collect], argv),
        "cwd": grader_workdir(task),
        "env": {**grader_env(task, os.environ), **task.session_env("{root}" + SAID), "VERIFIER_DIR": "{root}" + REWARD},
        "timeout_ms": task.grader_timeout_ms,
        "reward": REWARD,
    }


def _origin(
    cell: Cell, task: Task, agent: AgentConfig, started: list[Started], parent: Parent | None, about: Mapping[str, Any]
) -> dict[str, Any]:
    """What rebuilds the campaign from the machine alone."""
    made: dict[str, Any] = {
        "cell": cell.fields(),
        "agent": agent.model_dump(mode="json"),
        "prompt_sha256": started[0].asked.prompt.sha256,
        "grade": task.grade.model_dump(mode="json", by_alias=True),
    }
    if task.steps:
        made["steps"] = {"strategy": task.steps[0].strategy, "of": len(task.steps)}
    if len(started) > 1:
        made["prompts_sha256"] = {one.asked.name: one.asked.prompt.sha256 for one in started}
    if (tools := started[-1].asked.turn.tools) != "native":
        made["tools"] = tools
    if task.track:
        made["track"] = task.track
    servers = list(dict.fromkeys(name for one in started for name in one.launch.servers))
    if servers:
        made["servers"] = servers
    remarks = list(dict.fromkeys(remark for one in started for remark in one.launch.remarks))
    if remarks:
        made["remarks"] = remarks
    if parent is not None and parent.run:
        made["parent"] = {
            "run": parent.run, "study": parent.study, "truth_s": parent.worked_s, "session_sha256": parent.sha256,
            **about,
        }  # fmt: skip
    return made


def _step(task: Task, one: Started, placed: Put, polling: Polling) -> dict[str, Any]:
    asked, launch = one.asked, one.launch
    step: dict[str, Any] = {
        "name": asked.name,
        "argv": list(launch.argv),
        "env": launch.env,
        "secret_env": list(launch.secret_env),
        "cwd": task.workdir,
        "stdin": None if launch.stdin is None else launch.stdin.decode("utf-8"),
        "requested_ms": asked.requested_ms,
        "cutoff_ms": asked.cutoff_ms,
        "result": launch.result,
    }
    if launch.secret_files:
        step["secret_files"] = dict(launch.secret_files)
    if not asked.timed:
        step["timed"] = False
    if asked.after_success:
        step["after_success"] = True
    if asked.seal:
        answer = launch.answer
        step["seal"] = {
            "match": answer.match if answer else {},
            "path": list(answer.path) if answer else [],
            "label": asked.seal,
        }
    if asked.verified:
        step["verifier"] = verifying.verifier(task, placed(task.tests_tar(), TESTS), TESTS, polling)
    return step
