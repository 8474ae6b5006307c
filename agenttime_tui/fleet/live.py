"""A campaign with its machines: intake running, cells launched where a slot is free, stops sent."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

from agenttime_tui.campaign.asked_here import HERE
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.machine import LOCAL, MachineConfig
from agenttime_tui.campaign.plan import Plan
from agenttime_tui.config import Settings
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.accounts import secrets_again
from agenttime_tui.fleet.afterwards import APP, Afterwards
from agenttime_tui.fleet.dispatch import Dispatch
from agenttime_tui.fleet.errors import FleetError
from agenttime_tui.fleet.hostkeys import HostKeys
from agenttime_tui.fleet.intake import Intake
from agenttime_tui.fleet.ledger import Ledger
from agenttime_tui.fleet.link import Link
from agenttime_tui.fleet.loopback import loopback_server
from agenttime_tui.fleet.machine import Machine
from agenttime_tui.fleet.orders import Orders
from agenttime_tui.fleet.replays import Replays
from agenttime_tui.fleet.visit import endpoint_of
from agenttime_tui.library import apply_stored
from agenttime_tui.protocols.parents import Choice
from agenttime_tui.spending import Spent
from store.errors import StoreError
from store.reader import Reader
from store.rows import MachineRow, OperatorRow, RecordRow
from store.writer import Writer
from task_packs.load import Pack

BULK = ("transcript", "heartbeat")
"""Kinds of records that never let a waiting cell begin."""
INBOX_S = 1.0
INDEX_STEP, INDEX_S, INDEX_REST_S = 500, 0.2, 5.0
"""Records taken into the search at a time, and the rests: while there are more, and once there are none."""

ASKED_AT_MOST = 3
"""A record that comes damaged every time is damaged on the machine."""


__all__ = ["APP", "Live"]


class Live:
    """The one place where a campaign and its machines meet. Everything shown was committed first."""

    def __init__(
        self,
        settings: Settings,
        store: Writer,
        model: Campaign,
        plan: Plan,
        packs: Mapping[str, Pack],
        machines: Mapping[str, MachineConfig],
        now_utc_ns: Callable[[], int],
        changed: Callable[[set[str]], None] = lambda keys: None,
        said: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._settings = settings
        self._store = store
        self.model = model
        self.plan = plan
        self._configs = machines
        self._now_utc_ns = now_utc_ns
        self._changed = changed
        self._said = said
        """Plain sentences for the operator: refusals, losses, images being made."""
        self.machines: dict[str, Machine] = {}
        self._seqs: dict[str, int] = {}
        self._holed: dict[str, list[int]] = {}
        """Attempts with a hole in the store -> the holes that were asked for."""
        self._fault: UserError | None = None
        """A background task of ours that fell over: what it did is not being done any more."""
        self._patient = False
        self._told: dict[str, str] = {}
        """Machine -> the last reason told why it is away."""
        self._orders = Orders(settings, store, model, plan, packs, self.machines, said)
        self._replays = Replays(store, model, plan, self._orders, now_utc_ns, self._kept)
        self._ledger = Ledger(settings, store.path, model, plan, self.machines, now_utc_ns)
        self._dispatch = Dispatch(
            store, model, self._orders, self._replays, self.machines, now_utc_ns, self._spawn, self._kept,
            self._refused, said, self._ledger.held,
        )  # fmt: skip
        self._afterwards = Afterwards(
            settings, store, model, plan,
            lambda attempt: self._orders.task(model.cell_of(attempt)),
            now_utc_ns, self._spawn, self._kept,
            lambda name: self.machines[name].client if name in self.machines else None,
            lambda name: name in self.machines and self._hopeful(self.machines[name], False, False),
            said,
        )  # fmt: skip
        self._intake = Intake(store, self._committed, self._again)
        self._stack = AsyncExitStack()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._moved = asyncio.Event()

    async def __aenter__(self) -> Self:
        hosts = HostKeys(self._settings.known_hosts)
        for name, config in self._configs.items():
            local = name == LOCAL
            endpoint = await self._stack.enter_async_context(loopback_server()) if local else endpoint_of(name, config)
            link = Link(name, endpoint, hosts, changed=self._link_changed)
            self.machines[name] = Machine(
                name,
                config,
                link,
                self._intake.take,
                self._since,
                self._machine_changed,
                self._refused,
                self._absent,
                self._now_utc_ns,
            )
        self._spawn(self._intake.run())
        self._spawn(self._hear_others())
        self._spawn(self._index())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for machine in self.machines.values():
            await machine.link.close()
        await self._stack.aclose()
        await self._take_in_others()

    @property
    def failed(self) -> dict[str, str]:
        """Attempts that no machine took, and cells that will not be run, with the reason."""
        return self._dispatch.failed

    def parent(self, cell: Cell) -> Choice | None:
        """The finished run that a cell asks about, or why there is none yet; None for a cell that needs none."""
        return self._orders.parent(cell, self.failed)

    def spent(self) -> Spent:
        """What the campaign has cost so far."""
        return self._ledger.spent()

    def watch(self, attempts: Mapping[str, str], seqs: Mapping[str, int]) -> None:
        """Goes on with attempts that are not known to have ended ({attempt: machine}) and connects the machines."""
        self._seqs.update(seqs)
        with Reader(self._store.path) as reader:
            for attempt, name in attempts.items():
                if name in self.machines:
                    self.machines[name].go_on(attempt, secrets_again(self.plan, reader.spec(attempt)))
        for machine in self.machines.values():
            self._spawn(machine.keep())
        for run in self.model.runs():
            self._afterwards.look(run.id)

    async def run(self, cells: Sequence[Cell], patient: bool = True) -> None:
        """Launches every cell as slots come free, and waits until everything has ended.

        UserError when no machine can be had any more, or, unless `patient`, could be had at the first try; what runs
        goes on. Once the budget is reached nothing new is begun: this waits until it is raised or, unless `patient`,
        ends when nothing runs any more.
        """
        self._patient = patient
        for run in self.model.runs():
            if run.machine == HERE and run.execution == "planned" and run.id not in self._dispatch.asking:
                self._dispatch.ask(run.id, self.model.cell_of(run.id))
        waiting = list(cells)
        while waiting or self._at_work():
            self._moved.clear()
            if self._fault is not None:
                raise self._fault
            if not any(self._hopeful(machine, bool(waiting), patient) for machine in self.machines.values()):
                raise UserError(self._why_none())
            await self._dispatch.round(waiting)
            if waiting and self._ledger.held():
                if not patient and not self._at_work():
                    if await self._still_held():
                        return
                    continue
                if news := self._ledger.news(len(waiting)):
                    self._said(news)
            if waiting or self._dispatch.asking or any(machine.runs for machine in self.machines.values()):
                await self._moved.wait()
        await self._intake.settled()
        await self._afterwards.settled()

    def _at_work(self) -> bool:
        """Whether anything runs, or is being asked, that may still end without the operator."""
        return bool(self._dispatch.asking) or any(one.runs and not one.lost for one in self.machines.values())

    async def _still_held(self) -> bool:
        """Whether the budget is reached when all that ended has been read: what it cost may be known better then."""
        await self._intake.settled()
        await self._afterwards.settled()
        return bool(self._ledger.held())

    async def answered(self, cells: Sequence[Cell]) -> None:
        """Waits until a machine has answered that can take one of the cells; UserError when none will."""
        while True:
            self._moved.clear()
            ready = [one.offer for one in self.machines.values() if one.client is not None and one.unfit is None]
            reasons = [self._dispatch.nowhere(cell, ready) for cell in cells] if ready else []
            if ready and not all(reasons):
                return
            if not any(self._hopeful(one, True, False) and one.client is None for one in self.machines.values()):
                raise UserError(f"the cell was not launched: {next(filter(None, reasons), None) or self._why_none()}")
            await self._moved.wait()

    async def launch(self, cell: Cell, machine: str | None = None, reason: str = "first") -> str:
        """Launches one cell now; the attempt's id. UserError when the machine is unknown or cannot take it."""
        return await self._dispatch.launch(cell, machine, reason)

    async def released(self, attempt: str) -> None:
        """Waits until the run was released, has ended, or was refused."""
        while attempt not in self.failed and self.model.run(attempt).execution in ("planned", "staged", "preparing"):
            self._moved.clear()
            await self._moved.wait()

    async def stop(self, attempt: str, machine: str, reason: str) -> bool:
        """Stops one run; the intent is written first. True when it had ended already."""
        action = secrets.token_hex(8)
        by = self._settings.operator_name
        await self._store.add_operator(
            OperatorRow(action, self._now_utc_ns(), by, "stop", attempt, {"reason": reason, "machine": machine})
        )
        return await self.machines[machine].stop(attempt, action, by, reason)

    def look_again(self, machine: str) -> None:
        """The operator has changed a machine (drained it, say) or looked at it anew: what waits may begin at once."""
        self._machine_changed(self.machines[machine])

    def _hopeful(self, machine: Machine, waiting: bool, patient: bool) -> bool:
        """Whether something may still come of the machine; one that is drained, say, only with a patient operator."""
        if machine.lost or (not patient and machine.out_of_reach):
            return False
        return patient or bool(machine.runs) or not (waiting and machine.unfit)

    def _since(self, attempt: str) -> int:
        """Where to go on with an attempt; before the first hole where one was told, a few times for each hole."""
        if attempt in self._holed:
            with Reader(self._store.path) as reader:
                holes = reader.holes(attempt)
            if not holes:
                del self._holed[attempt]
            elif self._holed[attempt].count(holes[0][0]) < ASKED_AT_MOST:
                self._holed[attempt].append(holes[0][0])
                return holes[0][0] - 1
        return self._seqs.get(attempt, 0)

    def _committed(self, attempt: str, rows: Sequence[RecordRow]) -> None:
        self._seqs[attempt] = max(self._seqs.get(attempt, 0), *(row.seq for row in rows))
        apply_stored(self._store.path, self.model, attempt, rows)
        if any(row.kind == "held" for row in rows):
            self._said(f"run {attempt[:8]} holds its slot until graded: agenttime grade {attempt[:8]} [--release]")
        if any(row.kind == "ended" for row in rows):
            for machine in self.machines.values():
                machine.ended(attempt)
        if self.model.run(attempt).extra.get("closed"):
            self._afterwards.look(attempt)
        if any(row.kind not in BULK for row in rows):
            self._moved.set()
        self._changed({attempt})

    def _kept(self, keys: set[str]) -> None:
        self._changed(keys)
        self._moved.set()

    def _again(self, attempt: str, why: str) -> None:
        self._said(f"run {attempt}: {why}; asking again")
        self._holed.setdefault(attempt, [])
        machine = self.machines.get(self.model.run(attempt).machine or "")
        if machine is not None:  # also where its end came beside what is missing, and it holds no slot any more
            self._spawn(machine.subscribe(attempt))

    def _refused(self, attempt: str, error: Exception) -> None:
        """The machine (or the app before it) will not run this attempt: written down, shown, slot free."""
        if attempt in self.failed:
            return
        self.failed[attempt] = str(error)
        row = OperatorRow(
            secrets.token_hex(8), self._now_utc_ns(), APP, "abandon", attempt, {"reason": f"not launched: {error}"}
        )
        self._spawn(self._store.add_operator(row))
        self._changed(self.model.decide(attempt, row))
        self._moved.set()

    def _absent(self, attempt: str, error: FleetError) -> None:
        """A machine does not have an attempt: one that never got there goes there now, the same one."""
        machine = self.machines[self.model.run(attempt).machine or ""]
        if self._seqs.get(attempt):
            self._said(f"{error}, though it was there: its records up to {self._seqs[attempt]} are kept here")
            machine.ended(attempt)
            self._moved.set()
            return
        with Reader(self._store.path) as reader:
            (row,) = (one for one in reader.attempts(self.model.id) if one.id == attempt)
        self._spawn(self._dispatch.order(row, self.model.cells[row.cell], machine))

    async def _index(self) -> None:
        """Takes transcripts into the search behind the writing: this process holds the store, nobody else can."""
        while True:
            try:
                taken = await self._store.index_some(INDEX_STEP)
            except StoreError:
                taken = 0  # the disk is full: later
            await asyncio.sleep(INDEX_S if taken == INDEX_STEP else INDEX_REST_S)

    async def _hear_others(self) -> None:
        """Takes in what other processes of the operator wrote down (a stop, a note) while this one has the store."""
        while True:
            await asyncio.sleep(INBOX_S)
            await self._take_in_others()

    async def _take_in_others(self) -> None:
        try:
            found = await self._store.drain_inbox()
        except StoreError:
            return  # the disk is full: they stay where they are
        for row in found:
            if self._ledger.take(row):
                self._kept(set())
            if row.target in self.model.attempts:
                self._changed(self.model.decide(row.target, row))
                self._moved.set()

    def _link_changed(self, link: Link) -> None:
        """Says once why a machine cannot be reached, until it could be."""
        error = link.standing.error
        if error is None or link.standing.state == "live":
            self._told.pop(link.name, None)
        elif link.standing.state == "down" and self._told.get(link.name) != str(error):
            self._told[link.name] = str(error)
            if self._patient or self.machines[link.name].facts:
                self._said(str(error))
        if link.name in self.machines:
            self.machines[link.name].look()
            self._afterwards.machine_moved(link.name)
        self._moved.set()

    def _machine_changed(self, machine: Machine) -> None:
        state = machine.link.standing.state
        keys = self.model.contact(machine.name, state)
        self._afterwards.machine_moved(machine.name)
        if machine.facts:
            facts = {"state": state, "engine": machine.engine, "slots": machine.slots, **machine.facts}
            self._spawn(self._store.put_machine(MachineRow(machine.name, facts, self._now_utc_ns())))
        self._moved.set()
        self._changed(keys)

    def _why_none(self) -> str:
        reasons = (one.error or one.out_of_reach or one.unfit for one in self.machines.values())
        return "; ".join(str(reason) for reason in reasons if reason) or "no machine is left to run on"

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._reaped)
        return task

    def _reaped(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            if isinstance(error, StoreError):
                self._said(str(error))
            else:
                self._fault = UserError(f"internal fault: {error!r}; runs go on, the same plan again takes them in")
                self._said(str(self._fault))
            self._moved.set()
