"""What the cards of agents, benchmarks and tasks are made of: headings, lines of facts, one agent's row of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from agenttime_tui.campaign.grading import ASKING_STUDIES
from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations, numbers, strips
from agenttime_tui.look.cellwidth import wrap
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Part, Row
from agenttime_tui.look.sanitise import clean
from agenttime_tui.metrics.strip import halved
from agenttime_tui.panels.spots import Page
from agenttime_tui.panels.verdict import ENDED_BRIEF

FACT_AT = 16
Lines = Sequence[tuple[str, str]]
"""Name and value, already in words."""


def section(page: Page, text: str, right: str = "") -> Row:
    """A blank row, a rule, and the heading of what follows; no blank row where it is low."""
    if page.rows:
        if not page.low:
            page.row()
        page.row().fill(1, page.width - 1, page.mode.g("rule"), "line")
    row = page.row()
    row.put(1, text, "fg b")
    if right:
        row.right(page.width - 1, right, "dim")
    return row


def facts(page: Page, lines: Lines) -> None:
    """Names dim, values beside them, long ones wrapped; names without a value are left out."""
    for name, value in lines:
        if not value:
            continue
        for number, line in enumerate(wrap(value, page.width - FACT_AT - 2)):
            row = page.row()
            if not number:
                row.put(1, name, "dim")
            row.seq(FACT_AT, *numbers.parts(line, "fg", "fg2"))


def counted(found: Counter[str]) -> str:
    """`621 own, 41 cutoff, 4 error`: the most frequent first."""
    return ", ".join(f"{numbers.count(n)} {clean(name)}" for name, n in found.most_common() if name)


def endings(runs: Iterable[Run]) -> str:
    """How the runs that are over ended."""
    over = [run for run in runs if run.execution in ("ended", "lost")]
    return counted(Counter(ENDED_BRIEF.get(run.ending or "", run.ending or "unknown") for run in over))


def grades(runs: Iterable[Run]) -> str:
    """Where the grades of the runs that are over stand."""
    words = {"not_graded": "not graded", "grader_error": "grader failed", "empty": "nothing to grade"}
    over = [run for run in runs if run.execution == "ended" and run.study not in ASKING_STUDIES]
    return counted(Counter(words.get(run.grade.status, run.grade.status) for run in over))


def left_out(runs: Iterable[Run]) -> str:
    """How many attempts do not count, and why, the frequent reasons first."""
    reasons = Counter(run.counts_reason or "no reason recorded" for run in runs if run.counts == "no" and run.attempt)
    return counted(reasons)


def lower_bounds(mode: Mode, row: Mapping[str, Any]) -> str:
    """How many runs were stopped, and the timing error that takes them as lower bounds."""
    stopped = row.get("lower_bounds") or 0
    if not stopped:
        return "none"
    bound = (row.get("censored") or {}).get("timing_error")
    said = f"; taken as such the timing error is {numbers.factor(bound, mode.g('times'))}" if bound is not None else ""
    return f"{numbers.count(stopped)} of {numbers.count(row['runs'])} runs were stopped{said}"


def factor_parts(mode: Mode, value: float | None, few: bool = False, bold: bool = False) -> list[Part]:
    """A factor, dim where few runs stand behind it; a dash where there is none."""
    if value is None:
        return [(mode.g("missing"), "dim")]
    return [(numbers.factor(value, mode.g("times")), "dim" if few else "bright b" if bold else "fg")]


def share_parts(mode: Mode, share: Mapping[str, Any] | None, ink: str = "fg") -> list[Part]:
    """A share in percent."""
    if not share or share.get("share") is None:
        return [(mode.g("missing"), "dim")]
    return [(numbers.share(share["share"]), ink), ("%", "dim")]


def interval_text(estimate: Mapping[str, Any] | None) -> str:
    """`1.11 to 1.25`, or nothing."""
    return numbers.interval(*estimate["ci"]) if estimate and estimate.get("ci") else ""


def narrow_strip(row: Row, x: int, counts: Sequence[int] | None) -> None:
    """Where runs ended, in 21 columns of one row."""
    bins = np.array([int(number) for number in counts or [0] * 41], dtype=np.int64)
    strips.draw([row], x, [int(number) for number in halved(bins)])


def requests_text(requests_s: Iterable[float]) -> str:
    """`5 min to 80 min` of a benchmark."""
    held = sorted(set(requests_s))
    if not held:
        return ""
    low, high = durations.asked_text(held[0]), durations.asked_text(held[-1])
    return low if low == high else f"{low} to {high}"


def score_parts(mode: Mode, score: Mapping[str, Any] | None) -> list[Part]:
    """A mean score as its scale prints it: `62.3`, `2,747`, `$348,280`."""
    value = (score or {}).get("value")
    if not isinstance(value, int | float):
        return [(mode.g("missing"), "dim")]
    if (score or {}).get("scale") == "usd":
        return [(numbers.money(value), "fg2")]
    return [(numbers.count(value) if abs(value) >= 1000 else f"{value:.1f}", "fg2")]


def passed_text(mode: Mode, passed: Mapping[str, Any] | None) -> str:
    """`27 of 54`; a dash without a pass rule."""
    return f"{passed['n']} of {passed['of']}" if passed and passed.get("of") else mode.g("missing")
