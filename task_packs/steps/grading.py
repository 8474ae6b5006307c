"""From the rewards of a task's steps to that of the task, as Harbor combines them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from task_packs.harbor.steps import REWARD, Strategy

Rewards = Mapping[str, float]
WHOLE_CAP = 10**308
"""A whole number above it is none that can be calculated with."""


def rewards_in(name: str, text: str) -> dict[str, float] | None:
    """The numbers of a reward file by key; None where it holds none that can be read."""
    try:
        found = json.loads(text) if name == "reward.json" else {REWARD: float(text)}
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return {key: float(value) for key, value in found.items()
            if (isinstance(value, int) and not isinstance(value, bool) and abs(value) <= WHOLE_CAP)
            or isinstance(value, float)}  # fmt: skip


def combined(strategy: Strategy | str, rewards: Sequence[Rewards | None]) -> dict[str, float] | None:
    """One reward of those of the steps that began, in order, None for one without a result; None where there is none.

    `mean`: the mean of each key over the steps with a result, a key that one lacks as 0. `final`: that of the last.
    Steps that never began are not in the list and count for nothing.
    """
    if strategy == "final":
        return dict(rewards[-1]) if rewards and rewards[-1] is not None else None
    known = [one for one in rewards if one is not None]
    keys = sorted({key for one in known for key in one})
    return {key: sum(one.get(key, 0.0) for one in known) / len(known) for key in keys} if keys else None


def falls_short(rewards: Rewards | None, least: Mapping[str, float]) -> str:
    """Why the steps after one do not begin; empty where they may."""
    if rewards is None:
        return "left no score"
    short = [f"{key} {rewards[key]:g} below {low:g}" if key in rewards else f"no {key}" for key, low in least.items()
             if not rewards.get(key, float("-inf")) >= low]  # fmt: skip
    return f"has {', '.join(short)}" if short else ""
