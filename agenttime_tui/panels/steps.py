"""The steps of a run that has several sessions: one line for each, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations

ENDED = {"own": "", "cutoff": "cut off", "operator_stop": "stopped"}


def facts(run: Run, why: bool = False) -> Iterator[tuple[str, str]]:
    """("step 1", "make 12 s passed") and so on; nothing for a run of one session.

    `why`: the first step that did not begin says why.
    """
    said = not why
    for number, part in enumerate(run.extra.get("steps") or (), 1):
        reason = f": {part['skipped']}" if part["skipped"] and not said else ""
        said = said or bool(reason)
        yield f"step {number}", f"{part['name']} {_said(part, run)}{reason}".rstrip()


def _said(part: Mapping[str, Any], run: Run) -> str:
    if part["skipped"]:
        return "not begun"
    if part["ending"] is None and part["worked_s"] is None:
        if run.execution in ("ended", "lost"):
            return "unknown"
        return "under way" if part["time_status"] == "live" and run.execution == "running" else "to come"
    words = [durations.worked(part["worked_s"])] if part["worked_s"] is not None else []
    words.append(ENDED.get(str(part["ending"]), str(part["ending"] or "").replace("_", " ")))
    words.append(_grade(part.get("grade")))
    return " ".join(word for word in words if word)


def _grade(grade: Mapping[str, Any] | None) -> str:
    if grade is None:
        return ""
    if grade["status"] not in ("scored", "empty"):
        return str(grade["status"]).replace("_", " ")
    if grade["passed"]:
        return "passed"
    if grade["percent"] is not None:
        return f"{grade['percent']:.3g}%"
    return "" if grade["value"] is None else f"scored {grade['value']:g}"
