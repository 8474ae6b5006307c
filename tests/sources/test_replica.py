"""The model beside a store that another process writes: after every step the one that would be read whole."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import patch

from agenttime_tui import replica
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.config import Settings
from agenttime_tui.library import load_campaign
from agenttime_tui.replica import Replica
from agenttime_tui.sources.offline import Offline
from store.reader import Reader
from store.rows import AttemptRow, CampaignRow, CellRow, ImportedRunRow, OperatorRow
from store.writer import Writer
from tests.store.made import line, lines

ROW = CampaignRow("pilot-1", "pilot", "hash-1", "", 1_000)


def cell(number: int) -> CellRow:
    """A cell of the campaign."""
    place = (f"task-{number}", "shortest", 5000, 5000, 40000, "task")
    made = Cell(f"cell-{number}", "duration", "punctual", "demo", "demo", *place, position=number)
    return CellRow(campaign=ROW.id, **made.fields())


def attempt(number: int, ordinal: int = 1) -> AttemptRow:
    """An attempt at a cell."""
    return AttemptRow(f"run-{number}-{ordinal}", f"cell-{number}", ordinal, "local", "process", "first", 2_000)


def begun(seq: int) -> list[bytes]:
    """A run up to its release."""
    return [line(seq, "opened", engine="process"), line(seq + 1, "released", step="session", requested_ms=5000)]


def ended(seq: int) -> list[bytes]:
    """Its end."""
    captured = [
        line(seq + n, "captured", stream=stream, bytes=9, intact=True) for n, stream in enumerate(("out", "err"))
    ]
    return [*captured, line(seq + 2, "exited", step="session", code=0), line(seq + 3, "ended", at=1)]


async def test_what_is_added_makes_the_model_that_would_be_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "agenttime.db"
    async with await Writer.open(path) as store:
        await store.add_campaign(ROW, [cell(n) for n in range(3)])
        await store.add_attempt(attempt(0))
        await store.append_records("run-0-1", begun(1))
        with Reader(path) as reader, patch.object(replica, "load_campaign", wraps=load_campaign) as whole:
            kept = Replica(reader, ROW)

            def caught_up() -> set[str]:
                changed = kept.take(kept.read())
                assert kept.model.runs() == load_campaign(reader, ROW).runs()
                return changed

            caught_up()
            await store.append_records("run-0-1", lines(3, 9))
            assert caught_up() == {"run-0-1"}
            await store.append_records("run-0-1", [line(10, "heartbeat", load=1), *lines(12, 14), *ended(15)])
            assert caught_up() == {"run-0-1"}
            assert kept.model.run("run-0-1").capture == "streaming"
            await store.append_records("run-0-1", [line(11)])
            assert caught_up() == {"run-0-1"}
            assert kept.model.run("run-0-1").capture == "complete"
            await store.add_operator(OperatorRow("o1", 5, "ada", "note", "run-1-1", {"text": "before it was begun"}))
            await store.append_records("run-1-1", [*begun(1), *lines(3, 5)])
            assert caught_up() == set()
            await store.add_attempt(attempt(1))
            await store.add_attempt(attempt(0, 2))
            assert caught_up() == {"cell-0", "cell-1", "run-0-1", "run-0-2", "run-1-1"}
            await store.append_records("stranger", begun(1))
            assert caught_up() == set()
            word = {"counts": "no", "reason": "wrong prompt"}
            await store.add_operator(OperatorRow("o2", 6, "ada", "count", "run-0-2", word))
            assert caught_up() == {"run-0-2"}
            assert whole.call_count == 1
            await store.add_campaign(ROW, [cell(3)])
            caught_up()
            assert len(kept.model.cells) == 4
            assert whole.call_count == 2


async def test_a_long_backlog_is_read_in_pages(tmp_path: Path) -> None:
    path = tmp_path / "agenttime.db"
    async with await Writer.open(path) as store:
        await store.add_campaign(ROW, [cell(0)])
        await store.add_attempt(attempt(0))
        with Reader(path) as reader, patch.object(replica, "PAGE", 10):
            kept = Replica(reader, ROW)
            kept.take(kept.read())
            await store.append_records("run-0-1", [*begun(1), *lines(3, 22), *ended(23)])
            more: list[bool] = []
            while not more or more[-1]:
                news = kept.read()
                kept.take(news)
                more.append(news.more)
            assert more == [True, True, False]
            assert kept.model.runs() == load_campaign(reader, ROW).runs()


async def test_what_another_process_says_is_told_also_when_it_came_before_anybody_listened(tmp_path: Path) -> None:
    path = tmp_path / "agenttime.db"
    fields = {"study": "duration", "agent": "a", "benchmark": "b", "task": "t", "request": None, "requested_s": 5.0}
    async with await Writer.open(path) as store:
        await store.add_campaign(ROW, [cell(0)])
        await store.add_attempt(attempt(0))
        await store.add_imported_runs([ImportedRunRow(f"came-{n}", ROW.id, n, fields) for n in range(2)])
        with Reader(path) as reader:
            source = Offline(Settings(home=tmp_path, cache=tmp_path), reader, ROW, lambda: 3_000)
            first = (await source.snapshot()).runs
            await store.append_records("run-0-1", begun(1))
            changes = source.changes()
            async with asyncio.timeout(60):
                assert await anext(changes) == {"run-0-1"}
                await store.add_operator(OperatorRow("o1", 5, "ada", "label", "came-1", {"label": "working"}))
                assert await anext(changes) == {"came-1"}
            now = (await source.snapshot()).runs
            assert [run.label for run in now] == [None, None, "working"]
            assert now[1] is first[1]
