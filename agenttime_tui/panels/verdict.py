"""How a run turned out, in words: the review's sentences for sides, endings and grades."""

from __future__ import annotations

from agenttime_tui.campaign.grading import ASKING_STUDIES
from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations, numbers
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.sanitise import clean

SIDE_WORD = {"early": "Shorter", "on_time": "Within 5%", "late": "Longer"}
ENDED = {
    "own": "Ended on its own.",
    "cutoff": "Stopped by the safety cutoff: the time it would have taken is not known.",
    "error": "Stopped by an error: the time is a lower bound.",
    "provider_limit": "Stopped by a provider limit: the time is a lower bound.",
    "refusal": "Refused within 30 seconds: left out of the default set.",
    "operator_stop": "Stopped by an operator: the time is a lower bound.",
    "lost": "Lost: the machine never told how it ended.",
    "unlabelled": "Ending not labelled yet.",
}
ENDED_BRIEF = {
    "own": "own", "cutoff": "cutoff", "error": "error", "provider_limit": "limit", "refusal": "refused",
    "operator_stop": "stopped", "lost": "lost", "unlabelled": "unlabelled",
}  # fmt: skip
ENDED_FACT = {
    "own": "on its own", "cutoff": "safety cutoff", "error": "error", "provider_limit": "provider limit",
    "refusal": "refused", "operator_stop": "by an operator", "lost": "lost", "unlabelled": "not labelled",
}  # fmt: skip
HEAD = {
    "own": ("ended", "ended on its own"), "cutoff": ("bound", "stopped at the cutoff"),
    "error": ("error", "stopped by an error"),
    "provider_limit": ("error", "stopped by a provider limit"), "refusal": ("excluded", "refused"),
    "operator_stop": ("bound", "stopped by an operator"), "lost": ("unknown", "lost"),
    "unlabelled": ("ended", "ended, not labelled"),
}  # fmt: skip
EXECUTION = {
    "planned": ("planned", "queued"), "staged": ("planned", "staged"), "preparing": ("preparing", "preparing"),
    "running": ("running", "running"), "unknown": ("unknown", "unknown"), "lost": ("unknown", "lost"),
}  # fmt: skip


def headline(run: Run) -> tuple[str, str]:
    """Glyph name and words for the right end of a run's head."""
    if run.execution != "ended":
        return EXECUTION.get(run.execution, ("unknown", "unknown"))
    return HEAD.get(run.ending or "", ("ended", "ended"))


def sentence(run: Run) -> str:
    """`Worked 733% past the request, 7 h 20 min over.`; empty where there is no ratio."""
    ratio, worked_s, requested_s = run.ratio, run.worked_s, run.requested_s
    if ratio is None or worked_s is None or requested_s is None:
        return ""
    gap = durations.worked(abs(worked_s - requested_s))
    if run.side == "early":
        return f"Stopped at {numbers.share(ratio)}% of the time asked, {gap} short."
    if run.side == "on_time":
        return f"Worked {numbers.share(ratio)}% of the time asked, within 5% of it."
    past = round(100 * (ratio - 1))
    if past >= 1000:
        return f"Worked {ratio:.1f} times as long as asked, {gap} over."
    return f"Worked {past}% past the request, {gap} over."


def short_verdict(run: Run, mode: Mode) -> str:
    """`8.33× longer`, `1.62× shorter`, `Within 5%`."""
    ratio = run.ratio
    if not ratio:
        return "Timing not verified"
    times = mode.g("times")
    if run.side == "early":
        return f"{numbers.factor(1 / ratio, times)} shorter"
    return f"{numbers.factor(ratio, times)} longer" if run.side == "late" else "Within 5%"


def grade_word(run: Run) -> str:
    """`passed`, `did not pass`, `score 62.3`, or why there is no grade; `passed` is the grader's word."""
    grade = run.grade
    if run.study in ASKING_STUDIES and grade.status in ("pending", "not_graded"):
        return "none, a question"
    if grade.status == "empty":
        return "nothing to grade"
    if grade.status == "grader_error":
        return "grader failed"
    if grade.status == "refused":
        return "grader refused"
    if grade.status == "not_graded":
        return clean(str(run.extra.get("grade_reason") or "not graded"))
    if grade.status == "pending":
        return "not yet" if run.execution != "ended" else "grading"
    if grade.passed is not None:
        return "passed" if grade.passed else "did not pass"
    return "scored"


def score_text(run: Run) -> str:
    """The score as its scale prints it: `62.3`, `2747`, `$348,280`; empty where there is none."""
    if run.grade.percent is not None:
        return f"{run.grade.percent:.1f}"
    held = run.extra.get("score")
    score = held if isinstance(held, dict) else {}
    value, scale = score.get("value", run.grade.value), score.get("scale")
    if not isinstance(value, int | float):
        return ""
    if scale == "usd":
        return numbers.money(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
