"""What a step of a task brings to a run besides its prompt: what is put in and run before it, and its grader."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from agenttime_tui.protocols import beside
from task_packs.steps.prompts import step_env
from task_packs.steps.step import TaskStep
from task_packs.task import Task

TESTS, REWARD = "/tests", "/logs/verifier"
READY_MS = 1_800_000

Put = Callable[[bytes, str], dict[str, str]]


def step_parts(task: Task, name: str, placed: Put) -> dict[str, Any]:
    """`before` and `grade` of the spec's step that delivers this step of the task; nothing for no name."""
    if not name:
        return {}
    step = next(one for one in task.steps if one.name == name)
    before = {"before": _before(task, step, placed)} if step.readied else {}
    return before | {"grade": _grade(task, step, placed)}


def _before(task: Task, step: TaskStep, placed: Put) -> dict[str, Any]:
    return {
        "files": [placed(step.workdir_tar(), task.workdir)],
        "argv": step.ready_argv("{root}" + task.workdir),
        "cwd": task.workdir,
        "user": task.user,
        "timeout_ms": READY_MS,
    }


def _grade(task: Task, step: TaskStep, placed: Put) -> dict[str, Any]:
    return {
        "files": [placed(step.tests_tar(), TESTS)],
        "argv": beside.collecting(step.harbor.hooks, step.grader_argv("{root}" + TESTS)),
        "cwd": task.workdir,
        "env": {**step_env(task, step, os.environ), "VERIFIER_DIR": "{root}" + REWARD},
        "timeout_ms": round(step.harbor.verifier_timeout_s * 1000),
        "reward": REWARD,
        "least": dict(step.harbor.least),
        "combine": step.strategy,
    }
