"""The plan file: what a campaign wants to know, checked in full before anything is launched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from agenttime_tui.campaign.machine import LOCAL, MachineConfig
from agenttime_tui.campaign.table import Count, Duration, Line, Name, Table, Text
from agenttime_tui.protocols import eta
from agenttime_tui.protocols.duration import WORDING, check_wording
from agenttime_tui.toml_file import parse_toml, read_toml, validated

Study = Literal["duration", "natural", "forecast", "retrospection", "same-turn", "self-score", "eta"]
Harness = Literal["codex", "claude-code", "scripted", "command"]
Condition = Literal["oracle", "native", "context-only", "replay", "scrubbed"]


def _twice(items: Iterable[Any]) -> Iterator[Any]:
    seen = set()
    for item in items:
        if item in seen:
            yield item
        seen.add(item)


def _some(items: tuple[Any, ...]) -> tuple[Any, ...]:
    if not items:
        raise ValueError("is empty: leave the key out or name at least one")
    return items


def _distinct(items: tuple[Any, ...]) -> tuple[Any, ...]:
    _some(items)
    for item in _twice(items):
        raise ValueError(f'"{item}" is listed twice')
    return items


def _is_address(url: str) -> bool:
    """Whether it begins with http, names a host and holds no blank."""
    scheme, _, rest = url.partition("://")
    return scheme in ("http", "https") and bool(rest) and (rest[0].isalnum() or rest[0] == "[") and url.split() == [url]


def _check_route(route: str) -> str:
    if route in ("direct", "openrouter") or _is_address(route):
        return route
    raise ValueError(f'route "{route}" is neither direct, openrouter nor a base URL that begins with http')


def _check_base_url(url: str) -> str:
    if url and not _is_address(url):
        raise ValueError(f'base_url "{url}" is no address that begins with http')
    return url


def _own_wording(wording: Any) -> Any:
    """The wording, or None where it is the paper's own sentence."""
    if isinstance(wording, str):
        check_wording(wording)
    return None if wording == WORDING else wording


class AgentConfig(Table):
    """One agent configuration: everything that makes two runs comparable or not."""

    id: Name
    harness: Harness
    model: StrictStr = ""
    effort: StrictStr = ""
    version: StrictStr = ""
    """Pinned version of the CLI; the observed one is checked against it."""
    account: Name | None = None
    route: Annotated[StrictStr, AfterValidator(_check_route)] = "direct"
    options: dict[Text, JsonValue] = Field(default_factory=dict)
    """What only this harness knows, such as persona = "punctual"."""

    @model_validator(mode="after")
    def _model_where_needed(self) -> Self:
        if self.harness in ("codex", "claude-code") and not self.model:
            raise ValueError(f'model is missing: harness "{self.harness}" needs one')
        return self


