"""What a watching app takes in can be searched while it watches: it holds the store, so nobody else could index it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agenttime_tui.fleet.live import Live
from agenttime_tui.library import new_campaign
from store.reader import Reader
from store.writer import Writer
from tests.sources.small import context, opening
from tests.store.made import lines


async def test_transcripts_can_be_searched_while_another_process_watches(tmp_path: Path) -> None:
    call = context(tmp_path / "home")
    opened = opening(call)
    async with await Writer.open(call.settings.database) as store:
        await store.append_records("run-1", lines(1, 1200))
        model = new_campaign(opened.row, opened.cells)
        async with Live(call.settings, store, model, opened.plan, opened.packs, {}, call.now_utc_ns):
            with Reader(call.settings.database) as reader:
                async with asyncio.timeout(20):
                    while reader.search("1200").behind:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                assert [hit.seq for hit in reader.search("1200").hits] == [1200]
