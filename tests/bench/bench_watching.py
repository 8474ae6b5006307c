"""Times what following costs a screen over a large campaign: a change of one run, and news that are transcripts alone.

    python tests/bench/bench_watching.py

Prints absolute figures for 2,000 runs beside the board built anew, and what reading a campaign from a store costs for
it and for one four times as large. It fails where a change costs a board, or reading grows faster than the campaign.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agenttime_tui.campaign.cells import Cell
from agenttime_tui.library import load_campaign
from agenttime_tui.panels.board_model import build_board, renewed
from agenttime_tui.recording import recorded
from store.reader import Reader
from store.rows import AttemptRow, CampaignRow, CellRow
from store.writer import Writer
from tests.store.made import line, lines

RUNS = 2000
ROUNDS = 5
RECORDS = 60
TARGET_ONE, TARGET_NONE, TARGET_READ = 0.5, 0.1, 8.0


def quickest_s(work: Callable[[], object]) -> float:
    """Seconds of the quickest of some rounds."""
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def board() -> bool:
    """A board of 2,000 runs: anew, with one run changed, with none."""
    held = recorded("pilot").snapshot_now.runs
    runs = [replace(held[n % len(held)], id=f"x{n}", cell=f"x{n}", task=f"task-{n // 9}") for n in range(RUNS)]
    made = build_board(runs)
    now = [replace(run, last_boot_ns=1) if at == RUNS // 2 else run for at, run in enumerate(runs)]
    whole = quickest_s(lambda: build_board(now))
    one, none = quickest_s(lambda: renewed(made, runs, now)), quickest_s(lambda: renewed(made, runs, list(runs)))
    figures = f"anew {whole * 1e3:.1f} ms, one run changed {one * 1e3:.1f} ms, none {none * 1e3:.2f} ms"
    print(f"board of {RUNS:,} runs: {figures}")
    return one < TARGET_ONE * whole and none < TARGET_NONE * whole


async def read_s(count: int, path: Path) -> float:
    """Seconds to read a campaign of so many ended runs."""
    row = CampaignRow("bench", "bench", "hash", "", 1)
    cells = [
        Cell(f"c{n}", "duration", "a", "demo", "demo", f"t{n}", "shortest", 5000, 5000, 9000, "task", position=n)
        for n in range(count)
    ]
    journal = [
        line(1, "opened", engine="process"), line(2, "released", step="session", requested_ms=5000), *lines(3, RECORDS),
        line(RECORDS + 1, "exited", step="session", code=0), line(RECORDS + 2, "ended", at=1),
    ]  # fmt: skip
    async with await Writer.open(path) as store:
        await store.add_campaign(row, [CellRow(campaign="bench", **cell.fields()) for cell in cells])
        for number in range(count):
            await store.add_attempt(AttemptRow(f"r{number}", f"c{number}", 1, "m", "process", "first", 1))
            await store.append_records(f"r{number}", journal)
    with Reader(path) as reader:
        return quickest_s(lambda: load_campaign(reader, row).runs())


def reading() -> bool:
    """A campaign and one four times as large."""
    with tempfile.TemporaryDirectory() as home:
        few, many = (asyncio.run(read_s(count, Path(home) / f"{count}.db")) for count in (200, 800))
    print(f"reading a campaign: 200 runs {few * 1e3:.0f} ms, 800 runs {many * 1e3:.0f} ms, {many / few:.1f}x")
    return many / few < TARGET_READ


def main() -> int:
    """Prints the figures; 1 when a target is missed."""
    good = [board(), reading()]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
