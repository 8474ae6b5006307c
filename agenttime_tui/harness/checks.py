"""Named checks of a run against its plan: passed, failed, or not known. A failed check keeps the time, and is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agenttime_tui.harness.outcome import SAYS_WHEN_DONE
from agenttime_tui.harness.view import CONNECTED, Facts

RULES = {
    "tools": "the tools offered to the model are the agreed ones",
    "tools_alive": "the command line did not say that its tools cannot work",
    "servers": "the tool servers that the task hands the agent were connected",
    "no_subagents": "no other agent was started where none is allowed",
    "prompt": "the prompt that the command line took is the planned one, by its hash",
    "model": "only the model that was asked for answered",
    "effort": "the effort is the one that was asked for",
    "version": "the command line has the pinned version",
    "transcript": "the capture is whole and, where the agent ended by itself, has its final event",
}
"""Rule id -> what it says."""

UNNAMED = re.compile(r"[^A-Za-z0-9_-]")
"""What Claude Code puts _ for in the name of a tool."""
DATED = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest)$")


@dataclass(frozen=True, slots=True)
class Check:
    """One rule on one run."""

    rule: str
    passed: bool | None
    """None where it cannot be known, or does not apply."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a plan asked for; None or empty where it does not say."""

    model: str = ""
    effort: str = ""
    version: str = ""
    prompt_sha256: str | None = None
    tools: frozenset[str] | None = None
    subagents: bool = True
    """Other agents may be started."""
    servers: tuple[str, ...] = ()
    """Tool servers of the task that the agent was told of."""


def expected_of(spec: Mapping[str, Any] | None) -> Expected:
    """What a run spec says was planned, from its origin; options tools and subagents of the agent included.

    A session without tools is held to having none; one with a clock or an oracle has tools of ours.
    """
    origin = _table((spec or {}).get("origin"))
    agent = _table(origin.get("agent"))
    options = _table(agent.get("options"))
    tools, turn = options.get("tools"), origin.get("tools")
    tools = () if turn == "none" else None if turn else tools
    return Expected(
        model=str(agent.get("model") or ""),
        effort=str(agent.get("effort") or ""),
        version=str(agent.get("version") or ""),
        prompt_sha256=origin.get("prompt_sha256"),
        tools=frozenset(map(str, tools)) if isinstance(tools, list | tuple) else None,
        subagents=options.get("subagents") is not False,
        servers=tuple(map(str, origin.get("servers") or ())),
    )


def checks_of(
    facts: Facts, expected: Expected, whole: bool | None, ended_well: bool = False, harness: str = ""
) -> list[Check]:
    """Every rule on one run. `whole`: the capture is complete; None while it still grows.

    `ended_well`: the process ended by itself with exit code 0, so that a final event must be there, if the harness
    has one.
    """
    ended_well = ended_well and harness in SAYS_WHEN_DONE
    return [
        _tools(facts, expected),
        Check("tools_alive", not facts.tools_dead),
        _servers(facts, expected),
        Check("no_subagents", None if expected.subagents else facts.subagents == 0, _count(facts.subagents)),
        _same("prompt", facts.prompt_sha256, expected.prompt_sha256),
        _model(facts, expected),
        _same("effort", facts.effort, expected.effort),
        _same("version", facts.version, expected.version),
        _transcript(facts, whole, ended_well),
    ]


def failed(checks: Iterable[Check]) -> tuple[str, ...]:
    """The rule ids that failed, as `checks_failed` of a run lists them."""
    return tuple(check.rule for check in checks if check.passed is False)


def _tools(facts: Facts, expected: Expected) -> Check:
    if expected.tools is None or facts.tools is None:
        return Check("tools", None)
    offered = frozenset(name for name in facts.tools if not name.startswith(_prefixes(expected)))
    more, less = sorted(offered - expected.tools), sorted(expected.tools - offered)
    parts = [f"not agreed: {', '.join(more)}"] if more else []
    parts += [f"missing: {', '.join(less)}"] if less else []
    return Check("tools", not parts, "; ".join(parts))


def _prefixes(expected: Expected) -> tuple[str, ...]:
    """How the names of the tools begin that the task's own servers have."""
    return tuple(f"mcp__{UNNAMED.sub('_', name)}__" for name in expected.servers)


def _servers(facts: Facts, expected: Expected) -> Check:
    """Known where the command line says it: Claude Code of each, Codex of one without which it does not begin."""
    if not expected.servers or facts.servers is None:
        return Check("servers", None)
    said = {name: facts.servers.get(name) for name in expected.servers}
    failed = [f"{name} {status}" for name, status in said.items() if status not in (None, CONNECTED)]
    return Check("servers", False if failed else True if None not in said.values() else None, "; ".join(failed))


def _model(facts: Facts, expected: Expected) -> Check:
    if not expected.model or not facts.models:
        return Check("model", None)
    others = [model for model in facts.models if plain_model(model) != plain_model(expected.model)]
    return Check("model", not others, f"answered: {', '.join(others)}" if others else "")


def plain_model(name: str) -> str:
    """A model's name without its provider and date, as routes add them, in lower case with dashes."""
    return DATED.sub("", name.rsplit("/", 1)[-1]).lower().replace(".", "-")


def _same(rule: str, found: str | None, wanted: str | None) -> Check:
    if not found or not wanted:
        return Check(rule, None)
    return Check(rule, found == wanted, "" if found == wanted else f"{found[:64]} instead of {wanted[:64]}")


def _transcript(facts: Facts, whole: bool | None, ended_well: bool) -> Check:
    if whole is None:
        return Check("transcript", None)
    if not whole:
        return Check("transcript", False, "bytes of the capture are missing or were altered")
    if ended_well and facts.result is None:
        return Check("transcript", False, "there is no final event")
    return Check("transcript", True)


def _count(number: int) -> str:
    return f"{number} calls of other agents" if number else ""


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
