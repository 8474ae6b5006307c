"""The board as data: groups, lines and cells made of runs, which lines are visible, and what a filter leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agenttime_tui.campaign.report_answers import ARMS
from agenttime_tui.campaign.run import Run
from agenttime_tui.look.durations import asked_text
from agenttime_tui.look.sanitise import clean
from agenttime_tui.metrics import timing
from agenttime_tui.metrics.retrospection import CONDITIONS
from agenttime_tui.panels.answered import variant
from agenttime_tui.panels.names import AgentName, agent_names, benchmark_name, task_name

OPEN_ALL_BELOW = 60
"""A campaign with fewer cell lines than this starts with every group open."""

VARIANTS = ("paper", "p1", "p2", "p3", *ARMS, *CONDITIONS)
SHORT = {"context-only": "context"}
"""What is too long for its column."""

Table = dict[tuple[str, float, str, int], list[Run | None]]
"""(task, seconds asked for, which question, repeat) -> an attempt of each agent."""

ACTIVE = frozenset({"staged", "preparing", "running", "unknown"})


@dataclass(frozen=True, slots=True)
class Cells:
    """One line of the board: one task at one request, an attempt of each agent or None."""

    task: str
    asked: str
    """`5 min`; which of its questions a study asked, `paper`, `oracle`; or empty."""
    runs: tuple[Run | None, ...]
    repeat: int = 0
    """Tells lines apart that ask the same of the same task."""


@dataclass(frozen=True, slots=True)
class Typical:
    """What a group says of one agent."""

    error: float | None
    within: float | None
    running: int
    ended: int
    of: int


@dataclass(frozen=True, slots=True)
class Group:
    """One benchmark of one study."""

    key: str
    name: str
    size: int
    lines: tuple[Cells, ...]
    typical: tuple[Typical, ...]

    @property
    def active(self) -> bool:
        """True where something is on its way."""
        return any(run is not None and run.execution in ACTIVE for line in self.lines for run in line.runs)


@dataclass(frozen=True, slots=True)
class Line:
    """One visible line: a group's head, a line of cells, or a blank."""

    group: Group | None = None
    cells: Cells | None = None
    first: bool = False
    """The first line of its task, which carries the label."""


@dataclass(frozen=True, slots=True)
class Board:
    """Agents in order and the groups of the campaign."""

    agents: tuple[AgentName, ...]
    groups: tuple[Group, ...]

    def opened_first(self) -> frozenset[str]:
        """Groups that start open: all of a small campaign, else the active ones, else the first."""
        if sum(len(group.lines) for group in self.groups) <= OPEN_ALL_BELOW:
            return frozenset(group.key for group in self.groups)
        active = frozenset(group.key for group in self.groups if group.active)
        return active or frozenset(group.key for group in self.groups[:1])

    def lines(self, opened: frozenset[str], airy: bool = True) -> list[Line]:
        """Visible lines; a blank before an open group and after one, none between folded ones."""
        out: list[Line] = []
        after_open = False
        for number, group in enumerate(self.groups):
            is_open = group.key in opened
            if (number and (is_open or after_open)) or (not number and airy):
                out.append(Line())
            out.append(Line(group=group))
            task = None
            for cells in group.lines if is_open else ():
                out.append(Line(group, cells, first=cells.task != task))
                task = cells.task
            after_open = is_open
        return out


def build_board(
    runs: Iterable[Run], settings: Mapping[str, str] | None = None, unit_of: Mapping[str, str] | None = None
) -> Board:
    """The board of a campaign; of several attempts at one cell the newest is shown."""
    newest = latest(runs)
    agents = tuple(agent_names((run.agent for run in newest), settings).values())
    column = {name.id: number for number, name in enumerate(agents)}
    studies = {run.study for run in newest}
    tables: dict[tuple[str, str], Table] = {}
    repeats: dict[tuple[str, ...], int] = {}
    for run in newest:
        which = variant(run)
        place = (run.study, run.benchmark, run.task, run.request or "", str(run.requested_s), which, run.agent)
        repeat = repeats[place] = repeats.get(place, -1) + 1
        table = tables.setdefault((run.study, run.benchmark), {})
        line = table.setdefault((run.task, run.requested_s or 0.0, which, repeat), [None] * len(agents))
        line[column[run.agent]] = run
    groups = []
    for (study, benchmark), table in tables.items():
        name = benchmark_name(benchmark) + (f", {clean(study)}" if len(studies) > 1 else "")
        groups.append(_group(f"{study}/{benchmark}", name, table, unit_of or {}))
    return Board(agents, tuple(groups))


