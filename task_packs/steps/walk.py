"""Walks a task with steps from its start to its end, untouched or solved, as a run goes through them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from task_packs.grading import Outcome, RawGrade, grade
from task_packs.steps.grading import Rewards, combined, falls_short, rewards_in
from task_packs.steps.prompts import step_env
from task_packs.steps.step import TaskStep
from task_packs.surroundings import solution_env
from task_packs.task import Task

TESTS, SOLUTION, REWARD = "/tests", "/solution", "/logs/verifier"
READY_S = SOLVE_S = 1800.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task is walked through: a container, or a directory of this machine."""

    root: str
    """What stands before a place inside for programs that run there."""
    put: Callable[[bytes, str], Any]
    """Extracts a tar in a directory inside, made where there is none."""
    run: Callable[[list[str], dict[str, str], float, str], tuple[int | None, bytes]]
    """Runs a command in the working directory: variables, limit in seconds, user; code and output."""
    remove: Callable[[str], Any]
    """Removes a place inside."""
    graded: Callable[[int | None, bytes], RawGrade]
    """What a grader left that ended with this code and output."""
    seen: Callable[[], str] = lambda: ""
    """What the agent could see or reach and must not; empty for nothing."""


def walk(place: Place, task: Task, solve: bool) -> Outcome:
    """The outcome of the whole task."""
    rewards: list[Rewards | None] = []
    for step in task.steps:
        if fault := place.seen():
            return Outcome("grader_error", detail=f"step {step.name}: {fault}")
        if fault := _readied(place, task, step):
            if solve:
                return Outcome("grader_error", detail=f"step {step.name}: {fault}")
            rewards.append(None)
            break
        if solve and (fault := _solved(place, task, step)):
            return Outcome("grader_error", detail=f"step {step.name}: {fault}")
        raw = _graded(place, task, step)
        found = grade(task.grade, raw)
        if found.status not in ("scored", "empty"):
            return Outcome(found.status, detail=f"step {step.name}: {found.detail}")
        own = _rewards(raw)
        rewards.append(own)
        if short := falls_short(own, dict(step.harbor.least)):
            if solve:
                return Outcome("grader_error", detail=f"step {step.name}, solved, {short}")
            break
    whole = combined(task.steps[0].strategy, rewards)
    return grade(task.grade, None if whole is None else RawGrade(0, json.dumps(whole).encode()))


def _readied(place: Place, task: Task, step: TaskStep) -> str:
    if not step.readied:
        return ""
    place.put(step.workdir_tar(), task.workdir)
    code, said = place.run(step.ready_argv(place.root + task.workdir), {}, READY_S, task.user)
    return "" if code == 0 else f"its preparation ended with {code}: {_last(said)}"


def _solved(place: Place, task: Task, step: TaskStep) -> str:
    place.put(step.solution_tar(), SOLUTION)
    code, said = place.run(
        step.solution_argv(place.root + SOLUTION), solution_env(task, os.environ), SOLVE_S, task.user
    )
    place.remove(SOLUTION)
    return "" if code == 0 else f"solve.sh ended with {code}: {_last(said)}"


def _graded(place: Place, task: Task, step: TaskStep) -> RawGrade:
    for command in step.harbor.hooks:
        place.run(["/bin/sh", "-c", command], {}, step.harbor.verifier_timeout_s, "root")
    place.remove(TESTS)
    place.remove(REWARD)
    place.put(step.tests_tar(), TESTS)
    place.put(NOTHING, REWARD)
    env = {**step_env(task, step, os.environ), "VERIFIER_DIR": place.root + REWARD}
    code, said = place.run(step.grader_argv(place.root + TESTS), env, step.harbor.verifier_timeout_s, "root")
    found = place.graded(code, said)
    place.remove(TESTS)
    place.remove(REWARD)
    return found


def _rewards(raw: RawGrade) -> dict[str, float] | None:
    if raw.reward_json is not None:
        return rewards_in("reward.json", raw.reward_json.decode("utf-8", "replace"))
    return None if raw.reward_txt is None else rewards_in("reward.txt", raw.reward_txt.decode("utf-8", "replace"))


NOTHING = bytes(10240)
"""A tar without entries."""


def _last(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else "no output"
