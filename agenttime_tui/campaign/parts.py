"""A run in parts: a task with steps is one run, its time the sum of its sessions' and its grade made of theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from agenttime_tui.campaign.ending import STOPPED, ending_of
from agenttime_tui.campaign.facts import NS_PER_S, Facts, text, whole
from agenttime_tui.campaign.run import GradeFact, TimeFact
from agenttime_tui.campaign.timing import Session, Timing, following, sessions_of, time_of
from task_packs.steps.grading import Rewards, combined, rewards_in

STATUSES = ("none", "live", "valid", "review", "invalid")
"""Of a time, from the one that says least against it to the one that says most."""
RESULTS = ("scored", "empty")
OF_STEPS = ("step_prepared", "step_graded")

Read = Callable[[dict[str, Any]], GradeFact]


@dataclass(frozen=True, slots=True)
class Part:
    """One step of a run that has several."""

    name: str
    timing: Timing | None = None
    """None for a step that did not begin."""
    ending: str | None = None
    code: int | None = None
    grade: GradeFact | None = None
    rewards: Rewards | None = None
    skipped: str | None = None
    """Why it did not begin and will not."""
    prepared: bool | None = None
    """Whether its preparation went well; None where there was none or not yet."""

    def as_json(self) -> dict[str, Any]:
        """The part as `run.extra["steps"]` lists it."""
        worked_s = None if self.timing is None else self.timing.worked_s
        bound = worked_s is not None and self.timing is not None and (self.timing.at_least or self.ending in STOPPED)
        return {
            "name": self.name, "worked_s": worked_s, "lower_bound": bound,
            "time_status": "none" if self.timing is None else self.timing.fact.status, "ending": self.ending,
            "code": self.code, "grade": None if self.grade is None else asdict(self.grade), "skipped": self.skipped,
        }  # fmt: skip


def in_parts(facts: Facts) -> bool:
    """Whether a run has several timed sessions, or grades of steps."""
    return any(one.kind in OF_STEPS or (one.kind == "released" and "then" in one.data) for one in facts)


def whole_time(facts: Facts, session: Session, lost: bool) -> Timing:
    """The time of a run: of its one timed session, or the sum over them all; what lies between is nobody's.

    `session` is the last one. The sum is a lower bound where one of its parts is, and no better than its worst part.
    """
    last = time_of(facts, session, lost)
    sessions = sessions_of(facts)
    earlier = [time_of(facts, one, False) for one in sessions[:-1]]
    unseen = _unseen(facts, sessions)
    if not earlier and not session.waiting and not unseen:
        return last
    parts = [*earlier, last]
    known = [one for one in parts if one.worked_s is not None]
    status = max((one.fact.status for one in parts), key=STATUSES.index)
    flags = tuple(dict.fromkeys(flag for one in parts for flag in one.fact.flags))
    if any(one.fact.status == "live" for one in earlier):
        status, flags = "review", ("no_end", *flags)
    if unseen and STATUSES.index(status) < STATUSES.index("review"):
        status, flags = "review", ("no_release", *flags)
    if last.fact.status == "live" or session.waiting:
        goes_on = session.waiting
        return Timing(_sum(known) if goes_on else None, goes_on, TimeFact("live", None, None, flags))
    interval = None
    if any(one.fact.interval_s for one in parts):
        spans = [one.fact.interval_s or (one.worked_s or 0.0, one.worked_s or 0.0) for one in parts]
        interval = (sum(low for low, _ in spans), sum(high for _, high in spans))
    bases = {one.fact.basis for one in parts if one.fact.basis}
    basis = bases.pop() if len(bases) == 1 else last.fact.basis
    at_least = any(one.at_least for one in parts) or len(known) < len(parts) or unseen
    return Timing(_sum(known) if known else None, at_least, TimeFact(status, basis, interval, flags))


def _unseen(facts: Facts, sessions: Sequence[Session]) -> bool:
    """Whether a step before the last that began was graded, or another followed it, and its release is not here."""
    names = [str(one.released.data.get("step")) for one in sessions if one.released is not None]
    told = [name for one in sessions if one.released for name in following(one.released)]
    between = told[: told.index(names[-1])] if names and names[-1] in told else []
    graded = [str(one.data.get("step")) for one in facts.of("step_graded")]
    return bool(names) and not {*between, *graded} <= set(names)


def only_a_bound(parts: Sequence[Part]) -> bool:
    """Whether the time of a run in parts is a bound from below whatever its last session says: an earlier one was
    stopped, or what should have followed did not begin for another reason than a score that is too low.
    """
    if any(one.ending in STOPPED for one in parts):
        return True
    for before, one in pairwise(parts):
        if one.skipped is not None:
            known = before.grade is not None and before.grade.status in RESULTS
            return not (known and one.skipped.startswith(f"step {before.name} has "))
    return False


def worked_before_ns(facts: Facts) -> int:
    """What the timed sessions before the last one worked, in nanoseconds."""
    earlier = [time_of(facts, one, False).worked_s for one in sessions_of(facts)[:-1]]
    return round(sum(one for one in earlier if one is not None) * NS_PER_S)


def _sum(parts: Sequence[Timing]) -> float:
    return sum(one.worked_s or 0.0 for one in parts)


def parts_of(facts: Facts, lost: bool, read: Read, outcome: str | None = None) -> list[Part]:
    """The steps of a run in parts, in order."""
    sessions = {str(one.released.data.get("step")): one for one in sessions_of(facts) if one.released is not None}
    told = [name for one in sessions.values() if one.released for name in following(one.released)]
    prepared = {str(one.data.get("step")): one.data.get("code") == 0 for one in facts.of("step_prepared")}
    skipped = {str(one.data.get("step")): _in_a_line(one.data.get("reason")) for one in facts.of("skipped")}
    names = list(dict.fromkeys([*list(sessions)[:1], *told, *sessions, *prepared, *skipped]))
    last = next(reversed(sessions), None)
    return [
        _part(facts, name, sessions.get(name), lost and name == last, read, skipped, prepared,
              outcome if name == last else None)
        for name in names
    ]  # fmt: skip


def _in_a_line(reason: object) -> str:
    return " ".join((text(reason) or "no reason").split())


def _part(
    facts: Facts, name: str, session: Session | None, lost: bool, read: Read, skipped: Mapping[str, str],
    prepared: Mapping[str, bool], outcome: str | None,
) -> Part:  # fmt: skip
    graded = facts.of("step_graded", name)
    grade = read(graded[-1].data) if graded else None
    rewards = _rewards(graded[-1].data) if graded and grade and grade.status in RESULTS else None
    if session is None:
        return Part(name, grade=grade, rewards=rewards, skipped=skipped.get(name), prepared=prepared.get(name))
    execution = "lost" if lost or session.rebooted else "ended" if session.exited is not None else "running"
    code = None if session.exited is None else whole(session.exited.data.get("code"))
    ending = ending_of(facts, session, execution, outcome)
    timing = time_of(facts, session, execution == "lost")
    return Part(name, timing, ending, code, grade, rewards, prepared=prepared.get(name))


def _rewards(data: Mapping[str, Any]) -> Rewards | None:
    reward = data.get("reward")
    if not isinstance(reward, dict):
        return None
    return rewards_in(str(reward.get("name")), str(reward.get("text", "")))


def whole_grade(facts: Facts, parts: Sequence[Part]) -> dict[str, Any] | None:
    """The data of a `graded` record of a run in parts, made of those of the steps that began as Harbor does it.

    None before it is known.
    """
    graded = facts.of("step_graded")
    open_parts = [one for one in parts if one.grade is None and one.skipped is None]
    if not parts or (open_parts and not facts.of("ended")):
        return None
    begun = [one for one in parts if one.timing is not None or one.prepared is False]
    strategy = next((str(one.data.get("combine")) for one in graded if one.data.get("combine")), "mean")
    rewards = combined(strategy, [one.rewards for one in begun])
    errors = [f"step {one.name}: {one.grade.status.replace('_', ' ')}" for one in begun
              if one.grade is not None and one.grade.status not in RESULTS]  # fmt: skip
    flags = list(dict.fromkeys([*(flag for one in begun if one.grade for flag in one.grade.flags), *errors]))
    if rewards is None:
        known = [one.grade for one in (begun[-1:] if strategy == "final" else begun) if one.grade is not None]
        detail = {"detail": "; ".join(errors)} if errors else {}
        return {"status": "grader_error" if known else "not_graded", "flags": flags, **detail}
    reward = {"name": "reward.json", "text": json.dumps(rewards)}
    return {"code": 0, "reward": reward, "stdout": "", "stderr": "", "flags": flags}