def renewed(board: Board, before: Sequence[Run], now: Sequence[Run]) -> Board | None:
    """The board of `before` with the runs that are other ones `now`; None where it has to be built anew."""
    if len(before) != len(now):
        return None
    changed = {}
    for old, new in zip(before, now, strict=True):
        if old is not new:
            if _where(old) != _where(new):
                return None
            changed[new.id] = new
    if not changed:
        return board
    return Board(board.agents, tuple(_renewed_group(group, changed) for group in board.groups))


def _where(run: Run) -> tuple[object, ...]:
    """What decides in which line and column a run stands."""
    asked = run.study, run.benchmark, run.task, run.request, run.requested_s, variant(run)
    return run.id, run.cell, run.attempt, run.agent, *asked, task_name(run)


def _renewed_group(group: Group, changed: Mapping[str, Run]) -> Group:
    lines = []
    for line in group.lines:
        if any(run is not None and run.id in changed for run in line.runs):
            runs = tuple(None if run is None else changed.get(run.id, run) for run in line.runs)
            line = Cells(line.task, line.asked, runs, line.repeat)
        lines.append(line)
    if all(one is other for one, other in zip(lines, group.lines, strict=True)):
        return group
    columns = zip(*(line.runs for line in lines), strict=True)
    typical = tuple(_typical([run for run in column if run is not None]) for column in columns)
    return Group(group.key, group.name, group.size, tuple(lines), typical)


def _place(which: str) -> int:
    """Questions in the order in which the studies are read."""
    return VARIANTS.index(which) if which in VARIANTS else len(VARIANTS)


def latest(runs: Iterable[Run]) -> list[Run]:
    """The newest attempt of each cell, in the order in which cells first appear."""
    newest: dict[str, Run] = {}
    for run in runs:
        key = run.cell or run.id
        held = newest.get(key)
        if held is None or run.attempt >= held.attempt:
            newest[key] = run
    return list(newest.values())


def _group(key: str, name: str, table: Table, unit_of: Mapping[str, str]) -> Group:
    order = {task: number for number, task in enumerate(dict.fromkeys(task for task, *_ in table))}
    lines = []
    for at in sorted(table, key=lambda at: (order[at[0]], at[1], _place(at[2]), at[2], at[3])):
        task, requested_s, which, repeat = at
        runs = tuple(table[at])
        unit = next((unit_of[run.cell] for run in runs if run is not None and run.cell in unit_of), None)
        lines.append(
            Cells(
                next((task_name(run) for run in runs if run is not None), clean(task)),
                asked_text(requested_s, unit) if requested_s else SHORT.get(which, which),
                runs,
                repeat,
            )
        )
    columns = zip(*(line.runs for line in lines), strict=True)
    typical = tuple(_typical([run for run in column if run is not None]) for column in columns)
    return Group(key, name, sum(item.of for item in typical), tuple(lines), typical)


def _typical(runs: Sequence[Run]) -> Typical:
    timed = [run for run in runs if run.counts != "no" and run.execution == "ended" and (run.ratio or 0) > 0]
    running = sum(run.execution == "running" for run in runs)
    ended = sum(run.execution == "ended" for run in runs)
    if not timed:
        return Typical(None, None, running, ended, len(runs))
    logs = np.log(np.array([run.ratio for run in timed], dtype=np.float64))
    within = sum(run.side == "on_time" for run in timed) / len(timed)
    return Typical(timing.timing_error_pooled(logs), within, running, ended, len(runs))


def matching(board: Board, text: str) -> Board:
    """The board with only the lines that every word of `text` is found in: benchmark, task, agent, request, state."""
    words = text.lower().split()
    if not words:
        return board
    groups = []
    for group in board.groups:
        lines = tuple(line for line in group.lines if _matches(group, line, words))
        if lines:
            groups.append(Group(group.key, group.name, group.size, lines, group.typical))
    return Board(board.agents, tuple(groups))


def _matches(group: Group, line: Cells, words: Sequence[str]) -> bool:
    held = [group.name.lower(), group.key.lower(), line.task.lower(), line.asked.lower()]
    for run in line.runs:
        if run is not None:
            held += [run.execution, run.ending or "", run.agent.lower(), run.request or "", (run.machine or "").lower()]
    return all(any(word in text for text in held) for word in words)
