"""The campaign: every cell, what needs the operator, the machines, what comes next and what just ended."""

from __future__ import annotations

from typing import Literal

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Row
from agenttime_tui.panels import side
from agenttime_tui.panels.board_grid import BoardGrid
from agenttime_tui.panels.chrome import campaign_header
from agenttime_tui.panels.pane import Pane
from agenttime_tui.panels.spots import task_key
from agenttime_tui.panels.toast import Toast
from agenttime_tui.screens.ask import Ask
from agenttime_tui.screens.desk import Desk
from agenttime_tui.screens.frame import NARROW, Frame
from agenttime_tui.screens.keys import BOARD, MOVES, Key, bindings
from agenttime_tui.screens.messages import Go

AIRY_FROM = 30
"""Screen rows from which the board has blank rows around its head."""


class BoardScreen(Frame):
    """Home."""

    KEYS = BOARD
    HEADING = "Campaign"
    BINDINGS = bindings((*BOARD, *MOVES))

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.grid = BoardGrid(lambda: self.mode, desk.moment, "grid")
        self.names_pane = Pane(self._names, "names")
        self.under = Pane(self._under, "under")
        self.side = Pane(self._side, "side")
        self._need = -1

    def compose(self) -> ComposeResult:
        """Header, grid with its column names and the row beneath, side pane, footer."""
        yield self.head
        yield self.foot
        with Horizontal():
            with Vertical(id="main"):
                yield self.names_pane
                yield self.grid
                yield self.under
            yield self.side
        yield self.corner

    def on_mount(self) -> None:
        """Shows what the desk already holds."""
        self.grid.load(self.desk.board)
        self.grid.focus()

    def help_tables(self) -> tuple[tuple[str, tuple[Key, ...]], ...]:
        """Keys of the board and of moving on it."""
        return (("Campaign", tuple(self.KEYS)), ("Moving", tuple(MOVES)))

    def fit(self, width: int, height: int) -> None:
        """Blank rows only where there is room; the side pane only where it does not crowd the cells."""
        self.grid.airy = height >= AIRY_FROM
        self.names_pane.styles.height = self.under.styles.height = 2 if self.grid.airy else 1
        self.side.display = width >= NARROW

    def header_rows(self, width: int, height: int) -> list[Row]:
        """Counts, time, money, progress."""
        desk = self.desk
        return campaign_header(width, self.mode, desk.snapshot.head, desk.snapshot.runs, len(desk.needs), desk.moment())

    def _names(self, width: int, height: int) -> list[Row]:
        row = self.grid.heading_row(width)
        return [row] if height == 1 else [Row(width, self.mode), row]

    def _under(self, width: int, height: int) -> list[Row]:
        if not self.side.display:
            return [side.need_line(width, self.mode, self.desk.needs, self.grid.below)]
        return [under_row(width, self.mode, self.grid)]

    def _side(self, width: int, height: int) -> list[Row]:
        desk = self.desk
        return side.side_pane(width, height, self.mode, desk.snapshot, desk.needs, desk.moment(), desk.names)

    def refreshed(self, changed: frozenset[str]) -> None:
        """A new snapshot: the grid keeps its place. Where no run is another one, the next tick shows the rest."""
        if self.grid.board is not self.desk.board:
            self.grid.load(self.desk.board)
        elif changed:
            return
        self.touch_all()

    def tick(self) -> None:
        """Running clocks and ages."""
        self.grid.tick()
        for pane in (self.head, self.side, self.under):
            pane.touch()

    def on_board_grid_moved(self) -> None:
        """Column names and the row beneath follow the grid."""
        self.names_pane.touch()
        self.under.touch()

    def action_cursor(self, columns: int, lines: int) -> None:
        """Moves the cursor."""
        self.grid.move(columns, lines)

    def action_page(self, step: int) -> None:
        """Moves by a screen."""
        self.grid.move(0, step * max(1, self.grid.size.height - 2))

    def action_edge(self, step: int) -> None:
        """Top or end."""
        self.grid.jump(step > 0)

    def action_agents(self, step: int) -> None:
        """Other agents, where not all fit."""
        self.grid.turn_agents(step)

    def action_fold(self) -> None:
        """Folds the benchmark."""
        self.grid.fold()

    def action_fold_all(self) -> None:
        """Folds or unfolds all."""
        self.grid.fold_all()

    def action_open(self) -> None:
        """Opens the run; on a benchmark its card; on a planned cell offers to launch it."""
        run = self.grid.current()
        line = self.grid.lines[self.grid.cursor] if self.grid.lines else None
        if line is not None and line.cells is None:
            self._benchmark()
        elif run is not None and run.execution == "planned" and not run.attempt:
            self.post_message(Go("launch", run.id))
        elif run is not None:
            self.post_message(Go("run", run.id))

    def _benchmark(self) -> None:
        group = self.grid.lines[self.grid.cursor].group if self.grid.lines else None
        if group is not None:
            self.post_message(Go("benchmark", group.key.partition("/")[2]))

    def action_task(self) -> None:
        """The card of the task under the cursor; on a benchmark its card."""
        line = self.grid.lines[self.grid.cursor] if self.grid.lines else None
        run = next((run for run in line.cells.runs if run is not None), None) if line and line.cells else None
        if run is not None:
            self.post_message(Go("task", task_key(run.benchmark, run.task)))
        else:
            self._benchmark()

    def action_agent(self) -> None:
        """The card of the agent of the column under the cursor."""
        agents = self.grid.board.agents
        if agents:
            self.post_message(Go("agent", agents[min(self.grid.column, len(agents) - 1)].id))

    def action_launch(self) -> None:
        """The launch dialog, beginning with the cell under the cursor."""
        run = self.grid.current()
        self.post_message(Go("launch", run.id if run else ""))

    def action_seek(self, wanted: Literal["error", "unknown"]) -> None:
        """The next cell in that state."""
        if not self.grid.seek(wanted):
            self.complain(f"no cell is in state {wanted}")

    def action_need(self, step: int) -> None:
        """Goes through what needs the operator."""
        needs = self.desk.needs
        if not needs:
            self.complain("nothing needs you")
            return
        self._need = (self._need + step) % len(needs)
        need = needs[self._need]
        if need.kind == "budget":
            self.desk.say(Toast("attn", need.title, line=need.lines[-1]))
        elif not self.grid.show_run(need.target):
            self.post_message(Go("machines", need.target))

    def action_doctor(self) -> None:
        """The machines, where the check is."""
        target = next((need.target for need in self.desk.needs if need.kind in ("machine", "disk")), "")
        self.post_message(Go("machines", target))

    def action_clear(self) -> None:
        """Takes the filter and the notice away."""
        self.show_notice(None)
        self.grid.filter("")

    @work(group="ask", exit_on_error=False)
    async def action_filter(self) -> None:
        """Asks for words."""
        words = await self.app.push_screen_wait(
            Ask(self.mode, "Filter: words of benchmark, task, request, agent or state", value=self.grid.words)
        )
        if words is not None:
            self.grid.filter(words)


def under_row(width: int, mode: Mode, grid: BoardGrid) -> Row:
    """Beneath the grid: what lies below, the filter, and what `in 5%` means."""
    row = Row(width, mode)
    x = 1
    if grid.words:
        x = row.seq(x, ("/", "dim"), (grid.words[:24], "fg"), (f"  {len(grid.lines)} lines", "dim"), ("  esc", "fg b"))
        x = row.put(x, " clear", "dim")
    elif grid.below:
        groups = grid.below_groups()
        number, word = (groups, "benchmark") if groups else (grid.below, "line")
        parts = (
            (f"{mode.g('more')} ", "dim"),
            (str(number), "fg2"),
            (f" more {word}{'' if number == 1 else 's'}", "dim"),
        )
        x = row.seq(x, *parts)
    text = "in 5%: share of ended cells within 5% of the request"
    if x + len(text) + 3 < width:
        row.right(width - 1, text, "dim")
    return row
