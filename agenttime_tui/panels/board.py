"""The board drawn: where columns go at each width, the group's row, the cell in its three fixed slots."""

from __future__ import annotations

from dataclasses import dataclass

from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations, marks, numbers
from agenttime_tui.look.cellwidth import cells as wide
from agenttime_tui.look.cellwidth import fit, squeeze
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Row
from agenttime_tui.panels.answered import short
from agenttime_tui.panels.board_model import Cells, Group, Line, Typical
from agenttime_tui.panels.moment import Moment
from agenttime_tui.panels.names import AgentName

INK_OF_SIDE = {"early": "short", "on_time": "within", "late": "long"}
WORDS = {
    "error": "error", "provider_limit": "limit", "operator_stop": "stopped", "lost": "lost", "refusal": "refused",
}  # fmt: skip
ASKED = 8
"""Cells of the asked column."""

FARTHEST = 66
"""The first agent's column begins here at the latest: names and cells must not drift apart on a wide screen."""

SIZES = ((8, 6, 16), (8, 6, 0), (4, 3, 0), (2, 2, 0), (0, 0, 0))
"""Mark left and right of the axis, then the cells of worked time and score, from wide to narrow."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything of a board line stands at one width."""

    width: int
    left: int
    right: int
    extra: int
    agents: tuple[int, ...]
    """Indices of the agents that are shown."""
    starts: tuple[int, ...]
    """First cell of each shown agent's column."""

    @property
    def column(self) -> int:
        """Cells of one agent's column."""
        return column_width(self.left, self.right, self.extra)

    @property
    def asked_end(self) -> int:
        """The cell after the asked column."""
        return self.starts[0] - 2 if self.starts else self.width - 1


def column_width(left: int, right: int, extra: int) -> int:
    """Glyph, gap, number, gap, mark; then worked time and score."""
    mark = left + 1 + right + 1 if left else 0
    return 2 + marks.NUMBER + mark + extra


