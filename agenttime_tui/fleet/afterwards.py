"""What the app itself does once a run has ended: grade it, read its transcript; each is kept as a record."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import shlex
import tarfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from agenttime_tui.answering import ACTION as GRADE
from agenttime_tui.answering import captured, grade_answer
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.grading import GRADED_STUDIES
from agenttime_tui.campaign.plan import Plan
from agenttime_tui.campaign.run import Run
from agenttime_tui.config import Settings
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.client import Client
from agenttime_tui.fleet.judging import Away, judged
from agenttime_tui.fleet.sessions import kept_files
from agenttime_tui.judge import later
from agenttime_tui.observing import ACTION as OBSERVED
from agenttime_tui.observing import observed, wants_observing
from store.reader import Reader
from store.rows import OperatorRow
from store.writer import Writer
from task_packs.errors import PackError
from task_packs.task import Task

APP = "agenttime"
"""The name under which the app itself writes down what it decided."""
COPIES_AT_ONCE = 2
ANSWERS_AT_ONCE = 4
READINGS_AT_ONCE = 2
"""After an update that reads transcripts otherwise, every ended run is read again behind the screen."""
PATIENCE_S = 600.0
"""How long the end of a campaign waits for a machine that was there and has what is still to be graded."""


class Afterwards:
    """Looks at ended runs and writes down what is found, once for each run and purpose."""

    def __init__(
        self,
        settings: Settings,
        store: Writer,
        model: Campaign,
        plan: Plan,
        task: Callable[[str], Task],
        now_utc_ns: Callable[[], int],
        spawn: Callable[[Any], asyncio.Task[Any]],
        changed: Callable[[set[str]], None],
        client: Callable[[str], Client | None],
        hopeful: Callable[[str], bool],
        said: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._model = model
        self._plan = plan
        self._task = task
        """The task of an attempt."""
        self._now_utc_ns = now_utc_ns
        self._spawn = spawn
        self._changed = changed
        self._client = client
        """The conversation with a machine, None while there is none."""
        self._hopeful = hopeful
        """Whether a machine may still come without the operator."""
        self._said = said
        self._told: set[str] = set()
        self._begun: dict[tuple[str, str], asyncio.Task[Any]] = {}
        self._away: dict[str, str] = {}
        """Attempts to be graded -> the machine that has what they left and is away."""
        self._moved = asyncio.Event()
        self._copies = asyncio.Semaphore(COPIES_AT_ONCE)
        self._answers = asyncio.Semaphore(ANSWERS_AT_ONCE)
        self._readings = asyncio.Semaphore(READINGS_AT_ONCE)

    def look(self, attempt: str) -> None:
        """Begins what is left to do for an attempt, if it has ended."""
        if attempt not in self._model.attempts:
            return
        run = self._model.run(attempt)
        if run.execution != "ended":
            return
        if (attempt, GRADE) not in self._begun and (work := self._grading(run)) is not None:
            self._begun[attempt, GRADE] = self._spawn(work)
        if (attempt, OBSERVED) not in self._begun and wants_observing(run, self._harness(attempt)):
            self._begun[attempt, OBSERVED] = self._spawn(self._observe(attempt))

    def machine_moved(self, name: str) -> None:
        """A machine has come or gone: what waits for it is tried again when it is there."""
        self._moved.set()
        for attempt in [one for one, machine in self._away.items() if machine == name]:
            if self._client(name) is not None:
                del self._away[attempt]
                self.look(attempt)

    async def settled(self) -> None:
        """Waits until everything begun so far is written down, and a while for what is on a machine that is away."""
        waited: set[str] = set()
        until_s = 0.0
        while True:
            self._moved.clear()
            await asyncio.gather(*self._begun.values())
            if not any(map(self._hopeful, self._away.values())):
                break
            if waited != self._away.keys():
                waited, until_s = set(self._away), asyncio.get_running_loop().time() + PATIENCE_S
            try:
                async with asyncio.timeout_at(until_s):
                    await self._moved.wait()
            except TimeoutError:
                break
        if self._away:
            some = "a run waits" if len(self._away) == 1 else f"{len(self._away)} runs wait"
            names = ", ".join(sorted(set(self._away.values())))
            self._say(f"{some} to be graded until {names} is back; {self._later} does it")

    def _grading(self, run: Run) -> Coroutine[Any, Any, None] | None:
        """What grades a run on this side; None where nothing does, or it is graded, or not all of it is here yet."""
        over = run.extra.get("closed") and run.released_boot_ns is not None and run.capture != "streaming"
        if not over or run.extra.get("grades") or run.study not in GRADED_STUDIES:
            return None
        try:
            task = self._task(run.id)
        except PackError:
            return None  # its pack does not have it any more
        if task.by_answer:
            return self._grade(run.id, task)
        return self._judge(run.id, task) if task.judged else None

    async def _grade(self, attempt: str, task: Task) -> None:
        def graded() -> dict[str, Any]:
            with Reader(self._store.path) as reader:
                out = captured(reader.records(attempt, kinds=["transcript"]))
            return grade_answer(task, out, run=attempt)

        async with self._answers:
            data = await asyncio.to_thread(graded)
        await self._keep_grade(attempt, data)

    async def _judge(self, attempt: str, task: Task) -> None:
        machine = self._model.run(attempt).machine or ""
        try:
            async with self._copies:
                data = await judged(self._store.path, self._settings, attempt, task, self._client(machine))
        except Away as error:
            del self._begun[attempt, GRADE]
            self._away[attempt] = machine
            if self._client(machine) is not None:
                self._say(str(error))
            return
        await self._keep_grade(attempt, data)

    async def _keep_grade(self, attempt: str, data: dict[str, Any]) -> None:
        """Writes down the grade that the app makes by itself: one for each run, whoever looks and how often."""
        if self._model.run(attempt).extra.get("grades"):
            return  # a person had it graded meanwhile
        name = hashlib.sha256(f"{GRADE}:{attempt}".encode()).hexdigest()[:16]
        await self._keep(attempt, GRADE, data, name)
        if data.get("status") in ("not_graded", "refused"):
            self._say(f"not graded: {str(data['detail']).replace(later(attempt), self._later)}")

    async def _observe(self, attempt: str) -> None:
        async with self._readings:
            await self._observe_now(attempt)

    async def _observe_now(self, attempt: str) -> None:
        run = self._model.run(attempt)
        session = await session_of(self._store.path, self._settings.home, run, self._client(run.machine or ""))
        if session is None and run.extra.get("observed"):
            return  # read before, and still without its session file

        def read() -> dict[str, Any]:
            with Reader(self._store.path) as reader:
                return observed(reader, run, self._harness(attempt), session)

        await self._keep(attempt, OBSERVED, await asyncio.to_thread(read), secrets.token_hex(8))

    async def _keep(self, attempt: str, action: str, data: dict[str, Any], name: str) -> None:
        row = OperatorRow(name, self._now_utc_ns(), APP, action, attempt, data)
        if await self._store.add_operator(row):
            self._changed(self._model.decide(attempt, row))

    @property
    def _later(self) -> str:
        """What grades all that waits."""
        return f"agenttime grade {shlex.quote(self._plan.name)} --missing"

    def _say(self, sentence: str) -> None:
        """Says a sentence once: of a hundred runs without a key there is one thing to do."""
        if sentence not in self._told:
            self._told.add(sentence)
            self._said(sentence)

    def _harness(self, attempt: str) -> str:
        return self._plan.agent(self._model.cell_of(attempt).agent).harness


async def session_of(database: Path, home: Path, run: Run, client: Client | None) -> dict[str, bytes] | None:
    """The session files of a run, empty where it has none, None where they cannot be had now."""
    try:
        return await kept_files(database, home, run.id, client)
    except (UserError, OSError, tarfile.TarError):
        return None
