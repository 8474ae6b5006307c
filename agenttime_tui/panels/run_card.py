"""The card of a run that ended: the ratio, the verdict, asked against worked, siblings and notes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agenttime_tui.campaign.run import Run
from agenttime_tui.look import digits, durations, marks, numbers
from agenttime_tui.look.cellwidth import fit, wrap
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Part, Row, blank, extent
from agenttime_tui.look.sanitise import clean
from agenttime_tui.panels import answered
from agenttime_tui.panels.board import INK_OF_SIDE
from agenttime_tui.panels.chrome import title
from agenttime_tui.panels.names import AgentName
from agenttime_tui.panels.run_bars import bars_height, draw_bars
from agenttime_tui.panels.said import said_rows
from agenttime_tui.panels.state import RunDetail
from agenttime_tui.panels.time_bar import big_clock
from agenttime_tui.panels.verdict import ENDED, ENDED_BRIEF, SIDE_WORD, grade_word, score_text, sentence

HEIGHT = 5
"""Of the head without its bars."""
_QUANTITY = re.compile(r"\d[\d.,]*%|\d[\d.,]* (?:d|h|min|s)\b(?: \d+ (?:h|min|s)\b)?|\d[\d.,]* times")
CAPTURE_NOTES = {
    "none": "Nothing of its transcript was captured.",
    "streaming": "Its transcript has not come whole yet.",
    "failed": "Its transcript is damaged or has gaps.",
    "deleted": "Its transcript was deleted.",
}


def card_height(run: Run) -> int:
    """How many rows the head of a run's card takes: fewer where there is no length to draw."""
    return HEIGHT + bars_height(run)


def card_top(width: int, mode: Mode, run: Run) -> list[Row]:
    """The ratio in big digits, the verdict in words, and beneath them two bars on one scale with a ruler."""
    rows = blank(width, card_height(run), mode)
    ratio = run.ratio
    ink = INK_OF_SIDE.get(run.side, "fg")
    text = answered.short(run)
    if text is None:
        text = numbers.factor(ratio) if ratio else big_clock(run.worked_s) if run.worked_s is not None else ""
    text = text or "–"
    digits.draw(rows[1:4], 1, text.replace(">", ""), f"{ink} b")
    x = max(24, digits.span(text) + 4)
    if width - x < 24:
        x = 1
        _verdict([rows[0], rows[4], rows[4]], x, run, mode)
    else:
        _verdict(rows[1:4], x, run, mode)
    if bars_height(run):
        draw_bars(rows[HEIGHT:], run, ink)
    return rows


def _verdict(rows: Sequence[Row], x: int, run: Run, mode: Mode) -> None:
    ink = INK_OF_SIDE.get(run.side, "")
    word = SIDE_WORD.get(run.side, "Timing not verified" if run.requested_s else answered.headline(run))
    word = fit(word, rows[0].width - 1 - x - 2, mode.g("ellipsis"))
    at = rows[0].put(x, f" {word} " if ink else word, "onattn b" if ink else "fg b", ink or None)
    if run.lower_bound and at + 26 < rows[0].width:
        rows[0].seq(at, ("  at least", "fg"), (", a lower bound", "dim"))
    room = rows[0].width - 1 - x
    said = sentence(run) or answered.said(run)
    if said and rows[1] is not rows[2]:
        parts = _loud(said)
        rows[1].seq(x, *(parts if extent(parts) <= room else [(fit(said, room, mode.g("ellipsis")), "dim")]))
    ended = ENDED.get(run.ending or "", "")
    if len(ended) > room:
        ended = ended.split(":")[0] + "."
    rows[2].put(x, fit(ended, room, mode.g("ellipsis")), "dim")


def _loud(text: str) -> list[tuple[str, str]]:
    """Quantities bold with their units, words dim."""
    parts, at = [], 0
    for found in _QUANTITY.finditer(text):
        parts += [(text[at : found.start()], "dim"), (found.group(), "fg b")]
        at = found.end()
    return [part for part in (*parts, (text[at:], "dim")) if part[0]]


def assumed_cutoff(run: Run, runs: Sequence[Run]) -> Run:
    """An imported run with the cutoff its study had: twice the longest request of the task; others as they are."""
    if run.cutoff_s is not None or run.time.basis != "imported" or not run.requested_s:
        return run
    asked = [
        other.requested_s for other in runs
        if other.requested_s and (other.benchmark, other.task) == (run.benchmark, run.task)
    ]  # fmt: skip
    return replace(
        run, cutoff_s=2.0 * max(asked, default=run.requested_s), extra={**run.extra, "cutoff_computed": True}
    )


