"""The task's own grader as a verifier that is polled: it passes when what it reports reaches the pack's pass rule."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from agenttime_tui.protocols.eta import POLL_MS, POLL_TIMEOUT_MS
from task_packs.surroundings import grader_env
from task_packs.task import Task

POLL = r"""
out=$1 key=$2 min=$3; shift 3
rm -rf "$out" && mkdir -p "$out" || exit 2
VERIFIER_DIR=$out "$@" || exit 1
if [ -f "$out/reward.json" ]; then
  number='[[:space:]]*:[[:space:]]*\(-\{0,1\}[0-9.][0-9.eE+-]*\)'
  value=$(tr -d '\n' <"$out/reward.json" | sed -n "s/.*\"$key\"$number.*/\1/p")
else
  value=$(cat "$out/reward.txt" 2>/dev/null)
fi
awk -v value="$value" -v min="$min" 'BEGIN { exit !(value ~ /^-?[0-9.]/ && value + 0 >= min + 0) }'
"""
"""One poll: runs the grader, reads its reward, and says by its exit code whether the pass rule is met."""

REWARD = "/tmp/verdict"


@dataclass(frozen=True, slots=True)
class Polling:
    """How often, and how long one poll may take."""

    interval_ms: int = POLL_MS
    timeout_ms: int = POLL_TIMEOUT_MS


def verifier(task: Task, files: dict[str, str], tests: str, polling: Polling) -> dict[str, Any]:
    """The `verifier` of a step: the task's grader in a place of its own, beside the shared working directory."""
    rule = task.grade.passes
    key, least = (rule.key, str(rule.min)) if rule is not None else (task.grade.key, "1")
    argv = task.grader_argv("{root}" + tests)
    return {
        "files": [files],
        "argv": ["/bin/sh", "-c", POLL, "sh", "{root}" + REWARD, key, least, *argv],
        "cwd": task.workdir,
        "env": grader_env(task, os.environ),
        "interval_ms": polling.interval_ms,
        "timeout_ms": polling.timeout_ms,
    }
