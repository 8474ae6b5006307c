"""A task's services in the engine of this computer, for checking a pack: on a network without a way out."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from task_packs.archive import tar_at
from task_packs.compose.services import Copied, Service, Volume
from task_packs.errors import ServiceError
from task_packs.task import Task

if TYPE_CHECKING:
    import docker
    from docker.models.containers import Container

READY_S = 600.0
POLL_S = 0.1
NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class Around:
    """What a container of the task is put among."""

    network: str = "none"
    volumes: Mapping[str, str] = field(default_factory=dict)
    """Name in the compose file -> the engine's."""
    services: Mapping[str, Container] = field(default_factory=dict)

    def mounted(self, volumes: tuple[Volume, ...]) -> dict[str, dict[str, str]]:
        """The `volumes` of a container that the SDK makes."""
        return {self.volumes[one.name]: {"bind": one.target, "mode": "ro" if one.read_only else "rw"}
                for one in volumes}  # fmt: skip


@contextmanager
def served(client: docker.DockerClient, task: Task, images: Mapping[str, str]) -> Iterator[Around]:
    """The services of a task, each ready before the next; all are gone afterwards. ServiceError, DockerException."""
    import docker.errors

    services, volumes = task.composed.services, task.inside.volumes
    named = dict.fromkeys(one.name for one in (*volumes, *(found for one in services for found in one.volumes)))
    if not services and not named:
        yield Around()
        return
    with ExitStack() as stack:
        token = secrets.token_hex(6)
        made: dict[str, str] = {}
        for name in named:
            made[name] = f"x-{token}-{len(made)}"
            stack.callback(client.volumes.create(made[name]).remove, force=True)
        if not services:
            yield Around("none", made)
            return
        network = f"x-{token}"
        stack.callback(client.networks.create(network, internal=True).remove)
        around = Around(network, made)
        started: dict[str, Container] = {}
        for service in services:
            try:
                there = client.containers.create(images[service.name], **_asked(client, service, around))
                stack.callback(there.remove, force=True, v=True)
                put_copies(there, service.copies)
                there.start()
            except docker.errors.APIError as error:
                why = " ".join(str(error.explanation or error).split())[-300:]
                raise ServiceError(f"service {service.name} cannot be started: {why}") from None
            _wait(service, there)
            started[service.name] = there
        yield Around(network, made, started)


def put_copies(there: Container, copies: tuple[Copied, ...]) -> None:
    """Puts the task's files that its compose file mounts into a container."""
    for one in copies:
        there.put_archive("/", tar_at(one.source, one.target.strip("/")))


def _asked(client: docker.DockerClient, service: Service, around: Around) -> dict[str, Any]:
    check = service.check
    health: dict[str, Any] = {"test": ["NONE"]}
    if check is not None:
        times = {"interval": check.interval, "timeout": check.timeout, "start_period": check.start_period}
        health = {"retries": check.retries, **{name: value * NS_PER_MS for name, value in times.items()}}
        if check.test:
            health["test"] = list(check.test)
    given = {
        "command": None if service.argv is None else list(service.argv),
        "entrypoint": None if service.entrypoint is None else list(service.entrypoint),
        "user": service.user or None,
        "working_dir": service.workdir or None,
        "nano_cpus": round(service.cpus * 1e9) or None,
        "mem_limit": service.memory_bytes or None,
        "shm_size": service.shm_bytes or None,
    }
    return {
        **{name: value for name, value in given.items() if value is not None},
        "environment": dict(service.env),
        "healthcheck": health,
        "init": service.init,
        "tmpfs": dict(one.partition(":")[::2] for one in service.tmpfs),
        "volumes": around.mounted(service.volumes),
        **beside(client, around.network, service.name),
    }


def beside(client: docker.DockerClient, network: str, name: str) -> dict[str, Any]:
    """What puts a container on the services' network under a name."""
    return {"network": network, "networking_config": {network: client.api.create_endpoint_config(aliases=[name])}}


def _wait(service: Service, there: Container) -> None:
    """Until the service is ready as somebody asks. ServiceError when it will not be."""
    until = time.monotonic() + READY_S
    while True:
        there.reload()
        state = there.attrs["State"]
        status, health = state["Status"], (state.get("Health") or {}).get("Status")
        ended = status in ("exited", "dead")
        if service.ready in ("completed", "started") and ended and state["ExitCode"] == 0:
            return
        if service.ready == "started" and status == "running":
            return
        if service.ready == "healthy" and health == "healthy":
            return
        late = time.monotonic() > until
        if (
            ended
            or health == "unhealthy"
            or late
            or (service.ready == "healthy" and status == "running" and not health)
        ):
            how = f"ended with {state['ExitCode']}" if ended else f"is {health}" if health else "has no health check"
            said = there.logs(tail=5).decode("utf-8", "replace").strip()[-300:]
            raise ServiceError(
                f"service {service.name} did not become {service.ready}: it {how}: {said or 'no output'}"
            )
        time.sleep(POLL_S)
