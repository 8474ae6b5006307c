"""Grades answers on the operator's side: the last message of a session against the key that no machine has."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from typing import Any

from agenttime_tui.harness.message import last_message
from agenttime_tui.judge import JudgeRefused, judge_of
from remote_agent.capture import body_bytes
from store.rows import RecordRow
from task_packs.answers import NotGraded, grade_message, read_key
from task_packs.errors import PackError
from task_packs.grading import RawGrade, grade
from task_packs.lock import read_lock
from task_packs.task import Task

ACTION = "grade"
"""The operator record that holds such a grade; its data has the keys of a `graded` journal record."""


def captured(records: Iterable[RecordRow]) -> bytes:
    """The session's standard output out of its transcript records."""
    return b"".join(body_bytes(one.data) for one in records if one.kind == "transcript" and one.data["stream"] == "out")


def grade_answer(task: Task, out: bytes, env: Mapping[str, str] = os.environ, run: str = "") -> dict[str, Any]:
    """The grade of a session's output as the data of a `graded` record; never raises. `run` is named in remedies.

    not_graded: the rule could not be applied (no key, nobody answers); refused: the judge would not say; what the
    judge or the rule said and cannot be read is the grader's error.
    """
    base: dict[str, Any] = {"where": "operator", "grader": fingerprint(task)}
    try:
        raw = grade_message(read_key(task.path), last_message(out), task.pack.path, judge_of(task.pack, env, run))
    except JudgeRefused as error:
        return {**base, "status": "refused", "detail": str(error)}
    except NotGraded as error:
        return {**base, "status": "not_graded", "detail": str(error)}
    except (PackError, OSError) as error:
        return {**base, "status": "grader_error", "detail": str(error)}
    reward = None if raw.reward_json is None else {"name": "reward.json", "text": raw.reward_json.decode()}
    said = raw.stdout.decode("utf-8", "replace")
    return {**base, "code": raw.code, "reward": reward, "stdout": said, **unscored(task, raw)}


def unscored(task: Task, raw: RawGrade) -> dict[str, str]:
    """Why what a grader left is no score, by the pack's rule; nothing where it is one."""
    found = grade(task.grade, raw)
    return {} if found.status in ("scored", "empty") or not found.detail else {"detail": found.detail}


def fingerprint(task: Task) -> dict[str, str]:
    """What the grade depends on besides the answer: interpreter and the locked hash of the task."""
    try:
        locked = read_lock(task.pack.path).get(task.id)
    except PackError:
        locked = None
    return {"python": platform.python_version(), "task_sha256": locked.sha256 if locked else ""}
