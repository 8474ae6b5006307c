"""What the screens are given to draw: plain frozen data, made from the store and the links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agenttime_tui.campaign.run import Run


@dataclass(frozen=True, slots=True)
class CampaignHead:
    """The campaign as the header needs it; unknown is None and not shown."""

    id: str
    name: str
    about: str = ""
    """Studies and whether intake runs: `duration, following` or `duration, offline`."""
    started_utc_ns: int | None = None
    left_s: float | None = None
    spent_usd: float | None = None
    spent_at_least: bool = False
    """Something that was used has no price: the sum is a lower bound."""
    budget_usd: float | None = None
    events_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine: link, clock, load, slots and what a check found."""

    name: str
    state: str = "live"
    """connecting, live, stale or down."""
    address: str = ""
    used: int = 0
    slots: int = 0
    cpu_percent: float | None = None
    memory_percent: float | None = None
    disk_free_bytes: float | None = None
    disk_floor_bytes: float | None = None
    seen_utc_ns: int | None = None
    round_trip_ms: float | None = None
    offset_ms: float | None = None
    offset_bound_ms: float | None = None
    clock_steps: int | None = None
    suspends: int | None = None
    agent_version: str = ""
    engine: str = ""
    orphans: int = 0
    findings: tuple[str, ...] = ()
    """What `machines check` found, each with its fix."""
    draining: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """Something an operator can act on now."""

    kind: str
    """machine, error, cutoff, account, disk, fault..."""
    title: str
    right: str = ""
    """Age or time at the right edge: `4 min`, `to 14:20`."""
    lines: tuple[str, ...] = ()
    key: str = ""
    action: str = ""
    target: str = ""
    """Run id or machine name that the action opens."""
    brief: str = ""
    """The same in one short line, for narrow screens."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything the board draws, read in one go."""

    head: CampaignHead
    runs: tuple[Run, ...] = ()
    machines: tuple[Machine, ...] = ()
    needs: tuple[Need, ...] = ()
    """Needs that only the source knows of (accounts, disks); the rest follow from runs and machines."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Agent id to `Codex 0.153.4, max`."""
    unit_of: Mapping[str, str] = field(default_factory=dict)
    """Cell id to the unit its prompt names: s, min or h."""
    packs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Benchmark to what the campaign kept of its pack: `pack`, `grade` (its rule), `needs`, `state`, `source`."""


@dataclass(frozen=True, slots=True)
class RunDetail:
    """One run with what its card and its live screen say besides."""

    run: Run
    setting: str = ""
    model: str | None = None
    model_asked: str | None = None
    prompt_sha256: str | None = None
    prompt_as_planned: bool | None = None
    request_words: str | None = None
    """The request as the prompt says it: `5 minutes`."""
    capture_bytes: int | None = None
    clock_bound_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost_usd: float | None = None
    clock_reads: int | None = None
    sleeps: int | None = None
    retries: int | None = None
    more: tuple[tuple[str, str], ...] = ()
    """Further facts of the card, already worded: `("wording", "original-stable")`."""
    transcript_missing: str | None = None
    """Why there is no transcript, in one sentence; None where there is one."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a transcript, as the harness module read it; texts are raw and cleaned when drawn."""

    index: int
    kind: str
    """prompt, think, say, tool, out, edit, clock, sleep, error, note or other."""
    text: str
    at_s: float | None = None
    """Offset from the release of the prompt."""
    utc_ns: int | None = None
    took_s: float | None = None
    running: bool = False
    note: str = ""
    """Right-hand remark: `+61 -0`."""
    phrase: str = ""
    """The request phrase inside a prompt."""
    seq: int = 0
    """The journal record it was read from."""


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """Some consecutive events and how many there are in all."""

    events: tuple[Event, ...] = ()
    total: int = 0


Report = Mapping[str, Any]
"""The object of `agenttime report --json`."""
