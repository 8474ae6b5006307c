"""Finds the container engine of this computer, for what is built, checked or graded on the operator's side."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import docker

UNIX = "unix://"
UNIX_SOCKET = f"{UNIX}/var/run/docker.sock"


def engine_here() -> docker.DockerClient | None:
    """The container engine of this computer, None where none answers."""
    host = os.environ.get("DOCKER_HOST") or UNIX_SOCKET
    if host.startswith(UNIX) and not _listens(host.removeprefix(UNIX)):
        return None
    import docker

    try:
        client = docker.from_env()
        client.ping()
    except Exception:  # the SDK lets errors of several libraries through; any of them means: no engine
        return None
    return client


def _listens(path: str) -> bool:
    """Whether a Unix socket takes a connection; asked first, because the SDK leaves a failed one open."""
    with socket.socket(socket.AF_UNIX) as tried:
        try:
            tried.connect(path)
        except OSError:
            return False
    return True
