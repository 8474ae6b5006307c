"""Where a cell may run: what its task asks for against what a machine has, with a reason where that is too little."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agenttime_tui.campaign.machine import MachineConfig

GIB = 1 << 30


class Asking(Protocol):
    """The part of a task that decides where it may run (a pack's task fits)."""

    @property
    def cpus(self) -> float:
        """CPUs, 0 where it does not care."""

    @property
    def memory_bytes(self) -> int:
        """Memory, 0 where it does not care."""

    @property
    def gpus(self) -> int:
        """GPUs."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags a machine must have."""

    @property
    def contained(self) -> bool:
        """Whether it takes a container engine."""

    @property
    def served(self) -> bool:
        """Whether it brings services, which are containers beside its own."""

    @property
    def hindrance(self) -> str:
        """Why it can run nowhere; empty when it can."""


@dataclass(frozen=True, slots=True)
class Wants:
    """What a task asks of a machine; nothing by default."""

    cpus: float = 0
    memory_bytes: int = 0
    gpus: int = 0
    tags: tuple[str, ...] = ()
    container: bool = False
    services: bool = False
    hindrance: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a machine has; None is unknown, and the benefit of the doubt goes to the machine."""

    name: str
    cpus: float | None = None
    memory_bytes: int | None = None
    gpus: int | None = None
    tags: tuple[str, ...] = ()
    engine: str | None = None
    """docker or process."""


def wants_of(task: Asking) -> Wants:
    """What a task asks for."""
    hindrance = task.hindrance
    served = not hindrance and task.served
    return Wants(
        task.cpus, task.memory_bytes, task.gpus, task.tags, task.contained or served, served, hindrance
    )  # fmt: skip


def offer_of(name: str, config: MachineConfig, facts: Mapping[str, Any] | None = None) -> Offer:
    """A machine by what the operator said of it, and where he said nothing by what was found on it (`facts`)."""
    found = facts or {}
    engine: str | None = config.engine if config.engine != "auto" else None
    if engine is None and "engine" in found:
        answered = found["engine"]
        answers = answered.get("answers") if isinstance(answered, Mapping) else answered == "docker"
        engine = "docker" if answers else "process"
    return Offer(
        name,
        config.cpus or _number(found.get("cpus")),
        config.memory_bytes or int(_number(found.get("memory_bytes")) or 0) or None,
        config.gpus if config.gpus is not None else 0,
        config.tags,
        engine,
    )


def misfit(wants: Wants, offer: Offer) -> str:
    """Why the machine cannot take the task, as it follows the machine's name; empty when it can."""
    if offer.cpus is not None and offer.cpus < wants.cpus:
        return f"has {offer.cpus:g} CPUs, not {wants.cpus:g}"
    if offer.memory_bytes is not None and offer.memory_bytes < wants.memory_bytes:
        return f"has {_gib(offer.memory_bytes)} of memory, not {_gib(wants.memory_bytes)}"
    if (offer.gpus or 0) < wants.gpus:
        return f"has {offer.gpus} GPUs, not {wants.gpus}" if offer.gpus else "has no GPU by its entry (gpus)"
    lacking = [tag for tag in wants.tags if tag not in offer.tags]
    if lacking:
        return f"is not tagged {' and '.join(lacking)}"
    if wants.container and offer.engine == "process":
        return f"has no container engine{' for the services that it brings' if wants.services else ''}"
    return ""


def fitting(wants: Wants, offers: Iterable[Offer]) -> list[str]:
    """Names of the machines that can take the task."""
    return [] if wants.hindrance else [offer.name for offer in offers if not misfit(wants, offer)]


def why_nowhere(wants: Wants, offers: Sequence[Offer]) -> str:
    """One clause that says why no machine takes the task; empty when one does."""
    if wants.hindrance:
        return f"it {wants.hindrance}"
    reasons = [f"{offer.name} {reason}" if (reason := misfit(wants, offer)) else "" for offer in offers]
    if not reasons:
        return "there is no machine"
    return "" if not all(reasons) else "; ".join(reasons)


def _number(value: object) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if known else None  # type: ignore[arg-type]


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.3g} GiB"