def siblings(run: Run, runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """This agent on this task at every request, and the other agents at this request."""
    alike = [
        other for other in runs if (other.study, other.benchmark, other.task) == (run.study, run.benchmark, run.task)
    ]
    mine = sorted((other for other in alike if other.agent == run.agent), key=lambda other: other.requested_s or 0.0)
    others = [other for other in alike if other.agent != run.agent and other.requested_s == run.requested_s]
    return mine, others


def sibling_rows(
    width: int, mode: Mode, run: Run, mine: Sequence[Run], others: Sequence[Run], names: Mapping[str, AgentName]
) -> list[Row]:
    """Two small tables with the present run marked."""
    rows = [Row(width, mode)]
    same = "" if run.study in answered.COLUMNS else ", same request"
    headings = ("This agent, this task", f"Other agents{same}") if width >= 84 else ("This agent", "Other agents")
    for heading, group in zip(headings, (mine, others), strict=True):
        if not group:
            continue
        if len(rows) > 1:
            rows.append(Row(width, mode))
        columns = _Columns(width, run.study)
        rows.append(columns.heading(mode, heading))
        labels = _labels(run, group, names)
        rows += [columns.line(mode, other, label, names, other.id == run.id) for label, other in labels]
    return rows


def _labels(run: Run, group: Sequence[Run], names: Mapping[str, AgentName]) -> list[tuple[str, Run]]:
    return [
        (
            other.request or answered.variant(other) or other.study
            if other.agent == run.agent
            else " ".join((names[other.agent].full, answered.variant(other))).rstrip(),
            other,
        )
        for other in group
    ]


class _Columns:
    """Where the columns of the sibling tables end; the mark, the ending and the score go first when it is narrow."""

    def __init__(self, width: int, study: str) -> None:
        self.width = width
        self.words = answered.COLUMNS.get(study, ("asked", "worked", "ratio"))
        self.says = study in answered.COLUMNS
        wide = width >= 84
        self.asked = 34 if wide else 28 if width >= 62 else 22
        self.worked = self.asked + 12
        self.ratio = self.worked + 10
        self.mark = self.ratio + 2 if wide and not self.says else None
        self.end = (self.ratio + 13 if wide else self.ratio + 2) if width >= self.ratio + 14 else None
        self.score = width - 2 if width >= self.ratio + (29 if wide else 20) else None

    def heading(self, mode: Mode, text: str) -> Row:
        row = Row(self.width, mode)
        row.put(1, fit(text, self.asked - 8, mode.g("ellipsis")), "fg b")
        for end, word in zip((self.asked, self.worked, self.ratio), self.words, strict=True):
            row.right(end, word, "dim")
        if self.mark is not None:
            row.put(self.mark, mode.g("eighth"), "dim")
            row.put(self.mark + 4, "1", "dim")
            row.put(self.mark + 8, "8", "dim")
        if self.end is not None:
            row.put(self.end, "ended", "dim")
        if self.score is not None:
            row.right(self.score, "score", "dim")
        return row

    def line(self, mode: Mode, run: Run, label: str, names: Mapping[str, AgentName], here: bool) -> Row:
        row = Row(self.width, mode)
        name = names[run.agent]
        row.put(2, name.sign(mode), name.ink)
        row.put(4, fit(label, self.asked - (16 if self.says else 12), mode.g("ellipsis")), "fg b" if here else "fg2")
        if self.says:
            self._said(row, run)
        else:
            self._times(row, run)
        if self.end is not None:
            word = ENDED_BRIEF.get(run.ending or "", "")
            row.put(self.end, word, "fg2" if word == "cutoff" else "attn" if word in ("error", "limit") else "dim")
        if self.score is not None:
            row.right(self.score, score_text(run) or mode.g("missing"), "fg2")
        if here:
            row.shade(0, self.width - 1, "cursor")
            row.put(0, mode.g("edge"), "fg b")
        return row

    def _said(self, row: Row, run: Run) -> None:
        """What it said, what was true, and how they compare."""
        told = answered.both(run)
        for end, seconds in ((self.asked, told.said_s), (self.worked, told.true_s)):
            if answered.known(seconds):
                row.rseq(end, *numbers.parts(durations.worked(seconds), "fg2"))
        if answered.known(told.factor):
            row.right(self.ratio, numbers.factor(told.factor, row.mode.g("times")), "fg")

    def _times(self, row: Row, run: Run) -> None:
        """Asked, worked, and their ratio with its mark."""
        mode = row.mode
        if run.requested_s:
            number, unit = durations.asked(run.requested_s)
            row.rseq(self.asked, (number, "fg2"), (f" {unit:<3}", "dim"))
        if run.worked_s is not None:
            row.rseq(self.worked, *numbers.parts(durations.worked(run.worked_s), "fg2"))
        elif run.execution != "ended":
            row.right(self.worked, run.execution, "dim")
        if run.ratio:
            bound: list[Part] = [(f"{mode.g('bound')} ", "fg")] if run.lower_bound else []
            ink = INK_OF_SIDE.get(run.side, "fg")
            row.rseq(self.ratio, *bound, (numbers.factor(run.ratio, mode.g("times")), ink))
            if self.mark is not None:
                marks.split(row, self.mark, 4, run.ratio)


def run_notes(run: Run, shown: Sequence[Run]) -> list[tuple[str, str]]:
    """What to read before quoting, made from the runs in view: glyph name and sentence."""
    notes: list[tuple[str, str]] = []
    bounds = [other for other in shown if other.lower_bound]
    if bounds:
        which = (
            "This time is a lower bound"
            if len(bounds) == 1 and bounds[0].id == run.id
            else (
                "One time here is a lower bound"
                if len(bounds) == 1
                else f"{_count(len(bounds))} times here are lower bounds"
            )
        )
        notes.append(("bound", f"{which}; a longer run would have a larger ratio."))
    unlabelled = sum(other.ending == "unlabelled" for other in shown)
    if unlabelled:
        verb = "ending is" if unlabelled == 1 else "endings are"
        notes.append(("missing", f"{_count(unlabelled)} {verb} not labelled in this set."))
    if run.cutoff_s and run.extra.get("cutoff_computed"):
        notes.append(("missing", "The cutoff is computed as twice the longest request, not read from the file."))
    if run.time.status in ("review", "invalid"):
        notes.append(("unknown", f"The time is in doubt: {', '.join(run.time.flags) or run.time.status}."))
    if run.capture in CAPTURE_NOTES and run.time.basis not in (None, "imported") and run.execution == "ended":
        notes.append(("error", CAPTURE_NOTES[run.capture]))
    if run.extra.get("held"):
        notes.append(("missing", "Its environment is held until it is graded."))
    if run.extra.get("grade_detail"):
        notes.append(("missing", f"{grade_word(run).capitalize()}: {clean(str(run.extra['grade_detail']))}."))
    if run.counts == "no":
        notes.append(("excluded", f"Left out of the study: {run.counts_reason or 'no reason recorded'}."))
    if run.attempt > 1:
        notes.append(("missing", f"Attempt {run.attempt}: the earlier ones stay in the record."))
    return notes


def _count(number: int) -> str:
    words = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
    return words[number] if number < len(words) else str(number)


def note_rows(width: int, mode: Mode, notes: Sequence[tuple[str, str]]) -> list[Row]:
    """The section of notes; nothing where there are none."""
    if not notes:
        return []
    rows = [Row(width, mode)]
    title(rows[0], 1, "Read before quoting", f"{len(notes)} note{'' if len(notes) == 1 else 's'}", width - 2)
    for glyph, text in notes:
        for number, line in enumerate(wrap(text, width - 6)):
            rows.append(Row(width, mode))
            if not number:
                rows[-1].put(2, mode.g(glyph), "fg" if glyph == "bound" else "dim")
            rows[-1].put(4, line, "fg2")
    return rows


def card_body(
    width: int, mode: Mode, detail: RunDetail, runs: Sequence[Run], names: Mapping[str, AgentName], events: int
) -> list[Row]:
    """Everything beneath the bars: siblings, notes, and where the transcript is."""
    mine, others = (answered.with_truths(group, runs) for group in siblings(detail.run, runs))
    rows = sibling_rows(width, mode, detail.run, mine, others, names)
    notes = note_rows(width, mode, run_notes(detail.run, [*mine, *others]))
    if notes:
        rows += [Row(width, mode), _section_rule(width, mode), *notes]
    said = said_rows(width, mode, detail.run.extra.get("decisions") or ())
    if said:
        rows += [Row(width, mode), _section_rule(width, mode), *said]
    rows += [Row(width, mode), _section_rule(width, mode), Row(width, mode), Row(width, mode)]
    title(rows[-2], 1, "Transcript")
    if detail.transcript_missing:
        rows[-1].put(2, fit(detail.transcript_missing, width - 3, mode.g("ellipsis")), "dim")
    else:
        rows[-2].rseq(width - 2, ("t", "fg b"), (" read it", "dim"))
        rows[-1].seq(2, (numbers.count(events), "fg2"), (" event" if events == 1 else " events", "dim"))
    return rows


def _section_rule(width: int, mode: Mode) -> Row:
    row = Row(width, mode)
    row.fill(1, width - 1, mode.g("rule"), "line")
    return row
