"""The schema of pack.toml: all that is ours about a family, so that its task directories stay as upstream has them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from task_packs.errors import PackError

SCHEMA = 1
PACK_FILE = "pack.toml"
HIDDEN = ("solution", "tests", "cheat", "prepare", "steps")
"""Directories of a task that no agent may ever see."""
REQUEST_NAMES = ("shortest", "middle", "longest")
UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

Settle = Literal["stop", "snapshot", "keep"]
Better = Literal["higher", "lower"]
Track = Literal["service setup", "debugging", "migration", "performance", "ops & recovery", "comprehension", "frontend"]
"""The tracks of ETABench."""
ETA_CPUS, ETA_MEMORY = 2, "2G"
"""What a task of an eta pack gets where nothing else is said."""
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Number = Decimal | int
"""TOML numbers are read as Decimal so that 1.25 minutes stays exact."""


class Table(BaseModel):
    """A table of pack.toml: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, strict=True)


class Source(Table):
    """Where the tasks come from."""

    access: Literal["bundled", "open", "gated", "user-copy"]
    what: str = ""
    """What a user has to bring, as it follows "needs your copy of"."""
    url: str = ""
    commit: str = ""
    licence: str = ""

    @model_validator(mode="after")
    def _named(self) -> Source:
        if self.access != "bundled" and not self.what:
            raise ValueError("'what' must say what a user brings, unless access is bundled")
        return self


class Prompt(Table):
    """How the native text is delivered."""

    system: str = ""
    strip: tuple[str, ...] = ()
    """Exact native time texts; each must occur once in a task's instruction and is removed."""
    tools: Literal["native", "clock-only"] = "native"


class Network(Table):
    """What the agent may reach."""

    agent: Literal["none", "model-only", "public", "allowlist", "task"] = "none"
    allowed_hosts: tuple[str, ...] = ()


class Needs(Table):
    """What a machine must have; a task's own task.toml may ask for more."""

    cpus: Number = Field(default=0, ge=0)
    memory: str = ""
    gpus: int = Field(default=0, ge=0)
    tags: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    """Names of variables with keys that the grader or the task needs."""

    @property
    def memory_bytes(self) -> int:
        """Memory in bytes, 0 where nothing is asked for."""
        return memory_bytes(self.memory) if self.memory else 0

    @field_validator("memory")
    @classmethod
    def _size(cls, value: str) -> str:
        if value:
            memory_bytes(value)
        return value


class PassRule(Table):
    """A run passes when `key` reaches `min`."""

    key: str
    min: Number


class Grade(Table):
    """How the grader's raw output becomes a value, a percentage and a pass."""

    key: str = "reward"
    """Key of reward.json; reward.txt is the key `reward`."""
    bounds: tuple[Number, Number] | None = None
    """Absent: unbounded, so there is no percentage."""
    percent: str | None = None
    """`100*KEY` or `10*(KEY+KEY)`."""
    passes: PassRule | None = Field(default=None, alias="pass")
    better: Better = "higher"
    tie: Number = Decimal("0.01")
    error_if: str | None = None
    """A crash sentinel, `KEY < NUMBER` and the like: the grader failed, there is no score."""
    empty_if: str | None = None
    """A condition by which the grader says that nothing was there to grade."""
    empty: Number = Decimal(0)
    null: Literal["grader_error", "not_graded"] = "grader_error"
    """What a null or NaN score means."""
    judge: str = ""
    where: Literal["separate", "shared", "live", "answer"] = "shared"
    session: bool = False
    """Whether the grader reads the session: its output and last message, named by TRANSCRIPT_FILE and ANSWER_FILE."""

    @model_validator(mode="after")
    def _consistent(self) -> Grade:
        for name, text in (("error_if", self.error_if), ("empty_if", self.empty_if)):
            if text is not None and not CONDITION.fullmatch(text):
                raise ValueError(f"{name} {text!r} is not of the form KEY < NUMBER (also <=, >, >=, ==)")
        if self.bounds is None and self.percent is not None:
            raise ValueError("percent needs bounds: an unbounded score has no percentage")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise ValueError("bounds must be [low, high] with low < high")
        if self.percent is not None and not PERCENT.fullmatch(self.percent):
            raise ValueError(f"percent {self.percent!r} is neither 100*KEY nor 10*(KEY+KEY)")
        return self


