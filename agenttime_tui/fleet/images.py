"""Pack images on machines: looked for once per machine, made through the forwarded socket of its engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import docker
from docker.errors import DockerException

from agenttime_tui.errors import UserError
from agenttime_tui.fleet.link import Link
from agenttime_tui.fleet.machine import Machine
from agenttime_tui.fleet.tool_mounts import lacking
from agenttime_tui.fleet.tunnel import forward_unix_socket
from task_packs.compose.services import Service
from task_packs.errors import ImageError
from task_packs.images.of_tasks import (
    ensure_service_image,
    ensure_task_image,
    ensure_verifier_image,
    has_grader_image,
)
from task_packs.images.recipes import ensure_image
from task_packs.task import Task

ENGINE_S = 600
FLOOR_BYTES = 256 << 20
"""Less disk than this and no image is begun."""
SESSION, GRADER = "session", "grader"
Wanted = str | Service
"""Whose image is made: the session's, its grader's, or a service's."""


class Images:
    """Answers which image a pack's runs use on a machine, and makes it there first when it is not."""

    def __init__(self, cache: Path, said: Callable[[str], None]) -> None:
        self._cache = cache
        self._said = said
        self._known: dict[tuple[str, str, str], asyncio.Task[str]] = {}
        self._lacking: dict[tuple[str, str, str], asyncio.Task[frozenset[str]]] = {}

    async def ready(self, machine: Machine, task: Task) -> str:
        """The tag of the task's image on the machine. UserError that names the image when it cannot be had."""
        return await self._once((machine.name, task.pack.name, task.id if task.builds else ""), machine, task, SESSION)

    async def grader(self, machine: Machine, task: Task) -> str:
        """The tag of its grader's image, empty where it grades where the session was. UserError as `ready`."""
        if not task.separate:
            return ""
        return await self._once((machine.name, task.pack.name, f"{task.id}/tests"), machine, task, GRADER)

    async def services(self, machine: Machine, task: Task) -> dict[str, str]:
        """The tags of its services' images by their names, none where it brings none. UserError as `ready`."""
        made = {}
        for service in task.composed.services:
            key = (machine.name, task.pack.name, f"{task.id}/services/{service.name}")
            made[service.name] = await self._once(key, machine, task, service)
        return made

    async def _once(self, key: tuple[str, str, str], machine: Machine, task: Task, what: Wanted) -> str:
        made = self._known.get(key)
        if made is None or (made.done() and made.exception() is not None):
            python = machine.shipped.python if machine.shipped else None
            making = self.make(machine.name, machine.link, machine.facts, python, task, what)
            made = self._known[key] = asyncio.create_task(making)
        return await asyncio.shield(made)

    async def lacks(self, machine: Machine, image: str, platform: str) -> frozenset[str]:
        """Which of glibc and bash an image on the machine has not. UserError where it cannot be looked into."""
        key = (machine.name, image, platform)
        known = self._lacking.get(key)
        if known is None or (known.done() and known.exception() is not None):
            known = self._lacking[key] = asyncio.create_task(self._look(machine, image, platform))
        return await asyncio.shield(known)

    async def _look(self, machine: Machine, image: str, platform: str) -> frozenset[str]:
        socket = str(machine.facts.get("engine", {}).get("socket", ""))
        python = machine.shipped.python if machine.shipped else None

        def look(local: str) -> frozenset[str]:
            client = docker.DockerClient(base_url=f"unix://{local}", timeout=ENGINE_S)
            try:
                return lacking(client, image, platform)
            finally:
                client.close()

        async with forward_unix_socket(machine.link, socket, python) as local:
            try:
                return await asyncio.to_thread(look, str(local))
            except DockerException as error:
                raise UserError(f"{machine.name}: the image {image} could not be looked into: {error}") from None

    async def make(
        self, name: str, link: Link, facts: Mapping[str, Any], python: str | None, task: Task, what: Wanted = SESSION
    ) -> str:
        """Makes the task's image on the machine `name`, its grader's or a service's, through its engine's socket.

        `facts` is what the probe found.

        UserError that names the image, or the machine where there is no engine or too little disk.
        """
        pack = task.pack
        if what == SESSION and pack.image is None and not task.builds:
            raise UserError(f"pack {pack.name} has no [image] in {pack.path}/pack.toml: it cannot run in a container")
        engine = facts.get("engine", {})
        if not engine.get("answers"):
            raise UserError(f"{name} has no container engine that answers: {engine.get('error', 'none was found')}")
        free_bytes = facts.get("free_bytes")
        if isinstance(free_bytes, int) and free_bytes < FLOOR_BYTES:
            raise UserError(f"{name} has {free_bytes >> 20} MiB of disk left, an image needs {FLOOR_BYTES >> 20} MiB")
        socket = str(engine.get("socket", ""))
        async with forward_unix_socket(link, socket, python) as local:
            try:
                return await asyncio.to_thread(self._ensure, str(local), task, what)
            except ImageError as error:
                raise UserError(f"{name}: {error}") from None
            except DockerException as error:
                raise UserError(f"{name}: the engine at {socket} did not take the image: {error}") from None

    def _ensure(self, socket: str, task: Task, what: Wanted) -> str:
        client = docker.DockerClient(base_url=f"unix://{socket}", timeout=ENGINE_S)
        try:
            if isinstance(what, Service):
                return ensure_service_image(client, task, what, self._said)
            if what == GRADER and has_grader_image(task):
                return ensure_verifier_image(client, task, self._said)
            if task.pack.image is not None:
                return ensure_image(client, task.pack.image, self._cache, self._said)
            return ensure_task_image(client, task, self._said)
        finally:
            client.close()
