"""Runs as plain lines of text, for pipes, logs and people without the screens."""

from __future__ import annotations

from agenttime_tui.campaign.grading import ASKING_STUDIES
from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations, numbers
from agenttime_tui.look.sanitise import clean
from agenttime_tui.panels.answered import short

NOTHING = "–"


def asked(run: Run) -> str:
    """The request, or the study and its variant where none was made."""
    if run.requested_s is not None:
        return durations.asked_text(run.requested_s)
    variant = run.extra.get("variant")
    return " ".join(str(part) for part in (run.request or run.study, variant) if part)


def worked(run: Run) -> str:
    """The time worked, with ≥ where it is a lower bound."""
    if run.worked_s is None:
        return NOTHING
    return ("≥ " if run.lower_bound else "") + durations.worked(run.worked_s)


def ratio(run: Run) -> str:
    """Worked over requested; of a question, what was said over what was true, or what was said."""
    told = short(run)
    if told is not None and run.execution == "ended":
        return told or NOTHING
    return NOTHING if run.ratio is None else ("≥" if run.lower_bound else "") + numbers.factor(run.ratio)


def graded(run: Run) -> str:
    """The grade in a word."""
    grade = run.grade
    if run.study in ASKING_STUDIES and grade.status in ("pending", "not_graded"):
        return NOTHING
    if grade.status != "scored":
        return grade.status.replace("_", " ")
    value = f"{grade.percent:.0f}%" if grade.percent is not None else f"{grade.value:g}"
    return value + {True: " passed", False: "", None: ""}[grade.passed]


def state(run: Run) -> str:
    """How it ended, else where it stands."""
    return (run.ending or run.execution).replace("_", " ") + (", held until graded" if run.extra.get("held") else "")


def side(run: Run) -> str:
    """early, on time, late or nothing."""
    return "" if run.side == "unknown" else run.side.replace("_", " ")


def where(run: Run) -> str:
    """Agent and task."""
    return clean(f"{run.agent}  {run.benchmark}/{run.task}  {asked(run)}")
