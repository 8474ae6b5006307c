"""After an update every ended run is read again: a few at a time, so that the screen comes first."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import MagicMock, patch

from agenttime_tui.fleet.afterwards import READINGS_AT_ONCE, Afterwards


async def test_transcripts_are_read_a_few_at_a_time_however_many_runs_there_are() -> None:
    tasks: list[asyncio.Task[Any]] = []
    reading: set[str] = set()
    most: list[int] = []

    def spawn(work: Any) -> asyncio.Task[Any]:
        tasks.append(asyncio.ensure_future(work))
        return tasks[-1]

    async def observe(_: Afterwards, attempt: str) -> None:
        reading.add(attempt)
        most.append(len(reading))
        await asyncio.sleep(0)
        reading.discard(attempt)

    model = MagicMock()
    model.attempts = [f"run-{n}" for n in range(50)]
    model.run.return_value = MagicMock(execution="ended", extra={"grades": [1]})
    with (
        patch("agenttime_tui.fleet.afterwards.wants_observing", return_value=True),
        patch.object(Afterwards, "_observe_now", observe),
    ):
        other = MagicMock()
        after = Afterwards(other, other, model, other, other, other, spawn, other, other, other, other)
        for attempt in model.attempts:
            after.look(attempt)
        await asyncio.gather(*tasks)
    assert len(most) == 50
    assert max(most) == READINGS_AT_ONCE
