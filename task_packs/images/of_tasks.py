"""Gets the image a task brings itself into an engine: built from its Dockerfile, or pulled by its name."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from task_packs.archive import tar_tree
from task_packs.compose.services import Built, Service
from task_packs.errors import ImageError
from task_packs.images.rootfs import Log
from task_packs.task import Task

if TYPE_CHECKING:
    import docker


def has_grader_image(task: Task) -> bool:
    """Whether a separate grader has an image of its own."""
    return bool(task.harbor.grader and task.harbor.grader.image) or (task.path / "tests/Dockerfile").is_file()


def ensure_verifier_image(client: docker.DockerClient, task: Task, log: Log) -> str:
    """The image that a separate grader runs in: one named for it, of tests/Dockerfile, else the task's own.

    Raises ImageError.
    """
    place = task.harbor.grader
    recipe = task.path / "tests/Dockerfile"
    if place is None or not place.image:
        return (
            _made(client, task, "of the grader", recipe, log)
            if recipe.is_file()
            else ensure_task_image(client, task, log)
        )
    return _had(client, task, place.image, recipe, log)


def ensure_task_image(client: docker.DockerClient, task: Task, log: Log) -> str:
    """The name of the task's image in the engine of `client`, made there when it was not; raises ImageError."""
    recipe = task.path / "environment/Dockerfile"
    name = task.harbor.image
    return _had(client, task, name, recipe, log) if name else _made(client, task, f"of task {task.id}", recipe, log)


def ensure_service_image(client: docker.DockerClient, task: Task, service: Service, log: Log) -> str:
    """The name of the image of one of the task's services, as `ensure_task_image`; raises ImageError."""
    if service.built is None:
        return _had(client, task, service.image, None, log)
    built = service.built
    name = f"of service {service.name} of task {task.id}"
    return _made(client, task, name, built.context / built.dockerfile, log, built)


def _had(client: docker.DockerClient, task: Task, name: str, recipe: Path | None, log: Log) -> str:
    """An image by its name: there already, else pulled, else built where there is a recipe."""
    import docker.errors
    import requests

    try:
        try:
            client.images.get(name)
            return name
        except docker.errors.ImageNotFound:
            log(f"image {name}: pulling")
        try:
            client.images.pull(name)
            return name
        except docker.errors.DockerException:
            if recipe is None or not recipe.is_file():
                raise
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        raise ImageError(
            f"image {name} cannot be had: {_last(str(error))}; load it into the engine yourself (docker load)"
        ) from None
    return _made(client, task, name, recipe, log)


def _made(
    client: docker.DockerClient, task: Task, name: str, recipe: Path, log: Log, built: Built | None = None
) -> str:
    """Builds from one directory of the task alone; that of the agent's image holds neither tests nor solution."""
    import docker.errors
    import requests

    built = built or Built(recipe.parent, recipe.name)
    context = tar_tree(built.context)
    how = [built.dockerfile, *built.args, built.target] if (built.args or built.target) else [built.dockerfile]
    said = b"" if how == ["Dockerfile"] else json.dumps(how).encode()
    tag = f"x/built:{hashlib.sha256(context + said).hexdigest()[:12]}"
    try:
        if client.images.list(filters={"reference": tag}):
            return tag
        log(f"image {name}: building {tag}")
        client.images.build(
            fileobj=io.BytesIO(context), custom_context=True, dockerfile=built.dockerfile, buildargs=dict(built.args),
            target=built.target or None, tag=tag, rm=True, forcerm=True, timeout=task_timeout_s(task),
        )  # fmt: skip
    except docker.errors.BuildError as error:
        raise ImageError(f"image {name} could not be built from {recipe}: {_last(str(error))}") from None
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        raise ImageError(f"image {name} cannot be had: {_last(str(error))}; is the engine up?") from None
    return tag


def task_timeout_s(task: Task) -> int:
    """How long a build may take: as Harbor's default, 10 minutes, and never less."""
    return max(600, int(task.harbor.verifier_timeout_s))


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no reason given"
