"""The parts of a run spec that others are made of: placed files, volumes, the services beside a session."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAIN = "main"
"""The name of the session's own container among its services."""
READY = ("started", "healthy", "completed")


class SpecError(ValueError):
    """A run spec that this agent cannot run; the sentence names the key."""


class Placed:
    """Files put into the environment before anything runs: a tar blob extracted under `dest`."""

    __slots__ = ("blob", "dest")

    def __init__(self, raw: dict[str, Any], where: str) -> None:
        self.blob: str = take(raw, "blob", str, where)
        self.dest: str = take(raw, "dest", str, where, "/")


class Service:
    """A container beside the session's, reached by its name from there; its program is the task's own."""

    pids = 4096

    def __init__(self, raw: dict[str, Any], w: str) -> None:
        self.name: str = take(raw, "name", str, w)
        self.image: str = take(raw, "image", str, w)
        self.argv: list[str] | None = take(raw, "argv", (list, type(None)), w, None)
        """None: the image's own."""
        self.entrypoint: list[str] | None = take(raw, "entrypoint", (list, type(None)), w, None)
        self.env: dict[str, str] = take(raw, "env", dict, w, {})
        self.user: str = take(raw, "user", str, w, "")
        """Empty, as `workdir`: the image's own."""
        self.workdir: str = take(raw, "workdir", str, w, "")
        self.files = [Placed(item, f"{w}.files") for item in take(raw, "files", list, w, [])]
        self.volumes = volumes(raw, w)
        self.tmpfs: list[str] = take(raw, "tmpfs", list, w, [])
        self.cpus: float = float(take(raw, "cpus", (int, float), w, 0))
        self.memory_bytes: int = take(raw, "memory_bytes", int, w, 0)
        self.shm_bytes: int = take(raw, "shm_bytes", int, w, 0)
        self.init: bool = take(raw, "init", bool, w, True)
        self.health: dict[str, Any] | None = take(raw, "health", (dict, type(None)), w, None)
        """The engine's own check: {test, interval_ms, timeout_ms, start_period_ms, retries}; 0 is the engine's default,
        an empty test that of the image. None: none at all."""
        self.ready: str = take(raw, "ready", str, w, READY[0])
        """What is waited for before the next service: it runs, its check is good, or it ended with 0."""
        plain = self.name.translate({45: "", 46: "", 95: ""})
        if not (plain.isalnum() and plain.isascii()) or len(self.name) > 63 or self.name == MAIN:
            raise SpecError(f"{w}.name {self.name!r} is not a host name of its own")
        if self.ready not in READY:
            raise SpecError(f"{w}.ready {self.ready!r} is not one of {', '.join(READY)}")
        if self.ready == "healthy" and self.health is None:
            raise SpecError(f'{w}.ready is "healthy" and {w}.health is missing')
        if self.health is not None:
            test = take(self.health, "test", list, f"{w}.health")
            if test and (test[0] not in ("CMD", "CMD-SHELL") or not test[1:]):
                raise SpecError(f'{w}.health.test must be ["CMD", ...] or ["CMD-SHELL", text]')
            for key in ("interval_ms", "timeout_ms", "start_period_ms", "retries"):
                take(self.health, key, int, f"{w}.health", 0)
        for place in (self.workdir or "/", *self.tmpfs, *(placed.dest for placed in self.files)):
            _absolute(place, w)


def services(raw: dict[str, Any], w: str) -> list[Service]:
    """The `services` of an environment, in the order in which they start."""
    found = [Service(one, f"{w}.services[{n}]") for n, one in enumerate(take(raw, "services", list, w, []))]
    if len({one.name for one in found}) < len(found):
        raise SpecError(f"{w}.services has two services of one name")
    return found


def volumes(raw: dict[str, Any], w: str) -> list[dict[str, Any]]:
    """The named `volumes` of a container: {name, target, read_only}; one name is one place for all of a run."""
    listed, w, found = take(raw, "volumes", list, w, []), w + ".volumes", []
    for one in listed:
        name, target = take(one, "name", str, w), take(one, "target", str, w)
        if not name or name[0] == "/":
            raise SpecError(f"{w}.name {name!r} is not the name of a volume")
        _absolute(target, w)
        found.append({"name": name, "target": target, "read_only": take(one, "read_only", bool, w, False)})
    return found


def _absolute(place: Any, w: str) -> None:
    if not isinstance(place, str) or place[:1] != "/":
        raise SpecError(f"{w}: {place!r} is not an absolute path")


_NOTHING = object()


def take(raw: dict[str, Any], key: str, kind: Any, where: str, default: Any = _NOTHING) -> Any:
    """`raw[key]` of that kind; SpecError naming the key."""
    if not isinstance(raw, dict):
        raise SpecError(f"{where} has the wrong type: {type(raw).__name__}")
    value = raw.get(key, default)
    if value is _NOTHING:
        raise SpecError(f"{where}.{key} is missing")
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise SpecError(f"{where}.{key} has the wrong type: {type(value).__name__}")
    return value