class TaskSelection(Table):
    """Tasks of one pack, with the requests and agents that take them."""

    pack: Name
    include: Annotated[tuple[Text, ...], AfterValidator(_distinct)] | None = None
    """Task ids; None: the pack's whole roster."""
    requests_ms: tuple[Duration, ...] | None = Field(default=None, alias="requests")
    """Up to three requests, shortest first; None: each task's own."""
    agents: Annotated[tuple[Name, ...], AfterValidator(_distinct)] | None = None
    """Ids of the agents that take these tasks; None: all."""
    cutoff_ms: Duration | None = Field(default=None, alias="cutoff")
    """Instead of the default cutoff, for these tasks."""
    studies: Annotated[tuple[Study, ...], AfterValidator(_distinct)] | None = None
    """Those of the plan's studies that these tasks are in; None: all."""

    @field_validator("requests_ms")
    @classmethod
    def _ascending(cls, requests_ms: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if requests_ms is not None and not 1 <= len(requests_ms) <= 3:
            raise ValueError(f"holds {len(requests_ms)} requests: name one to three, or leave the key out")
        if requests_ms and any(left >= right for left, right in pairwise(requests_ms)):
            raise ValueError("list the requests from shortest to longest, each once")
        return requests_ms


class AccountConfig(Table):
    """Where a key or login comes from: exactly one of the three, read on the operator's machine at launch."""

    key_env: Text | None = None
    token_env: Text | None = None
    auth_file: Text | None = None
    max_running: Count | None = None
    """How many runs may use the account at once."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(value is not None for value in (self.key_env, self.token_env, self.auth_file)) != 1:
            raise ValueError("give exactly one of key_env, token_env and auth_file")
        return self


class NoOptions(Table):
    """A study without options yet."""


class ForecastOptions(Table):
    """How a forecast is asked for."""

    variant: Literal["paper", "p1", "p2", "p3", "referents", "you", "human", "frontier", "placebo", "expert"] = "paper"


class RetrospectionOptions(Table):
    """Which runs are asked about afterwards, and how."""

    parents: Literal["natural", "duration"] = "natural"
    conditions: Annotated[tuple[Condition, ...], AfterValidator(_distinct)] = (
        "oracle",
        "native",
        "context-only",
        "replay",
        "scrubbed",
    )
    answers: Count = 2
    reasoning: StrictBool | None = None
    """Whether a replay shows the visible reasoning: as the paper says with natural parents, not as its code did with
    duration parents, unless this says otherwise. A fork keeps the reasoning of a natural parent by the same rule."""
    base_url: Annotated[StrictStr, AfterValidator(_check_base_url)] = ""
    """OpenAI-compatible endpoint of the replays; empty: the agent's own route."""
    model: StrictStr = ""
    """Model of the replays, where its name there differs from the agent's."""
    key_env: Text | None = None
    """Variable with the key of that endpoint; None: the agent's account."""
    providers: tuple[Text, ...] = ()
    """Providers that a router may use, in this order and no others."""

    @property
    def shows_reasoning(self) -> bool:
        """Whether replays show the visible reasoning."""
        return self.parents == "natural" if self.reasoning is None else self.reasoning


class EtaOptions(Table):
    """How the verifier beside a session is polled."""

    interval_ms: Duration = Field(default=eta.POLL_MS, alias="interval")
    timeout_ms: Duration = Field(default=eta.POLL_TIMEOUT_MS, alias="timeout")
    """Of one poll: one that takes longer has not passed."""


class StudyTables(Table):
    """The `[study.NAME]` tables."""

    duration: NoOptions = NoOptions()
    natural: NoOptions = NoOptions()
    forecast: ForecastOptions = ForecastOptions()
    retrospection: RetrospectionOptions = RetrospectionOptions()
    same_turn: NoOptions = Field(default=NoOptions(), alias="same-turn")
    self_score: NoOptions = Field(default=NoOptions(), alias="self-score")
    eta: EtaOptions = EtaOptions()


LATER = {
    "retrospection": ("reasoning", "base_url", "model", "key_env", "providers"),
    "eta": ("interval", "timeout"),
}
"""Keys of the study tables that the first plans did not have."""


class Plan(Table):
    """A campaign before it begins."""

    name: Line
    studies: Annotated[tuple[Study, ...], AfterValidator(_distinct)]
    order: Literal["shuffled", "as-listed"] = "shuffled"
    seed: StrictInt = 1
    repeats: Count = 1
    wording: Annotated[StrictStr | None, BeforeValidator(_own_wording)] = None
    """Another sentence with {N} and {unit}; None is the paper's. Wordings are never pooled."""
    cutoff_ms: Duration | None = Field(default=None, alias="cutoff")
    """Instead of the default cutoff, for every task."""
    budget_usd: Annotated[StrictFloat, Field(gt=0, le=1_000_000_000, allow_inf_nan=False)] | None = None
    """What the campaign may cost: no new cell is begun once so much is spent. It may change from day to day."""
    study: StudyTables = StudyTables()
    agents: Annotated[tuple[AgentConfig, ...], AfterValidator(_some)] = Field(alias="agent")
    tasks: Annotated[tuple[TaskSelection, ...], AfterValidator(_some)]
    accounts: dict[Name, AccountConfig] = Field(default_factory=dict, alias="account")
    machines: dict[Name, MachineConfig] = Field(default_factory=dict, alias="machine")

    @model_validator(mode="after")
    def _names_meet(self) -> Self:
        faults = list(self._name_faults())
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _name_faults(self) -> Iterator[str]:
        ids = [agent.id for agent in self.agents]
        for name in _twice(ids):
            yield f'agent id "{name}" is used twice'
        for agent in self.agents:
            if agent.account is not None and agent.account not in self.accounts:
                yield f'agent "{agent.id}" names account "{agent.account}": add a table [account.{agent.account}]'
        for selection in self.tasks:
            for name in selection.agents or ():
                if name not in ids:
                    yield f'tasks of pack "{selection.pack}" name agent "{name}", which has no [[agent]] table'
            for study in selection.studies or ():
                if study not in self.studies:
                    yield f'tasks of pack "{selection.pack}" name study "{study}": add it to the studies of the plan'
        local = self.machines.get(LOCAL)
        if local is not None and (local.host is not None or local.port is not None):
            yield f"machine.{LOCAL} is this machine and takes no host or port: choose another name"

    @property
    def plan_hash(self) -> str:
        """SHA-256 over what makes the cells, written canonically; machines, accounts and the budget may change."""
        content = self.model_dump(mode="json", by_alias=True, exclude={"accounts", "machines", "budget_usd"})
        # A plan that does not use what came later keeps the hash, and so the campaign, that it has always had.
        for selection in content["tasks"]:
            if selection["studies"] is None:
                del selection["studies"]
        for name, later in LATER.items():
            table, usual = content["study"][name], getattr(StudyTables(), name).model_dump(mode="json", by_alias=True)
            for key in later:
                if table[key] == usual[key]:
                    del table[key]
        return hashlib.sha256(canonical(content)).hexdigest()

    def agent(self, name: str) -> AgentConfig:
        """The agent configuration of this id; KeyError when there is none."""
        for agent in self.agents:
            if agent.id == name:
                return agent
        raise KeyError(name)

    def takers(self, selection: TaskSelection) -> tuple[AgentConfig, ...]:
        """The agents that take these tasks, in the plan's order."""
        return tuple(agent for agent in self.agents if selection.agents is None or agent.id in selection.agents)


def canonical(content: Any) -> bytes:
    """The one byte form of a JSON value: sorted keys, no blanks, UTF-8."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def load_plan(path: Path) -> Plan:
    """The plan of a TOML file; UserError (code 2) with one sentence per mistake."""
    return make_plan(read_toml(path, "plan"), f"plan {path}")


def parse_plan(text: str, source: str = "plan") -> Plan:
    """The plan of TOML text; UserError (code 2) with one sentence per mistake, each naming `source`."""
    return make_plan(parse_toml(text, source), source)


def make_plan(tables: Mapping[str, Any], source: str = "plan") -> Plan:
    """The plan of these tables, with the keys of a plan file; UserError (code 2) as `load_plan`."""
    return validated(Plan, tables, source)
