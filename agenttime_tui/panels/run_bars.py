"""Two lengths on one scale over a ruler, beneath the words of a run's card: asked and worked, or said and true."""

from __future__ import annotations

from collections.abc import Sequence

from agenttime_tui.campaign import report_answers as answers
from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations, numbers
from agenttime_tui.look.rows import Part, Row, extent
from agenttime_tui.panels.answered import COLUMNS, at_least, both, known
from agenttime_tui.panels.chrome import numbers_in

LABELS = 10
"""Columns before a bar."""
VALUES = 15
"""Columns after it."""
LEAST = 20
RULER_S = (1, 5, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 57600, 86400)


def bars_height(run: Run) -> int:
    """Rows that the bars take: five for two, three for one, none where there is no length to draw."""
    if run.requested_s:
        return 5 if run.worked_s is not None else 0
    found = lengths(run)
    return 1 + 2 * len(found) if found else 0


def draw_bars(rows: Sequence[Row], run: Run, ink: str) -> None:
    """The first bar, a gap, the second bar, the ruler and its labels, over as many rows as `bars_height` says."""
    if run.requested_s:
        _against_request(rows, run, ink)
    else:
        _lengths(rows, run)


def lengths(run: Run) -> list[tuple[str, float]]:
    """(label, seconds) of what a run without a request said and what was true, at most two; only what is known."""
    worked, told = answers.as_number(run.worked_s), both(run)
    if run.study == "self-score":
        found = []
    elif run.study in COLUMNS:
        said, true, _ = COLUMNS[run.study]
        found = [(said.capitalize(), told.said_s), (true.capitalize(), told.true_s)]
    else:
        found = [("Worked", worked)]
    return [(label, seconds) for label, seconds in found if known(seconds) and seconds > 0]


def _lengths(rows: Sequence[Row], run: Run) -> None:
    found, mode = lengths(run), rows[0].mode
    span, room = max(seconds for _, seconds in found), rows[0].width - LABELS - VALUES
    if room < LEAST:
        return
    for number, (label, seconds) in enumerate(found):
        row, ink = rows[2 * number], "fg" if number == len(found) - 1 else "fg2"
        end = max(LABELS + 1, LABELS + round(seconds / span * room))
        row.put(1, label, "dim")
        row.fill(LABELS, end, mode.g("bar"), ink)
        bound = run.lower_bound if label == "Worked" else label == "True" and bool(at_least(run))
        if bound:
            row.put(end, mode.g("stopped"), ink, over=True)
        value = numbers.parts(durations.worked(seconds))
        row.seq(end + 2, *([(f"{mode.g('bound')} ", "fg")] if bound else []), *value)
    _ruler(rows[-2], rows[-1], LABELS, LABELS + room, span, room)


def _against_request(rows: Sequence[Row], run: Run, ink: str) -> None:
    mode, worked, asked = rows[0].mode, run.worked_s or 0.0, run.requested_s or 1.0
    longest = max(worked, asked)
    cutoff = run.cutoff_s if run.cutoff_s and run.cutoff_s <= 1.5 * longest else None
    span = max(longest, cutoff or 0.0)
    x, room = LABELS, rows[0].width - LABELS - VALUES
    if room < LEAST:
        return

    def at(seconds: float) -> int:
        return x + round(seconds / span * room)

    rows[0].put(1, "Asked", "dim")
    rows[2].put(1, "Worked", "dim")
    rows[0].fill(x, at(asked), mode.g("bar"), "target")
    rows[2].fill(x, max(x + 1, at(worked)), mode.g("bar"), ink)
    for row in rows[:3]:
        row.put(at(asked), mode.g("reached"), "target", over=True)
    if cutoff:
        for row in rows[:3]:
            row.put(at(cutoff), mode.g("cutoff"), "fg2", over=True)
        if at(cutoff) > at(asked) + 12:
            rows[0].put(at(cutoff) + 2, "cutoff", "fg2")
    request = durations.asked(asked)
    if at(asked) + 2 + len(" ".join(request)) < (
        at(cutoff) if cutoff and at(cutoff) > at(asked) else rows[0].width - 1
    ):
        rows[0].seq(at(asked) + 2, (request[0], "target"), (f" {request[1]}", "dim"))
    if run.lower_bound:
        rows[2].put(at(worked), mode.g("stopped"), ink, over=True)
    start = at(worked) + 2 if at(worked) != at(asked) - 1 else at(worked) + 3
    bound: list[Part] = [(f"{mode.g('bound')} ", "fg")] if run.lower_bound and not cutoff else []
    value = [(piece, "fg b" if token == "fg" else token) for piece, token in numbers.parts(durations.worked(worked))]
    if start <= at(asked) <= start + extent(value):
        start = at(asked) + 2
    rows[2].seq(start, *bound, *value)
    if not cutoff and run.cutoff_s:
        off: list[Part] = [("cutoff ", "dim"), *numbers_in(durations.worked(run.cutoff_s), "fg2")]
        off.append((f" {mode.g('off_high')}", "dim"))
        if at(asked) + 14 + extent(off) < rows[0].width - 1:
            rows[0].rseq(rows[0].width - 1, *off)
    _ruler(rows[3], rows[4], x, at(span), span, room)


def _coarse(span: float) -> float:
    """The step of a ruler beyond any in `RULER_S`: an agent may say any number, and nothing is drawn for ever."""
    return float(max(86400 * 7, span / 4))


def _ruler(line: Row, labels: Row, x: int, end: int, span: float, room: int) -> None:
    mode = line.mode
    line.fill(x, end + 1, mode.g("rule"), "line")
    step = next((step for step in RULER_S if span / step * 8 <= room and span / step <= 12), _coarse(span))
    reach = -1
    for number in range(int(span / step) + 1):
        seconds = number * step
        column = x + round(seconds / span * room)
        line.put(column, mode.g("ruler"), "line", over=True)
        text = durations.chip(seconds) if number else "0"
        start = column - (len(text) // 2 if number else 0)
        if start > reach and start + len(text) < labels.width:
            labels.put(start, text, "dim")
            reach = start + len(text)
