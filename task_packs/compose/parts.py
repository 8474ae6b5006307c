"""The schema of a task's compose file: closed, so that what a run's services do not get is refused by its name."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h)")
UNIT_MS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
TMPFS = re.compile(r"/[^:,]+(:[A-Za-z0-9=,%]+)?")
"""A place in memory, and what a mount of it is told."""
POWER = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
HARMLESS = frozenset(
    {"expose", "ports", "container_name", "restart", "labels", "annotations", "platform", "pull_policy", "logging",
     "stop_grace_period", "attach"}
)  # fmt: skip
"""Keys of a service that change nothing of what a session meets."""
ALONE = frozenset({"init", "tty", "stdin_open", "stop_signal"})
"""The same, of the agent's own container, whose program is ours."""
MOST = 1 << 60
LONGEST_MS = 24 * 3_600_000 + 1
CONDITIONS = {"service_started": "started", "service_healthy": "healthy", "service_completed_successfully": "completed"}


def _text(value: Any) -> Any:
    """Compose takes numbers and truth values where text is meant."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    return str(value) if isinstance(value, int) else value


def _words(value: Any) -> Any:
    """A command: a text is split as a shell does."""
    if isinstance(value, str):
        return shlex.split(value)
    return [_text(item) for item in value] if isinstance(value, list) else value


def _pairs(value: Any) -> Any:
    """A table of variables, or a list of NAME=VALUE; None where only a name stands."""
    if value is None:
        return {}
    if isinstance(value, list):
        pairs = [_text(item).partition("=") for item in value if isinstance(item, str | int | float)]
        if len(pairs) < len(value):
            raise ValueError("must be a list of NAME=VALUE or a table")
        value = {name: worth if sign else None for name, sign, worth in pairs}
    if isinstance(value, dict) and (bad := [name for name in value if not name or "=" in name]):
        raise ValueError(f"{bad[0]!r} is not the name of a variable")
    return {name: _text(item) for name, item in value.items()} if isinstance(value, dict) else value


def _size(value: Any) -> Any:
    """Bytes of a size such as 64m."""
    found = SIZE.fullmatch(str(value).strip()) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if found is None:
        raise ValueError(f"{value!r} is not a size such as 64m")
    size = float(found[1]) * 1024 ** POWER[found[2].lower()]
    if size >= MOST:
        raise ValueError("is more than a machine can have")
    return int(size)


def _duration(value: Any) -> Any:
    """Milliseconds of a time such as 1m30s."""
    text = str(value).strip()
    parts = DURATION.findall(text)
    if text == "0":
        return 0
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != text:
        raise ValueError(f"{value!r} is not a time such as 2s or 1m30s")
    found_ms = sum(float(number) * UNIT_MS[unit] for number, unit in parts)
    if 0 < found_ms < 1 or found_ms >= LONGEST_MS:
        raise ValueError(f"{text[:40]!r} is not from 1ms to 24h")
    return round(found_ms)


def _depends(value: Any) -> Any:
    if isinstance(value, list):
        if not all(isinstance(name, str | int) for name in value):
            raise ValueError("must be a list of names or a table")
        return {_text(name): "started" for name in value}
    if not isinstance(value, dict):
        return value
    found = {}
    for name, how in value.items():
        asked = how.get("condition", "service_started") if isinstance(how, dict) else how
        if not isinstance(asked, str) or asked not in CONDITIONS:
            raise ValueError(f"{name}: condition must be one of {', '.join(CONDITIONS)}")
        found[name] = CONDITIONS[asked]
    return found


def _tmpfs(value: Any) -> Any:
    items = [value] if isinstance(value, str) else value
    if isinstance(items, list) and (bad := [item for item in items if not TMPFS.fullmatch(str(item))]):
        raise ValueError(f"{bad[0]!r} is not the absolute path of a place in a container")
    return items


def _absolute(value: str) -> str:
    if value[:1] not in ("", "/"):
        raise ValueError(f"{value!r} is not an absolute path")
    return value


def _network(value: Any) -> Any:
    names = list(value) if isinstance(value, list | dict) else [value]
    more = isinstance(value, dict) and any(value.values())
    if more or names not in ([], ["default"], [None]):
        raise ValueError("only the default network is there")
    return None


def _built(value: Any) -> Any:
    return {"context": value} if isinstance(value, str) else value


def _mounted(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [found for item in value if (found := _mount(item)) is not None]


def _mount(item: Any) -> Any:
    """A mount in its long form; None for a nameless volume, which the container's own files are as good as."""
    if not isinstance(item, str):
        return item
    first, _, rest = item.partition(":")
    if not rest:
        return None if first.startswith("/") else {"source": first, "target": ""}
    target, _, modes = rest.partition(":")
    words = set(modes.split(",")) if modes else set()
    if words - {"ro", "rw", "z", "Z", "cached", "delegated", "consistent", "nocopy"}:
        raise ValueError(f"{item!r} has a mode that is not supported")
    kind = "bind" if first.startswith((".", "/", "~")) else "volume"
    return {"type": kind, "source": first, "target": target, "read_only": "ro" in words}


