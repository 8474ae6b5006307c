"""A campaign read from the store alone: a review, or a look at what another agenttime is taking in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Literal, TypeVar

from agenttime_tui.budget import budget_of, purse_of, slots_of
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.report import build_report
from agenttime_tui.campaign.run import Run
from agenttime_tui.config import Settings
from agenttime_tui.dictionary import dictionary_csv, dictionary_path
from agenttime_tui.errors import UserError
from agenttime_tui.library import imported_runs, machines_of
from agenttime_tui.panels.launch import LaunchChoice, LaunchOptions, LaunchPreview
from agenttime_tui.panels.moment import Moment
from agenttime_tui.panels.state import Machine, Report, RunDetail, Snapshot, TranscriptPage
from agenttime_tui.replica import Replica
from agenttime_tui.screens.source import Verb, Wanted
from agenttime_tui.sources import pictures
from agenttime_tui.sources.transcripts import Transcripts
from agenttime_tui.spending import Spent
from agenttime_tui.toml_file import write_atomically
from store.columns import TABLES
from store.reader import Reader
from store.rows import CampaignRow

LOOK_S = 0.5
"""How often the store is asked whether another process has written."""
REVIEW = "this is a review of a store: nothing can be launched, stopped or changed from it"

T = TypeVar("T")


class Offline:
    """One campaign of a store, without machines."""

    live = False

    def __init__(self, settings: Settings, reader: Reader, row: CampaignRow, now_utc_ns: Callable[[], int]) -> None:
        self.settings = settings
        self.reader = reader
        self.row = row
        self.now_utc_ns = now_utc_ns
        self._imported = imported_runs(reader, row)
        self._transcripts = Transcripts()
        self._version = -1
        self._replica = Replica(reader, row)
        self._unseen: set[str] = set()
        self._shown: int | None = None
        """The version of the first snapshot: what comes behind it is told by `changes`."""
        self._catching_up = asyncio.Lock()
        self._reading = asyncio.Lock()
        self._purse = purse_of(settings, reader, row)
        self._slots: dict[str, int] = {}

    def moment(self) -> Moment:
        """This computer's clock and zone."""
        return Moment(self.now_utc_ns(), self.offsets_ns(), datetime.now().astimezone().tzinfo or Moment(0).zone)

    def offsets_ns(self) -> dict[str, int]:
        """Nothing is known of the machines' clocks now."""
        return {}

    async def model(self) -> Campaign:
        """The campaign as the store has it now."""
        async with self._catching_up:
            await self._catch_up()
        return self._replica.model

    async def _catch_up(self) -> None:
        version = await self.read(lambda: self.reader.data_version())
        if version != self._version:
            more = True
            while more:
                news = await self.read(self._replica.read)
                self._unseen |= self._replica.take(news)
                more = news.more
            held = {run.id: run for run in self._imported}
            found = await self.read(lambda: imported_runs(self.reader, self.row))
            self._imported = [held[run.id] if held.get(run.id) == run else run for run in found]
            self._unseen |= {run.id for run in self._imported if held.get(run.id) is not run}
            self._purse.budget_usd = await self.read(lambda: budget_of(self.reader, self.row))
            self._slots = await self.read(lambda: slots_of(self.reader, self.row))
            self._version = version

    async def runs(self) -> list[Run]:
        """Every run, imported ones last."""
        return [*(await self.model()).runs(), *self._imported]

    async def snapshot(self) -> Snapshot:
        """Everything the board draws."""
        model = await self.model()
        if self._shown is None:
            self._shown, self._unseen = self._version, set()
        runs = await self.runs()
        machines, spent = await self.machines(runs), self.spent(runs)
        return pictures.snapshot(self.row, runs, model.cells.values(), machines, self.live, spent=spent)

    def spent(self, runs: Sequence[Run]) -> Spent:
        """What the campaign has cost, as far as the store knows."""
        return self._purse.spent(runs, self._slots, self.now_utc_ns())

    async def machines(self, runs: Sequence[Run]) -> list[Machine]:
        """The machines of this campaign as the store last heard of them."""
        rows = await self.read(lambda: machines_of(self.reader, self.row))
        used = {run.machine for run in runs}
        return [pictures.machine(row, runs, "down", {}, None, None, None) for row in rows if row.name in used]

    async def changes(self) -> AsyncIterator[frozenset[str]]:
        """Ends never; yields when another process has written to the store."""
        await self.model()
        if self._shown is None:
            self._shown, self._unseen = self._version, set()
        seen = self._shown
        while True:
            await asyncio.sleep(LOOK_S)
            await self.model()
            if self._version != seen:
                seen, changed, self._unseen = self._version, frozenset(self._unseen), set()
                yield changed

    async def detail(self, run_id: str) -> RunDetail:
        """One run's card."""
        run = await self.run(run_id)
        spec = await self.read(lambda: self.reader.spec(run_id))
        size = await self.read(lambda: captured_bytes(self.reader, run_id))
        harness = await self._harness(run_id)
        facts = await self.read(lambda: self._transcripts.facts(self.reader, run_id, harness)) if spec else None
        return pictures.detail(run, self.row, spec, size, facts)

    async def run(self, run_id: str) -> Run:
        """A run by its id."""
        model = await self.model()
        if run_id in model.attempts or run_id in model.cells:
            return model.run(run_id)
        for run in self._imported:
            if run.id == run_id:
                return run
        raise UserError(f"run {run_id} is not in campaign {self.row.name}")

    async def transcript(self, run_id: str, start: int | None, limit: int) -> TranscriptPage:
        """Decoded events of one run."""
        harness = await self._harness(run_id)
        return await self.read(lambda: self._transcripts.page(self.reader, run_id, harness, start, limit))

    async def find(self, run_id: str, wanted: Wanted, start: int, step: Literal[1, -1]) -> int | None:
        """The next event that matches."""
        harness = await self._harness(run_id)
        return await self.read(
            lambda: self._transcripts.find(self.reader, run_id, harness, wanted.kinds, wanted.text, start, step)
        )

    async def report(self) -> Report:
        """The numbers of `agenttime report --json`."""
        runs = await self.runs()
        return await asyncio.to_thread(build_report, runs)

    async def launch_options(self) -> LaunchOptions:
        """Nothing can be launched from a review."""
        raise UserError(REVIEW)

    async def preview(self, choice: LaunchChoice) -> LaunchPreview:
        """Nothing can be launched from a review."""
        raise UserError(REVIEW)

    async def launch(self, choice: LaunchChoice) -> Sequence[str]:
        """Nothing can be launched from a review."""
        raise UserError(REVIEW)

    async def act(self, verb: Verb, target: str, reason: str = "") -> str:
        """Nothing can be changed from a review."""
        raise UserError(REVIEW)

    async def save_text(self, name: str, text: str) -> str:
        """Writes a file beside the store; a table with its data dictionary beside it."""
        path = self.settings.home / "saved" / name
        try:
            await asyncio.to_thread(write_atomically, path, text)
            if path.suffix == ".csv":
                columns = dictionary_csv(TABLES["runs"], text.partition("\n")[0].split(","))
                await asyncio.to_thread(write_atomically, dictionary_path(path), columns.decode())
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}") from None
        return str(path)

    async def read(self, work: Callable[[], T]) -> T:
        """Runs a read of the store off the event loop; one at a time, as they share a connection."""
        async with self._reading:
            return await asyncio.to_thread(work)

    async def _harness(self, run_id: str) -> str:
        run = await self.run(run_id)
        for agent in self.row.meta.get("agents") or ():
            if agent.get("id") == run.agent:
                return str(agent.get("harness") or "")
        return ""


def captured_bytes(reader: Reader, run_id: str) -> int | None:
    """Bytes of the transcript so far: of both streams at the end, before it as the last heartbeat had it."""
    captured = reader.records(run_id, kinds=["captured"])
    if captured:
        return sum(int(record.data.get("bytes") or 0) for record in captured)
    beat = reader.newest_heartbeat(run_id)
    return None if beat is None else beat.data.get("capture_bytes")
