"""Gets a pack's image into an engine without any registry: built from Debian packages once, kept, loaded by content."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from task_packs.errors import ImageError
from task_packs.images import rootfs
from task_packs.manifest import Recipe

if TYPE_CHECKING:
    import docker

LAYOUT = 1
"""Goes up when what a recipe makes changes, so that kept files of an older layout are not used."""
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CHUNK_BYTES = 1 << 20


def recipe_key(recipe: Recipe) -> str:
    """Twelve hex digits that stand for a recipe, its layout and this machine's architecture."""
    said = json.dumps([LAYOUT, rootfs.architecture(), recipe.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def image_name(recipe: Recipe) -> str:
    """The name people read in messages: kind and packages."""
    return f"{recipe.kind} with {', '.join(recipe.packages)}" if recipe.packages else recipe.kind


def ensure_rootfs(recipe: Recipe, cache_dir: Path, log: rootfs.Log) -> tuple[Path, str]:
    """(tar of the root file system in `cache_dir`, its SHA-256), built when it is not there; raises ImageError."""
    target = cache_dir / f"{recipe.kind}-{recipe_key(recipe)}.tar"
    if not target.exists():
        try:
            cache_dir.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache_dir) as folder:
                made = Path(folder, "rootfs.tar")
                rootfs.build(recipe, image_name(recipe), made, log)
                os.replace(made, target)
        except OSError as error:
            name = image_name(recipe)
            raise ImageError(f"image {name} cannot be kept in {cache_dir}: {error.strerror}; free some disk") from None
    return target, _sha256(target)


def image_tag(recipe: Recipe, digest: str) -> str:
    """The tag of a root file system with this SHA-256: neutral and derived from content."""
    return f"x/{recipe.kind}:{digest[:12]}"


def ensure_image(client: docker.DockerClient, recipe: Recipe, cache_dir: Path, log: rootfs.Log) -> str:
    """The tag of the recipe's image in the engine of `client`, loaded there when it was not; raises ImageError."""
    import docker.errors
    import requests

    name = image_name(recipe)
    try:
        theirs = client.info().get("Architecture", "")
        theirs = rootfs.ARCHITECTURES.get(theirs, theirs)
        if theirs and theirs != rootfs.architecture():
            raise ImageError(
                f"image {name} cannot be had: the engine runs on {theirs} and this machine on {rootfs.architecture()}; "
                f"build it on a {theirs} machine"
            )
        path, digest = ensure_rootfs(recipe, cache_dir, log)
        tag = image_tag(recipe, digest)
        if client.images.list(filters={"reference": tag}):
            return tag
        log(f"image {name}: loading {tag}")
        client.images.load(_saved(path, digest, tag))  # type: ignore[arg-type]  # requests sends an iterator in chunks
        client.images.get(tag)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        raise ImageError(f"image {name} could not be loaded into the engine: {_sentence(error)}; is it up?") from None
    return tag


def _saved(path: Path, digest: str, tag: str) -> Iterator[bytes]:
    """The image in the form `docker save` writes, in chunks; the same root file system gives the same image id."""
    config = json.dumps(
        {
            "architecture": rootfs.architecture(),
            "os": "linux",
            "created": "1980-01-02T00:00:00Z",
            "config": {"Env": [PATH], "Cmd": ["/bin/sh"], "WorkingDir": "/app"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            "history": [{"created": "1980-01-02T00:00:00Z"}],
        }
    ).encode()
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = json.dumps([{"Config": config_name, "RepoTags": [tag], "Layers": ["layer.tar"]}]).encode()
    for name, data in ((config_name, config), ("manifest.json", manifest)):
        yield _member(name, len(data)) + data + _padding(len(data))
    size = path.stat().st_size
    yield _member("layer.tar", size)
    with path.open("rb") as file:
        yield from _chunks(file)
    yield _padding(size) + bytes(2 * tarfile.BLOCKSIZE)


def _member(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size = size
    return entry.tobuf(tarfile.GNU_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for chunk in _chunks(file):
            digest.update(chunk)
    return digest.hexdigest()


def _sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1][:200] if lines else type(error).__name__
