"""What a `graded` record means where the pack has no rule of its own."""

from __future__ import annotations

import json
import math
from typing import Any

from agenttime_tui.campaign.run import GradeFact

GRADED_STUDIES = ("duration", "natural", "same-turn")
"""Studies in which the work itself is graded; the others ask a question, or have a verifier of their own."""

ASKING_STUDIES = ("forecast", "retrospection", "self-score")
"""Studies whose runs are a question and its answer: there is no work to grade."""

STATUSES = ("pending", "scored", "empty", "grader_error", "not_graded", "refused")


def read_grade(data: dict[str, Any]) -> GradeFact:
    """The grade of one `graded` record: its own status where it has one, else the reward the grader left.

    A reward is a number in reward.txt, or the key `reward` (or the only number) of reward.json, else the last line the
    grader printed. 0 to 1 reads as 0 to 100 percent, passed from 1 on. No number, NaN, infinity and numbers below 0
    (a crash sentinel) are grader errors, never a score of 0.
    """
    flags = flags_of(data)
    status = data.get("status")
    if status is not None:
        return _stated(data, str(status), flags)
    value = _reward(data)
    if value is None or not math.isfinite(value) or value < 0:
        return GradeFact("grader_error", flags=flags)
    return GradeFact("scored", value, percent_of(value), value >= 1, flags)


def flags_of(data: dict[str, Any]) -> tuple[str, ...]:
    """What is to be known about a grade beside it."""
    said = data.get("flags")
    return tuple(str(flag) for flag in said) if isinstance(said, list | tuple) else ()


def percent_of(value: float | None) -> float | None:
    """100 x value on the 0 to 1 scale; an unbounded score has no percentage."""
    return None if value is None or not 0 <= value <= 1 else 100 * value


def _stated(data: dict[str, Any], status: str, flags: tuple[str, ...]) -> GradeFact:
    if status not in STATUSES:
        return GradeFact("pending", flags=(*flags, f"unrecognised status {status}"))
    value, percent, passed = number(data.get("value")), number(data.get("percent")), data.get("passed")
    if "percent" not in data and status in ("scored", "empty"):
        percent = percent_of(value)
    return GradeFact(status, value, percent, passed if isinstance(passed, bool) else None, flags)


def _reward(data: dict[str, Any]) -> float | None:
    reward = data.get("reward")
    if isinstance(reward, dict):
        said = str(reward.get("text", ""))
        return _from_json(said) if reward.get("name") == "reward.json" else _parsed(said)
    lines = [line for line in str(data.get("stdout") or "").splitlines() if line.strip()]
    return _parsed(lines[-1]) if lines and data.get("code") == 0 else None


def _from_json(said: str) -> float | None:
    try:
        content = json.loads(said)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return number(content)
    if "reward" in content:
        return number(content["reward"])
    numbers = [found for found in map(number, content.values()) if found is not None]
    return numbers[0] if len(numbers) == 1 else None


def _parsed(said: str) -> float | None:
    try:
        return float(said.strip())
    except ValueError:
        return None


def number(value: object) -> float | None:
    """The finite number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    return found if math.isfinite(found) else None
