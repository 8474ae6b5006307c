"""Which cell goes where and when: to a fitting machine with a free slot, after its parent, or to a model from here."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenttime_tui.campaign.asked_here import HERE
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.placement import Offer, why_nowhere
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.errors import FleetError
from agenttime_tui.fleet.machine import Machine
from agenttime_tui.fleet.orders import Orders
from agenttime_tui.fleet.replays import Replays
from agenttime_tui.protocols.studies import on_machine
from store.rows import AttemptRow
from store.writer import Writer
from task_packs.errors import PackError

RETRY_S = 1.0


class Dispatch:
    """Begins attempts: the intent is written first, then the order made and handed on."""

    def __init__(
        self,
        store: Writer,
        model: Campaign,
        orders: Orders,
        replays: Replays,
        machines: Mapping[str, Machine],
        now_utc_ns: Callable[[], int],
        spawn: Callable[[Any], asyncio.Task[Any]],
        changed: Callable[[set[str]], None],
        refused: Callable[[str, Exception], None],
        said: Callable[[str], None],
        held: Callable[[], str] = lambda: "",
    ) -> None:
        self._store = store
        self._model = model
        self._orders = orders
        self._replays = replays
        self._machines = machines
        self._now_utc_ns = now_utc_ns
        self._spawn = spawn
        self._changed = changed
        self._refused = refused
        """Called when an attempt will not be run: (attempt, why)."""
        self._said = said
        self._held = held
        """Why nothing new is begun now; empty while cells may be."""
        self.failed: dict[str, str] = {}
        """Attempts that no machine took, and cells that will not be run, with the reason."""
        self.asking: set[str] = set()
        """Attempts that are being asked from here."""

    async def round(self, waiting: list[Cell]) -> None:
        """Begins what can begin now, and takes out of `waiting` what was begun or never will be."""
        offers = [machine.offer for machine in self._machines.values()]
        held = bool(waiting and self._held())
        for cell in list(waiting):
            parent = self._orders.parent(cell, self.failed)
            if parent is not None and parent.run is None:
                if parent.never:
                    waiting.remove(cell)
                    self._unplaced(cell, f"{_where(cell)} cannot be asked: {parent.why}")
                continue
            if on_machine(cell) and (why := self.nowhere(cell, offers)):
                waiting.remove(cell)
                self._unplaced(cell, why)
            elif held:
                continue
            elif not on_machine(cell):
                waiting.remove(cell)
                await self.begin_here(cell, self._reason(cell))
            elif (machine := self._place(cell)) is not None and not self._account_full(cell):
                waiting.remove(cell)
                await self.begin(cell, machine, self._reason(cell))
        self._give_up(waiting)

    def _reason(self, cell: Cell) -> str:
        return "not started before" if self._model.attempts_of(cell.id) else "first"

    def _give_up(self, waiting: list[Cell]) -> None:
        """Where nothing runs and all that waits, waits for a parent that nobody runs, it waits in vain."""
        if not waiting or self.asking or any(machine.runs for machine in self._machines.values()):
            return
        parents = [self._orders.parent(cell, self.failed) for cell in waiting]
        if all(parent is not None and parent.run is None for parent in parents):
            for cell in waiting:
                self._unplaced(cell, f"{_where(cell)} cannot be asked: its parent is not being run")
            waiting.clear()

    async def launch(self, cell: Cell, machine: str | None, reason: str) -> str:
        """Begins one cell now; UserError when the machine is unknown or cannot take it, or there is no parent."""
        if held := self._held():
            raise UserError(held)
        parent = self._orders.parent(cell, self.failed)
        if parent is not None and parent.run is None:
            raise UserError(f"{_where(cell)} cannot be asked: {parent.why or 'its parent has not ended yet'}")
        if not on_machine(cell):
            return await self.begin_here(cell, reason)
        if machine is not None and machine not in self._machines:
            raise UserError(f"there is no machine {machine!r}; there are {', '.join(sorted(self._machines))}", 2)
        here = sorted(self._machines.values(), key=lambda one: one.client is None)
        chosen = self._machines[machine] if machine is not None else here[0]
        await chosen.up()
        if chosen.unfit is not None:
            raise chosen.unfit
        if why := why_nowhere(self._orders.wants(cell), [chosen.offer]):
            raise UserError(f"task {cell.task} of pack {cell.pack} cannot be launched: {why}", 1)
        return await self.begin(cell, chosen, reason)

    async def begin(self, cell: Cell, machine: Machine, reason: str) -> str:
        """Writes the intent, then hands the launch on; making an image may take a while and holds the slot."""
        row = await self._written(cell, machine.name, machine.engine, reason)
        machine.runs.add(row.id)
        self._spawn(self.order(row, cell, machine))
        return row.id

    async def begin_here(self, cell: Cell, reason: str) -> str:
        """Writes the intent, then asks the model from here."""
        row = await self._written(cell, HERE, "", reason)
        self.ask(row.id, cell)
        return row.id

    def ask(self, attempt: str, cell: Cell) -> None:
        """Asks the model for an attempt that is written down."""
        self.asking.add(attempt)
        self._spawn(self._asked(attempt, cell))

    async def _asked(self, attempt: str, cell: Cell) -> None:
        try:
            await self._replays.ask(attempt, cell)
        finally:
            self.asking.discard(attempt)
            self._changed({attempt})

    async def _written(self, cell: Cell, machine: str, engine: str, reason: str) -> AttemptRow:
        ordinal = len(self._model.attempts_of(cell.id)) + 1
        row = AttemptRow(secrets.token_hex(8), cell.id, ordinal, machine, engine, reason, self._now_utc_ns())
        await self._store.add_attempt(row)
        self._changed(self._model.add_attempt(row))
        return row

    async def order(self, row: AttemptRow, cell: Cell, machine: Machine) -> None:
        """Makes the order of an attempt and hands it to its machine, again while the link is lost."""
        while True:
            try:
                order = await self._orders.made(row, cell, machine)
                break
            except (UserError, PackError) as error:
                if isinstance(error, FleetError) and not error.terminal:
                    await asyncio.sleep(RETRY_S)  # the link was lost while an image was made: again when it stands
                    continue
                machine.ended(row.id)
                self._refused(row.id, error)
                return
            except Exception as error:
                machine.ended(row.id)  # a fault of ours: told and not waited for
                self._refused(row.id, error)
                raise
        await machine.launch(order)

    def _account_full(self, cell: Cell) -> bool:
        """Whether as many runs use the cell's account as may at once."""
        agent = self._orders.agent(cell)
        account = self._orders.account(agent)
        if account is None or account.max_running is None:
            return False
        running = [attempt for machine in self._machines.values() for attempt in machine.runs]
        using = [one for one in running if self._orders.agent(self._model.cell_of(one)).account == agent.account]
        return len(using) >= account.max_running

    def _place(self, cell: Cell) -> Machine | None:
        """The machine with the most free slots that can take the cell."""
        free = [machine for machine in self._machines.values() if machine.free > 0]
        fitting = [machine for machine in free if not why_nowhere(self._orders.wants(cell), [machine.offer])]
        return max(fitting, key=lambda machine: machine.free, default=None)

    def nowhere(self, cell: Cell, offers: Sequence[Offer]) -> str:
        """Why none of these machines will ever take the cell; empty while one does or is not known well enough."""
        why = why_nowhere(self._orders.wants(cell), offers)
        return f"{cell.benchmark}/{cell.task} fits no machine: {why}" if why else ""

    def _unplaced(self, cell: Cell, sentence: str) -> None:
        """A cell that will not be run: told, counted among the launches that failed, and the others go on."""
        if sentence not in self.failed.values():
            self._said(sentence)
        self.failed[cell.id] = sentence


def _where(cell: Cell) -> str:
    return " ".join(part for part in (cell.study, cell.variant, f"{cell.benchmark}/{cell.task}", cell.agent) if part)