def layout(width: int, agents: int, first: int = 0) -> Layout:
    """The widest form in which every agent fits beside a readable task; else as many agents as fit, from `first`."""
    for left, right, extra in SIZES:
        column = column_width(left, right, extra)
        label = 24 if left >= 8 else 16 if left >= 4 else 14
        if width - 2 - agents * (column + 2) >= label + ASKED:
            return _placed(width, left, right, extra, tuple(range(agents)))
    column = column_width(2, 2, 0)
    shown = max(1, min(agents, (width - 2 - ASKED - 14) // (column + 2)))
    first = max(0, min(first, agents - shown))
    return _placed(width, 2, 2, 0, tuple(range(first, first + shown)))


def _placed(width: int, left: int, right: int, extra: int, agents: tuple[int, ...]) -> Layout:
    column, count = column_width(left, right, extra), len(agents)
    first = min(width - 1 - count * column - (count - 1) * 2, FARTHEST)
    starts = tuple(first + i * (column + 2) for i in range(count))
    return Layout(width, left, right, extra, agents, starts)


def heading(place: Layout, mode: Mode, agents: tuple[AgentName, ...], label: str = "Cells") -> Row:
    """The row of column names."""
    row = Row(place.width, mode)
    row.put(1, label, "fg b")
    row.right(place.asked_end, "asked", "dim")
    for x, number in zip(place.starts, place.agents, strict=True):
        agent = agents[number]
        row.put(x, agent.sign(mode), agent.ink)
        end = x + place.column - place.extra
        room = end - x - 2 - (7 if place.left else -(number != place.agents[-1]))
        row.put(x + 2, fit(agent.short, room, mode.g("ellipsis")), "fg b")
        if place.left:
            row.right(end, "in 5%", "dim")
        if place.extra:
            row.right(end + 10, "worked", "dim")
            row.right(end + 16, "score", "dim")
    hidden = len(agents) - len(place.agents)
    if hidden and place.asked_end - 5 > 7 + len(f"[ ] {hidden} more"):
        row.seq(7, ("[ ]", "fg b"), (f" {hidden} more", "dim"))
    return row


def draw_line(
    place: Layout, mode: Mode, line: Line, moment: Moment, opened: bool, label: bool, cursor: int | None
) -> Row:
    """One line; `label` forces the task's name, `cursor` is the index of the agent column under the cursor."""
    row = Row(place.width, mode)
    if line.group is None:
        return row
    here = cursor is not None
    if line.cells is None:
        _group_row(row, place, line.group, opened, here)
    else:
        _cells_row(row, place, line.cells, moment, label or line.first, here)
    if here:
        _cursor(row, place, cursor or 0, line.cells is None)
    return row


def _cursor(row: Row, place: Layout, agent: int, whole: bool) -> None:
    if whole or agent not in place.agents:
        start, end = 0, place.asked_end + 1
    else:
        start = place.starts[place.agents.index(agent)] - 1
        end = start + place.column + 2
    row.shade(start, end, "cursor")
    row.put(start, row.mode.g("edge"), "fg" if row.mode.ascii else "fg b")


def _group_row(row: Row, place: Layout, group: Group, opened: bool, here: bool) -> None:
    mode = row.mode
    row.put(1, mode.g("open" if opened else "closed"), "dim")
    count = str(group.size)
    room = place.asked_end - 3 - len(count) - 1
    row.put(3, fit(group.name, room, mode.g("ellipsis")), "bright b" if here else "fg b")
    row.right(place.asked_end, count, "dim")
    for x, number in zip(place.starts, place.agents, strict=True):
        _typical(row, x, place, group.typical[number])


def _typical(row: Row, x: int, place: Layout, typical: Typical) -> None:
    mode = row.mode
    if typical.of == 0:
        return
    if typical.error is None:
        name = "running" if typical.running else "ended" if typical.ended else "planned"
        row.put(x, mode.g(name), "run" if typical.running else "faint")
        if typical.running:
            row.right(x + 2 + marks.NUMBER, str(typical.running), "dim")
        return
    row.right(x + 2 + marks.NUMBER, numbers.factor(typical.error, mode.g("times")), "fg b")
    if place.left:
        end = x + place.column - place.extra
        row.rseq(end, (numbers.share(typical.within or 0), "fg2"), ("%", "dim"))


def _cells_row(row: Row, place: Layout, cells: Cells, moment: Moment, label: bool, here: bool) -> None:
    asked = fit(cells.asked, ASKED, row.mode.g("ellipsis"))
    number, _, unit = asked.partition(" ") if asked[:1].isdigit() else (asked, "", "")
    if label or here:
        room = place.asked_end - (wide(number) + 4 * bool(unit) if asked else 0) - 1 - 3
        row.put(3, squeeze(cells.task, room, row.mode.g("ellipsis")), "fg b" if here else "fg2")
    if asked and not unit:
        row.right(place.asked_end, number, "fg" if here else "fg2")
    elif asked:
        row.rseq(place.asked_end, (number, "fg b" if here else "fg2"), (f" {unit:<3}", "dim"))
    for x, number_of in zip(place.starts, place.agents, strict=True):
        run = cells.runs[number_of]
        if run is not None:
            draw_cell(row, x, place, run, moment)


def draw_cell(row: Row, x: int, place: Layout, run: Run, moment: Moment) -> None:
    """One attempt: glyph, right-aligned number, mark; each state keeps to the same three slots."""
    mode = row.mode
    end = x + 2 + marks.NUMBER
    if run.execution in ("planned", "staged"):
        row.put(x, mode.g("planned"), "faint")
        if run.execution == "staged":
            row.right(end, "staged", "dim")
    elif run.execution == "preparing":
        row.put(x, mode.g("preparing"), "dim")
        row.right(end, str(run.extra.get("phase") or "prepare")[: marks.NUMBER], "dim")
    elif run.execution == "running":
        _running(row, x, place, run, moment)
    elif run.execution in ("unknown", "lost"):
        _unknown(row, x, place, run, moment)
    else:
        _ended(row, x, place, run)


def _running(row: Row, x: int, place: Layout, run: Run, moment: Moment) -> None:
    mode, elapsed = row.mode, moment.elapsed_s(run)
    end = x + 2 + marks.NUMBER
    ratio = elapsed / run.requested_s if elapsed is not None and run.requested_s else None
    ink = marks.live_ink(ratio) if ratio is not None else "run"
    row.put(x, mode.g("running"), ink)
    row.right(
        end, durations.clock(elapsed) if elapsed is not None else mode.g("missing"), "fg" if ink == "run" else ink
    )
    if place.left and ratio is not None and run.requested_s:
        cutoff = run.cutoff_s / run.requested_s if run.cutoff_s else None
        marks.live_mark(row, end + 1, place.left, place.right, ratio, cutoff)


def _unknown(row: Row, x: int, place: Layout, run: Run, moment: Moment) -> None:
    mode, end = row.mode, x + 2 + marks.NUMBER
    row.put(x, mode.g("unknown" if run.execution == "unknown" else "error"), "attn")
    elapsed = moment.elapsed_s(run)
    row.right(end, durations.clock(elapsed) if elapsed is not None else mode.g("missing"), "dim")
    if place.left:
        heard, room = moment.heard_s(run), place.left + 1 + place.right
        word = "lost" if run.execution == "lost" else "" if heard is None else durations.age(heard)
        row.put(end + 1, f"{word} ago" if run.execution == "unknown" and word and room > 6 else word, "dim")


def _ended(row: Row, x: int, place: Layout, run: Run) -> None:
    mode, end = row.mode, x + 2 + marks.NUMBER
    if run.ending == "refusal" or (run.counts == "no" and run.ending not in ("error", "provider_limit", "lost")):
        row.put(x, mode.g("excluded"), "dim")
        row.right(end, "refused" if run.ending == "refusal" else _number(run, mode)[0], "dim")
        return
    word = WORDS.get(run.ending or "", "")
    if word:
        row.put(x, mode.g("error"), "attn")
        shown = durations.clock(run.worked_s) if run.worked_s is not None else mode.g("missing")
        row.right(end, shown, "fg2")
        if place.left:
            row.put(end + 1, fit(word, place.left + 1 + place.right, mode.g("ellipsis")), "attn")
    else:
        row.put(x, mode.g("bound" if run.lower_bound else "ended"), "fg" if run.lower_bound else "faint")
        text, ink = _number(run, mode)
        row.right(end, text, ink)
        if place.left and run.ratio:
            marks.ended_mark(row, end + 1, place.left, place.right, run.ratio)
    if place.extra:
        _worked_and_score(row, x + place.column, run)


def _number(run: Run, mode: Mode) -> tuple[str, str]:
    told = short(run, mode.g("times"))
    if told is not None:
        return (told, "fg") if told else (mode.g("missing"), "dim")
    if run.ratio is not None:
        doubted = run.time.status in ("review", "invalid")
        return numbers.factor(run.ratio, mode.g("times")), "dim" if doubted else INK_OF_SIDE.get(run.side, "fg")
    if run.worked_s is not None:
        return durations.clock(run.worked_s), "fg"
    return mode.g("missing"), "dim"


def _worked_and_score(row: Row, end: int, run: Run) -> None:
    if run.worked_s is not None:
        row.rseq(end - 6, (durations.clock(run.worked_s), "dim"))
    if run.grade.status == "scored" and run.grade.percent is not None:
        row.right(end, f"{run.grade.percent:.1f}", "fg2")