CONDITION = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|==|<|>)\s*(-?\d+(?:\.\d+)?)\s*")
PERCENT = re.compile(r"100\*([A-Za-z_]\w*)|10\*\(([A-Za-z_]\w*)\+([A-Za-z_]\w*)\)")


class Recipe(Table):
    """What the environment of a pack is made of, without any registry."""

    kind: Literal["busybox", "debian"]
    packages: tuple[str, ...] = ()
    suite: str = "bookworm"

    @field_validator("packages")
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name):
                raise ValueError(f"{name!r} is not the name of a Debian package")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Recipe:
        if self.kind == "busybox" and self.packages:
            raise ValueError('a busybox image has no packages; use kind = "debian"')
        return self


class Setting(Table):
    """Where the agent works."""

    workdir: str = "/app"
    user: str = "agent"
    workspace: str = "environment"
    """Directory of a task whose files the agent starts with."""

    @field_validator("workdir")
    @classmethod
    def _absolute(cls, value: str) -> str:
        if not re.fullmatch(r"(/[A-Za-z0-9_][A-Za-z0-9._-]*)+", value):
            raise ValueError(f"{value!r} must be an absolute path of plain names")
        return value

    @field_validator("workspace")
    @classmethod
    def _inside(cls, value: str) -> str:
        first = Path(_relative(value)).parts[:1]
        if not first or first[0] in HIDDEN:
            raise ValueError(f"{value!r} would show the agent {', '.join(HIDDEN)}")
        return value


class TaskEntry(Table):
    """One task of the roster."""

    id: str = Field(min_length=1)
    path: str = ""
    """Task directory beside pack.toml; default tasks/<id>."""
    requests: tuple[str, str, str] | None = None
    """Shortest, middle, longest, as "75s", "5m", "1.5h"."""
    requests_minutes: tuple[Number, Number, Number] | None = None
    steps: bool = False
    """Whether it has steps with a prompt each: requests are about one prompt, so such a task has none."""
    settle: Settle | None = None
    better: Better | None = None
    track: Track | None = None
    """Of a task in a pack of kind eta."""

    @field_validator("path")
    @classmethod
    def _inside(cls, value: str) -> str:
        return _relative(value) if value else value

    @model_validator(mode="after")
    def _three(self) -> TaskEntry:
        if self.requests is not None and self.requests_minutes is not None:
            raise ValueError("give either requests or requests_minutes")
        if self.steps and self.requests_ms:
            raise ValueError("a task with steps has no requests: they are about one prompt")
        if list(self.requests_ms) != sorted(set(self.requests_ms)):
            raise ValueError("the three requests must ascend")
        return self

    @property
    def requests_ms(self) -> tuple[int, ...]:
        """The three requests in milliseconds, exact; empty where the task has none."""
        if self.requests is not None:
            return tuple(duration_ms(text) for text in self.requests)
        minutes = self.requests_minutes or ()
        return tuple(_whole_ms(Fraction(item) * 60_000, f"{item} minutes") for item in minutes)


class Eta(Table):
    """What an estimate is made against: the rule of the clock and the commitment to the withheld solutions."""

    timing_rule: str = Field(min_length=1)
    """Told before the estimate, word for word."""
    solutions: str = "solutions.sha256"
    """File beside pack.toml with a line `SHA-256  tasks/ID/solution/solve.sh` per task, as sha256sum writes it."""

    @field_validator("solutions")
    @classmethod
    def _inside(cls, value: str) -> str:
        return _relative(value)


