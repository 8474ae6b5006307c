from __future__ import annotations

import time
from dataclasses import replace
from unittest.mock import patch

import pytest

from agenttime_tui.app import AgentTimeApp
from agenttime_tui.look.rows import faults
from agenttime_tui.panels.board import draw_line
from agenttime_tui.panels.board_grid import BoardGrid
from agenttime_tui.scenes import rows_of, settled
from agenttime_tui.screens.messages import Go
from tests.pilot.playing import LIVE, Played, text_of, until


def many(source: Played, cells: int) -> None:
    """The recording blown up to this many cells."""
    runs = source.snapshot_now.runs
    made = [
        replace(runs[n % len(runs)], id=f"x{n}", cell=f"x{n}", task=f"{runs[n % len(runs)].task}-{n // len(runs)}")
        for n in range(cells)
    ]
    source.snapshot_now = replace(source.snapshot_now, runs=tuple(made))


@pytest.mark.parametrize("cells", [666, 2000])
async def test_only_visible_rows_are_built_however_many_cells_there_are(cells: int) -> None:
    source = Played()
    many(source, cells)
    app = AgentTimeApp(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        grid = app.screen.query_one(BoardGrid)
        if not all(grid.is_open(line) for line in grid.lines if line.group):
            await pilot.press("z")
        await settled(app, pilot)
        assert len(grid.lines) > cells // 3
        with patch("agenttime_tui.panels.board_grid.draw_line", wraps=draw_line) as drawn:
            began = time.perf_counter()
            await pilot.press("pagedown")
            await pilot.pause()
            took = time.perf_counter() - began
        assert 0 < drawn.call_count <= 3 * grid.size.height
        assert took < 1.0
        await pilot.press("end")
        await settled(app, pilot)
        assert grid.cursor == len(grid.lines) - 1
        assert faults(rows_of(app)) == []


async def test_a_refresh_keeps_the_cursor_on_its_cell_and_the_fold() -> None:
    source = Played()
    app = AgentTimeApp(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        grid = app.screen.query_one(BoardGrid)
        grid.show_run(LIVE)
        await pilot.press("down", "right")
        run = grid.current()
        assert run is not None
        source.change(LIVE, last_boot_ns=10**15 + 250 * 10**9, last_utc_ns=source.moment().utc_ns)
        await until(app, pilot, lambda: "4:10" in text_of(app))
        held = grid.current()
        assert held is not None
        assert held.id == run.id


async def test_folding_and_unfolding() -> None:
    app = AgentTimeApp(Played())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        grid = app.screen.query_one(BoardGrid)
        before = len(grid.lines)
        await pilot.press("home", "space")
        assert len(grid.lines) < before
        await pilot.press("space")
        assert len(grid.lines) == before
        await pilot.press("z", "z")
        assert all(line.cells is None for line in grid.lines)


async def test_the_filter_keeps_only_matching_lines_and_esc_clears_it() -> None:
    app = AgentTimeApp(Played())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        grid = app.screen.query_one(BoardGrid)
        await pilot.press("slash", *"cad-model", "enter")
        await settled(app, pilot)
        assert {line.cells.task for line in grid.lines if line.cells} == {"cad-model"}
        await pilot.press("escape")
        assert len({line.cells.task for line in grid.lines if line.cells}) > 1


async def test_e_goes_to_the_error_and_n_to_what_needs_the_operator() -> None:
    app = AgentTimeApp(Played())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        grid = app.screen.query_one(BoardGrid)
        await pilot.press("e")
        run = grid.current()
        assert run is not None
        assert run.ending == "error"
        await pilot.press("n")
        await settled(app, pilot)
        assert "hel1-c" in text_of(app)
        assert app.screen.HEADING == "Machines"  # type: ignore[attr-defined]


async def test_on_a_narrow_screen_agents_are_paged() -> None:
    app = AgentTimeApp(Played())
    async with app.run_test(size=(40, 16)) as pilot:
        await settled(app, pilot)
        grid = app.screen.query_one(BoardGrid)
        first = grid.place.agents
        await pilot.press("right_square_bracket")
        assert grid.place.agents != first
        await settled(app, pilot)
        assert faults(rows_of(app)) == []


async def test_unknown_is_never_drawn_as_ended_and_its_clock_stands_still() -> None:
    source = Played()
    source.change(LIVE, execution="unknown")
    app = AgentTimeApp(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        grid = app.screen.query_one(BoardGrid)
        grid.show_run(LIVE)
        await settled(app, pilot)
        source.later(3600)
        grid.refresh()
        await settled(app, pilot)
        row = grid.row(grid.cursor).text
        assert "? " in row
        assert "3:12" in row
        assert "1h ago" in row


async def test_a_run_that_ended_is_announced_and_g_opens_it() -> None:
    source = Played()
    app = AgentTimeApp(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        source.change(
            LIVE,
            execution="ended",
            ending="own",
            worked_s=312.0,
            ended_utc_ns=source.moment().utc_ns,
            last_boot_ns=None,
        )
        await until(app, pilot, lambda: "ended" in text_of(app) and "Within 5%" in text_of(app))
        await app.action_go()
        await settled(app, pilot)
        assert "Within 5%" in text_of(app)
        assert "5 min 12 s" in text_of(app)


async def test_every_size_down_to_very_small_is_drawn_without_a_fault() -> None:
    app = AgentTimeApp(Played())
    async with app.run_test(size=(120, 36)) as pilot:
        for size in ((30, 10), (50, 12), (82, 24), (109, 30), (110, 30), (160, 50)):
            await pilot.resize_terminal(*size)
            await settled(app, pilot)
            assert faults(rows_of(app)) == [], size


async def test_only_the_screen_in_view_is_told_and_the_board_beneath_catches_up_when_it_is_seen_again() -> None:
    source = Played()
    app = AgentTimeApp(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        board = app.frames()[0]
        grid = app.screen.query_one(BoardGrid)
        app.post_message(Go("run", LIVE))
        await until(app, pilot, lambda: len(app.frames()) == 2)
        held = grid.board
        source.change(LIVE, last_boot_ns=10**15 + 250 * 10**9, last_utc_ns=source.moment().utc_ns)
        await until(app, pilot, lambda: app.desk.board is not held)
        missed = board.behind
        assert grid.board is held
        await pilot.press("escape")
        await until(app, pilot, lambda: grid.board is app.desk.board)
        assert (missed, board.behind) == (True, False)
        assert "4:10" in text_of(app)
