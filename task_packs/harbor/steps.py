"""The [[steps]] of a Harbor task.toml: prompts that follow one another in one environment, each with its own grade."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from task_packs.harbor.parts import MAIN, Healthcheck, healthcheck, hook
from task_packs.harbor.toml import Section, read_toml

FOLDER = "steps"
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
NAME_CAP_BYTES = 255
STRATEGIES = ("mean", "final")
REWARD = "reward"
"""The key that a plain number as min_reward is about, and that of reward.txt."""
ROOT = (None, "root", "0")

Strategy = Literal["mean", "final"]


@dataclass(frozen=True, slots=True)
class HarborStep:
    """One of the steps as task.toml has it, with what it takes from the task."""

    name: str
    verifier_timeout_s: float = 600.0
    verifier_env: tuple[tuple[str, str], ...] = ()
    """Those of the task and over them those of the step."""
    least: tuple[tuple[str, float], ...] = ()
    """Key of the reward -> the number below which the steps after it do not begin."""
    healthcheck: Healthcheck | None = None
    artifacts: tuple[str, ...] = ()
    """Absolute paths in the agent's own container that are worth keeping after it."""
    hooks: tuple[str, ...] = ()
    """Commands of the task and of the step that run before its grader."""
    hindrance: str = ""
    """What it asks for that is not done; empty for nothing."""


@dataclass(frozen=True, slots=True)
class HarborSteps:
    """All steps of a task, none of which it has to have, and how their rewards make one."""

    steps: tuple[HarborStep, ...] = ()
    strategy: Strategy = "mean"


def read_steps(path: Path) -> HarborSteps:
    """The steps of the task.toml at `path`, in order; PackError naming file and key."""
    top = read_toml(path)
    sections = top.tables("steps")
    strategy = top.text("multi_step_reward_strategy") or "mean"
    if strategy not in STRATEGIES:
        raise top.wrong("multi_step_reward_strategy", f"{strategy!r} is not one of {', '.join(STRATEGIES)}")
    seen: set[str] = set()
    for section in sections:
        key = unicodedata.normalize("NFC", _name(section)).casefold()
        if key in seen:
            raise section.wrong("name", f"{section.raw['name']!r} names two steps")
        seen.add(key)
    return HarborSteps(tuple(_step(top, section) for section in sections), cast(Strategy, strategy))


def _name(section: Section) -> str:
    name = section.needed("name")
    if not name.strip() or name.endswith((".", " ")) or FORBIDDEN.search(name) or len(name.encode()) > NAME_CAP_BYTES:
        raise section.wrong("name", f"{name!r} is no name of a directory")
    return name


def _step(top: Section, section: Section) -> HarborStep:
    common, own = top.table("verifier"), section.table("verifier")
    timeout_s = own.number("timeout_sec")
    if timeout_s is None:
        timeout_s = common.number("timeout_sec")
    kept = (one.raw["source"] for one in section.named("artifacts", "source") if one.raw.get("service") in (None, MAIN))
    return HarborStep(
        _name(section),
        600.0 if timeout_s is None else timeout_s,
        tuple(sorted({**dict(common.strings("env")), **dict(own.strings("env"))}.items())),
        _least(section),
        healthcheck(section.table("healthcheck")) if "healthcheck" in section else None,
        tuple(place for place in kept if place.startswith("/") and ".." not in place.split("/")),
        tuple(one.raw["command"] for table in (common, own) for one in table.named("collect", "command")),
        next(_hindrances(top, section), ""),
    )


def _least(section: Section) -> tuple[tuple[str, float], ...]:
    asked = section.raw.get("min_reward")
    table = asked if isinstance(asked, dict) else {} if asked is None else {REWARD: asked}
    for value in table.values():
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
            raise section.wrong("min_reward", "must be a number or a table of numbers")
    return tuple(sorted((str(key), float(value)) for key, value in table.items()))


def _hindrances(top: Section, section: Section) -> Iterator[str]:
    name, agent, verifier = section.raw["name"], section.table("agent"), section.table("verifier")
    if _separate(verifier) or (_separate(verifier) is None and _separate(top.table("verifier"))):
        yield f"grades its step {name} in an environment of its own, where a step is graded where the session was"
    if agent.text("user") not in (None, top.table("agent").text("user")):
        yield f"runs its step {name} as another user ({agent.text('user')}), where a run has one"
    if verifier.text("user") not in ROOT:
        yield f"grades its step {name} as {verifier.text('user')}, where a step is graded as root"
    for one in (
        hook(each) for table in (top.table("verifier"), verifier) for each in table.named("collect", "command")
    ):
        if one.service != MAIN or one.user not in ROOT:
            whom = one.user if one.service == MAIN else f"service {one.service}"
            yield f"runs hooks as {whom} before its step {name} is graded, where they run as the grader does"
    for table, who in ((agent, "agent"), (verifier, "verifier")):
        if "network_mode" in table or "allowed_hosts" in table:
            yield f"gives the {who} of its step {name} a network of its own, where a run has one"


def _separate(verifier: Section) -> bool | None:
    """Whether a verifier has an environment of its own; None where its table does not say."""
    mode = verifier.text("environment_mode")
    if mode not in (None, "shared", "separate"):
        raise verifier.wrong("environment_mode", f"{mode!r} is not one of shared, separate")
    return mode == "separate" if mode else True if "environment" in verifier else None
