"""What waits goes on at once: a cell when its machine is opened again, a record that was damaged beside the end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agenttime_tui.fleet import client
from agenttime_tui.fleet.intake import Intake
from agenttime_tui.sources.following import Following
from agenttime_tui.verbs.running import live_campaign
from store.reader import Reader
from tests.sources.small import context, opening
from tests.sources.test_sources import until


async def test_a_cell_begins_when_its_drained_machine_is_opened_again_and_a_lost_record_comes_after_the_end(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PING_S", 600.0)
    call = context(home)
    opened = opening(call)
    kept: list[bytes] = []
    take, said = Intake.take, list[str]()

    def damaged_once(self: Intake, attempt: str, body: bytes) -> None:
        """All that is said up to the end comes at once, one line of it torn."""
        if kept and b'"ended"' in kept[-1]:
            return take(self, attempt, body)
        kept.append(body)
        if b'"ended"' in body:
            lines = b"".join(kept).splitlines(keepends=True)
            take(self, attempt, b"".join(line.replace(b"captured", b"capturXd", 1) for line in lines))

    monkeypatch.setattr(Intake, "take", damaged_once)
    async with live_campaign(call, opened, said=said.append) as live:
        with Reader(call.settings.database) as reader:
            source = Following(call.settings, reader, opened.row, call.now_utc_ns)
            source.attach(live, opened)
            machine = live.machines["local"]
            await until(lambda: machine.client is not None)
            await source.act("drain", "local")
            cell = next(one for one in opened.cells if one.task == "mend-total" and one.agent == "punctual")
            going = asyncio.create_task(live.run([cell]))
            await until(lambda: live._patient)
            assert not live.model.attempts_of(cell.id)
            assert not going.done()
            assert "runs again" in await source.act("drain", "local")
            await until(lambda: live.model.attempts_of(cell.id))
            (attempt,) = live.model.attempts_of(cell.id)
            await until(lambda: live.model.run(attempt).capture == "complete")
            assert any("asking again" in line for line in said)
            assert reader.holes(attempt) == []
            await going
