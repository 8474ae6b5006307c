"""Intake: what comes at once is committed in pieces, whole and in order, and nothing waits for all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agenttime_tui.fleet.intake import PIECE_BYTES, Intake
from store.reader import Reader
from store.rows import RecordRow
from store.writer import Writer
from tests.store.made import CAMPAIGN, CELLS, attempt, lines


async def test_a_backlog_is_committed_in_pieces_between_which_others_have_their_turn(tmp_path: Path) -> None:
    seqs: list[list[int]] = []
    turns: list[int] = []

    def committed(_: str, rows: Sequence[RecordRow]) -> None:
        seqs.append([row.seq for row in rows])

    async def look() -> None:
        while True:
            await asyncio.sleep(0)
            turns.append(len(seqs))

    async with await Writer.open(tmp_path / "agenttime.db") as store:
        await store.add_campaign(CAMPAIGN, CELLS)
        await store.add_attempt(attempt())
        intake = Intake(store, committed, lambda name, why: None)
        frames = [b"".join(lines(first, first + 99)) for first in range(1, 3000, 100)]
        for frame in frames:
            intake.take(attempt().id, frame)
        tasks = [asyncio.create_task(one) for one in (intake.run(), look())]
        await intake.settled()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert [seq for some in seqs for seq in some] == list(range(1, 3001))
    assert len(seqs) >= sum(map(len, frames)) // PIECE_BYTES
    assert set(range(1, len(seqs))) <= set(turns)
    with Reader(tmp_path / "agenttime.db") as reader:
        assert len(reader.lines(attempt().id)) == 3000