Text = Annotated[str, BeforeValidator(_text)]
Words = Annotated[tuple[str, ...] | None, BeforeValidator(_words)]
Pairs = Annotated[dict[str, str | None], BeforeValidator(_pairs)]
Bytes = Annotated[int, BeforeValidator(_size)]
Milliseconds = Annotated[int, BeforeValidator(_duration)]
Cpus = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Depends = Annotated[dict[str, Literal["started", "healthy", "completed"]], BeforeValidator(_depends)]
Default = Annotated[None, BeforeValidator(_network)]


class Part(BaseModel):
    """A table of the file: unknown keys are refused, those that begin with x- are nobody's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, raw: Any) -> Any:
        return {key: v for key, v in raw.items() if not key.startswith("x-")} if isinstance(raw, dict) else raw


class Build(Part):
    """How an image is made."""

    context: Text = "."
    dockerfile: Text = "Dockerfile"
    args: Pairs = Field(default_factory=dict)
    target: Text = ""


class Check(Part):
    """A service's health check, as the engine runs it; 0 is the engine's usual."""

    test: tuple[str, ...] = ()
    """Empty: the image's own."""
    disable: bool = False
    interval: Milliseconds = 0
    timeout: Milliseconds = 0
    start_period: Milliseconds = 0
    start_interval: Milliseconds = 0
    retries: int = Field(default=0, ge=0, le=1_000_000)

    @field_validator("test", mode="before")
    @classmethod
    def _test(cls, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            return ("CMD-SHELL", value)
        if not isinstance(value, list) or not value or value[0] not in ("NONE", "CMD", "CMD-SHELL"):
            raise ValueError("must be text, or a list that begins with CMD, CMD-SHELL or NONE")
        if value[0] != "NONE" and not value[1:]:
            raise ValueError("names no command")
        if value[0] == "CMD-SHELL" and len(value) > 2:
            raise ValueError("has more than one text for CMD-SHELL: a list of words begins with CMD")
        return tuple(_text(item) for item in value)

    @property
    def off(self) -> bool:
        """Whether it says that there is none."""
        return self.disable or self.test[:1] == ("NONE",)


class Limits(Part):
    """deploy.resources.limits."""

    cpus: Cpus = 0
    memory: Bytes = 0


class Resources(Part):
    """deploy.resources."""

    limits: Limits = Limits()
    reservations: Limits = Limits()


class Deploy(Part):
    """deploy: how much a service may use."""

    resources: Resources = Resources()
    replicas: Literal[1] = 1


class Memory(Part):
    """The tmpfs of one of volumes."""

    size: Bytes = 0


class Unasked(Part):
    """The bind or volume of one of volumes: what is made when it is not there, which says nothing here."""

    create_host_path: bool = True
    nocopy: bool = False


class Mount(Part):
    """One of volumes."""

    type: Literal["volume", "bind", "tmpfs"] = "volume"
    source: Text = ""
    target: Text
    read_only: bool = False
    bind: Unasked | None = None
    volume: Unasked | None = None
    tmpfs: Memory | None = None
    consistency: Text = ""

    @field_validator("target")
    @classmethod
    def _place(cls, value: str) -> str:
        parts = PurePosixPath(value).parts
        if not value.startswith("/") or len(parts) < 2 or ".." in parts or ":" in value:
            raise ValueError(f"{value!r} is not the absolute path of a place in a container")
        return value.rstrip("/")


class Beside(Part):
    """What any service may say."""

    image: Text = ""
    build: Annotated[Build | None, BeforeValidator(_built)] = None
    command: Words = None
    environment: Pairs = Field(default_factory=dict)
    depends_on: Depends = Field(default_factory=dict)
    healthcheck: Check | None = None
    working_dir: Annotated[Text, AfterValidator(_absolute)] = ""
    user: Text = ""
    tmpfs: Annotated[tuple[str, ...], BeforeValidator(_tmpfs)] = ()
    mem_limit: Bytes = 0
    cpus: Cpus = 0
    deploy: Deploy = Deploy()
    volumes: Annotated[tuple[Mount, ...], BeforeValidator(_mounted)] = ()
    networks: Default = None

    @model_validator(mode="before")
    @classmethod
    def _needed(cls, raw: Any) -> Any:
        return {key: value for key, value in raw.items() if key not in HARMLESS} if isinstance(raw, dict) else raw

    @field_validator("volumes")
    @classmethod
    def _apart(cls, value: tuple[Mount, ...]) -> tuple[Mount, ...]:
        places = [mount.target for mount in value]
        if twice := [place for place in places if places.count(place) > 1]:
            raise ValueError(f"more than one of them is at {twice[0]}")
        return value

    @property
    def most_cpus(self) -> float:
        """CPUs it may use, 0 where nothing is said."""
        return self.cpus or self.deploy.resources.limits.cpus

    @property
    def most_bytes(self) -> int:
        """Memory it may use, 0 where nothing is said."""
        return self.mem_limit or self.deploy.resources.limits.memory


class MainService(Beside):
    """The agent's own container: its image and its command are not the file's."""

    @model_validator(mode="before")
    @classmethod
    def _idle(cls, raw: Any) -> Any:
        return {key: value for key, value in raw.items() if key not in ALONE} if isinstance(raw, dict) else raw


class Sidecar(Beside):
    """A service beside it."""

    entrypoint: Words = None
    hostname: Text = ""
    shm_size: Bytes = 0
    init: bool = False
