"""Times one look over all waiting cells: it is made at every batch of records, so it must stay far below a frame.

    python tests/bench/bench_dispatch.py

Prints absolute figures for a plan and for one four times as large, and their ratio: it must grow no faster than the
number of cells.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.machine import MachineConfig
from agenttime_tui.campaign.placement import offer_of
from agenttime_tui.campaign.plan import make_plan
from agenttime_tui.config import Settings
from agenttime_tui.fleet.dispatch import Dispatch
from agenttime_tui.fleet.orders import Orders
from agenttime_tui.opening import open_plan

ROUNDS = 5
TARGET_S, TARGET_RATIO = 0.1, 8.0


class Full:
    """A machine that answers and has no slot left: all that a look asks of one."""

    free = 0
    runs = frozenset({"somebody"})
    offer = offer_of("full", MachineConfig(host="h"), {"cpus": 4, "memory_bytes": 8 << 30, "engine": "docker"})


def look_s(repeats: int, home: Path) -> tuple[int, float]:
    """(cells, seconds of the quickest look) of a plan of duration, natural and retrospection by two agents."""
    agents = [{"id": name, "harness": "scripted"} for name in ("a", "b")]
    studies = ["duration", "natural", "retrospection"]
    tables = {"name": "bench", "studies": studies, "repeats": repeats, "agent": agents, "tasks": [{"pack": "demo"}]}
    plan = make_plan(tables)
    opening = open_plan(plan, "", (), 0)
    model = Campaign(opening.row.id, opening.cells)
    machines = cast(Any, {"full": Full()})
    orders = Orders(Settings(home=home, cache=home), cast(Any, None), model, plan, opening.packs, machines, print)
    nothing = cast(Any, None)
    dispatch = Dispatch(
        nothing, model, orders, nothing, machines, lambda: 0, nothing, nothing, nothing, lambda line: None
    )

    async def quickest() -> float:
        found = []
        for _ in range(ROUNDS):
            waiting = list(opening.cells)
            began = time.perf_counter()
            await dispatch.round(waiting)
            found.append(time.perf_counter() - began)
            if len(waiting) != len(opening.cells):
                sys.exit("a cell was begun on a machine without a free slot")
        return min(found)

    return len(opening.cells), asyncio.run(quickest())


def main() -> int:
    """Prints the figures; 1 when the target is missed."""
    with tempfile.TemporaryDirectory() as home:
        (few, few_s), (many, many_s) = (look_s(repeats, Path(home)) for repeats in (25, 100))
    ratio = many_s / few_s
    print(f"dispatch: {few:,} waiting cells {few_s * 1e3:.1f} ms, {many:,} cells {many_s * 1e3:.1f} ms, {ratio:.1f}x")
    return int(ratio > TARGET_RATIO or many_s > TARGET_S)


if __name__ == "__main__":
    sys.exit(main())
