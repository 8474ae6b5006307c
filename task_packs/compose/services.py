"""What a compose file comes to: the agent's own container, and the services beside it in their order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from task_packs.compose.parts import Check


@dataclass(frozen=True, slots=True)
class Built:
    """How an image is made from the task's own files."""

    context: Path
    dockerfile: str
    """Below the context."""
    args: tuple[tuple[str, str], ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class Copied:
    """Files of the task that are put into a container before it starts."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True)
class Volume:
    """A named volume that containers of one run share."""

    name: str
    target: str
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Inside:
    """What the file says of the agent's own container."""

    env: tuple[tuple[str, str], ...] = ()
    workdir: str = ""
    user: str = ""
    tmpfs: tuple[str, ...] = ()
    copies: tuple[Copied, ...] = ()
    volumes: tuple[Volume, ...] = ()
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """A container beside the agent's, reached by its name."""

    name: str
    image: str = ""
    built: Built | None = None
    argv: tuple[str, ...] | None = None
    """None: the image's own, as `entrypoint`."""
    entrypoint: tuple[str, ...] | None = None
    env: tuple[tuple[str, str], ...] = ()
    user: str = ""
    workdir: str = ""
    copies: tuple[Copied, ...] = ()
    volumes: tuple[Volume, ...] = ()
    tmpfs: tuple[str, ...] = ()
    cpus: float = 0.0
    memory_bytes: int = 0
    shm_bytes: int = 0
    init: bool = False
    check: Check | None = None
    ready: str = "started"
    """started, healthy or completed: what is waited for before the next one starts."""


@dataclass(frozen=True, slots=True)
class Composed:
    """A compose file, understood."""

    inside: Inside = Inside()
    services: tuple[Service, ...] = ()
    """In the order in which they start."""