class Manifest(Table):
    """A whole pack.toml."""

    schema_: Literal[1] = Field(alias="schema")
    name: Slug
    family: str = ""
    """Benchmark this pack belongs to; default the name."""
    title: str
    about: str = ""
    kind: Literal["tasks", "eta"] = "tasks"
    """`eta`: the verifier's source is told beforehand and polled; the estimate comes first."""
    gated: bool = False
    """Task text of a gated family stays out of exports and screenshots unless asked for."""
    settle: Settle = "stop"
    outputs: tuple[str, ...] = ()
    """Absolute paths besides the working directory that are collected after a session."""
    source: Source
    prompt: Prompt = Prompt()
    network: Network = Network()
    needs: Needs = Needs()
    environment: Setting = Setting()
    image: Recipe | None = None
    grade: Grade
    eta: Eta | None = None
    task: tuple[TaskEntry, ...] = Field(min_length=1)

    @field_validator("task")
    @classmethod
    def _unique(cls, value: tuple[TaskEntry, ...]) -> tuple[TaskEntry, ...]:
        seen: set[str] = set()
        for entry in value:
            if entry.id in seen:
                raise ValueError(f"task {entry.id!r} is listed twice")
            seen.add(entry.id)
        return value

    @field_validator("outputs")
    @classmethod
    def _absolute_outputs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for path in value:
            if not path.startswith("/") or ".." in path.split("/") or path == "/":
                raise ValueError(f"{path!r} must be an absolute path below the root")
        return value

    @model_validator(mode="after")
    def _live(self) -> Manifest:
        own = [(f"task[{number}].settle", entry.settle) for number, entry in enumerate(self.task)]
        for where, settle in (("settle", self.settle), *own):
            if self.grade.where == "live" and settle == "snapshot":
                raise ValueError(f'{where}: a live grader needs what the session left, so it is always "keep"')
        return self

    @model_validator(mode="after")
    def _of_one_kind(self) -> Manifest:
        if (self.kind == "eta") != (self.eta is not None):
            raise ValueError('kind = "eta" and a table [eta] go together')
        for number, entry in enumerate(self.task):
            if self.kind == "eta" and entry.track is None:
                raise ValueError(f"task[{number}].track: is missing")
            if entry.steps and self.kind == "eta":
                raise ValueError(f"task[{number}].steps: an estimate is about one prompt")
            if self.kind == "tasks" and not entry.requests_ms and not entry.steps:
                raise ValueError(f"task[{number}]: give either requests or requests_minutes")
            if self.kind == "tasks" and entry.track is not None:
                raise ValueError(f'task[{number}].track: is only for kind = "eta"')
        return self


def read_manifest(path: Path) -> Manifest:
    """The manifest in the file `path`; raises PackError that names file and key in one sentence."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise PackError(f"{path}: cannot be read: {error.strerror}; a pack is a directory with a {PACK_FILE}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PackError(f"{path}: is not TOML: {error}") from None
    try:
        return Manifest.model_validate(_tuples(raw))
    except ValidationError as error:
        raise PackError(f"{path}: {first_fault(error)}") from None


def first_fault(error: ValidationError) -> str:
    """The first finding of a validation as `key: what is wrong`."""
    finding = error.errors(include_url=False)[0]
    key = _dotted([part for part in finding["loc"] if part not in ("decimal", "int")])
    kind = finding["type"]
    if kind == "extra_forbidden":
        return f"{key}: unknown key"
    if kind == "missing":
        return f"{key}: is missing"
    message = finding["msg"].removeprefix("Value error, ")
    return f"{key}: {message}" if key else message


def duration_ms(text: str) -> int:
    """Milliseconds of a duration such as 75s, 1.5h or 2d; raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    if not match:
        raise ValueError(f"{text!r} is not a duration such as 75s, 5m, 1.5h or 2d")
    return _whole_ms(Fraction(match[1]) * UNIT_MS[match[2]], text)


def memory_bytes(text: str) -> int:
    """Bytes of a size such as 512M or 2G (powers of 1024); raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT])i?B?", text.strip(), re.IGNORECASE)
    if not match:
        raise ValueError(f"{text!r} is not a size such as 512M or 2G")
    return int(Fraction(match[1]) * 1024 ** ("KMGT".index(match[2].upper()) + 1))


def _whole_ms(value: Fraction, text: str) -> int:
    if value.denominator != 1 or value <= 0:
        raise ValueError(f"{text} is not a positive whole number of milliseconds")
    return int(value)


def _relative(value: str) -> str:
    if value.startswith("/") or "\\" in value or ".." in value.split("/"):
        raise ValueError(f"{value!r} must be a path inside the pack")
    return value


def _tuples(raw: Any) -> Any:
    """TOML arrays as tuples, because strict models with frozen fields take no lists."""
    if isinstance(raw, dict):
        return {key: _tuples(value) for key, value in raw.items()}
    return tuple(_tuples(item) for item in raw) if isinstance(raw, list) else raw


def _dotted(loc: Sequence[int | str]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
