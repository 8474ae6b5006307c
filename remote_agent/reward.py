"""Whether a grader left a score: asked on the machine that holds a run for it, and by who waits for the answer."""

from __future__ import annotations

import json
import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol
else:
    Protocol = object


class Graded(Protocol):
    """A `graded` record, of the journal or of the store."""

    @property
    def data(self) -> dict[str, Any]:
        """What it says."""


def scored(graded: Graded | None, key: str) -> bool:
    """Whether the grader left a finite number under `key` (reward.txt is the key `reward`)."""
    if graded is None or graded.data["code"] is None or graded.data["reward"] is None:
        return False
    text = str(graded.data["reward"]["text"])
    try:
        found = json.loads(text)[key] if graded.data["reward"]["name"] == "reward.json" else float(text)
        return not isinstance(found, bool) and math.isfinite(found)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return False


def shortfall(graded: Graded, least: Mapping[str, float]) -> str:
    """What a step's grade lacks for the next step to begin: a score, or as much under each key; empty for nothing."""
    left = graded.data["reward"]
    if left is None or graded.data["code"] is None:
        return "was left without a score"
    try:
        found = json.loads(left["text"]) if left["name"] == "reward.json" else {"reward": float(left["text"])}
        short = [f"{key} {found.get(key)} below {low}" for key, low in least.items()
                 if not isinstance(found.get(key), (int, float)) or not found[key] >= low]  # fmt: skip
    except (ValueError, AttributeError, RecursionError):
        return "has a score that cannot be read"
    return f"has {', '.join(short)}" if short else ""
