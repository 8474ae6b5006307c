"""How Codex words its failures: which are the provider's limit, which a refusal, which are only retried."""

from __future__ import annotations

import re
from typing import Any

RETRIED = re.compile(r"^Reconnecting\b", re.IGNORECASE)
LIMITS = re.compile(
    r"^You.ve hit your usage limit|^Quota exceeded|^Usage limit|last status: 429\b|^Rate limit reached", re.IGNORECASE
)
REFUSALS = re.compile(r"reason: content_filter\b|^This (?:content|request) was flagged", re.IGNORECASE)
DEAD_TOOLS = re.compile(r"^Code Mode is unavailable", re.IGNORECASE)
HARMLESS = re.compile(r"^Model metadata for |\bis deprecated\b|^`?\[?features\b", re.IGNORECASE)
"""Remarks that come as error items at the start of a run and are no failure."""

OWN_LOG = re.compile(
    r"^Reading (?:additional input|prompt) from stdin|^WARNING: "
    r"|^\d{4}-\d\d-\d\dT[\d:.]+Z\s+(?:ERROR|WARN|INFO|DEBUG|TRACE)\s"
)
"""Lines of its error output that tell of the program itself, not of the session."""

LIMIT_CODES = frozenset(("usage_limit_exceeded", "rate_limit_exceeded", "response_too_many_failed_attempts:429"))
REFUSAL_CODES = frozenset(("cyber_policy", "content_policy"))


SERVERS_FAILED = re.compile(r"required MCP servers failed to initialize: ")
SERVER = re.compile(r"(?:^|; )([A-Za-z0-9_.-]+): ")


def servers_failed(text: str) -> list[str]:
    """Names of the required tool servers of which a line says that they did not start."""
    found = SERVERS_FAILED.search(text)
    return SERVER.findall(text[found.end() :]) if found else []


def code_text(info: Any) -> str | None:
    """The rollout's `codex_error_info` as one word: a name, or `name:status`."""
    if isinstance(info, str):
        return info
    if isinstance(info, dict):
        for name, more in info.items():
            status = more.get("http_status_code") if isinstance(more, dict) else None
            return f"{name}:{status}" if status is not None else str(name)
    return None


def failure_of(message: str, code: str | None) -> str:
    """error, provider_limit or refusal: by the code where there is one, else by the words of the command line."""
    if code in LIMIT_CODES:
        return "provider_limit"
    if code in REFUSAL_CODES:
        return "refusal"
    if LIMITS.search(message):
        return "provider_limit"
    return "refusal" if REFUSALS.search(message) else "error"
