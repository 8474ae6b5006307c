"""From an attempt to what a machine is handed: image, CLI, way to the model, parent's session, keys, spec."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property

from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.placement import Wants, wants_of
from agenttime_tui.campaign.plan import AccountConfig, AgentConfig, Plan
from agenttime_tui.config import Settings
from agenttime_tui.dossier import origin_of, pack_campaign
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.accounts import account_of, secrets_for
from agenttime_tui.fleet.images import Images
from agenttime_tui.fleet.machine import Machine, Order
from agenttime_tui.fleet.sessions import parent_with_session
from agenttime_tui.fleet.tools import Tools
from agenttime_tui.protocols.access import access_for, hosts_of
from agenttime_tui.protocols.outline import Parent
from agenttime_tui.protocols.parents import Choice, Parents
from agenttime_tui.protocols.staging import stage
from agenttime_tui.protocols.studies import ASKED_OF_A_RUN, delivered
from agenttime_tui.protocols.verifying import Polling
from store.reader import Reader
from store.rows import AttemptRow, CampaignRow
from store.writer import Writer
from task_packs.load import Pack
from task_packs.task import Task


class Orders:
    """Makes the order of an attempt; everything slow in it is done once per machine."""

    def __init__(
        self,
        settings: Settings,
        store: Writer,
        model: Campaign,
        plan: Plan,
        packs: Mapping[str, Pack],
        machines: Mapping[str, Machine],
        said: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._model = model
        self._plan = plan
        self._packs = packs
        self._machines = machines
        self._images = Images(settings.cache / "images", said)
        self._parents = Parents(plan, model.cells.values())
        self._wants: dict[tuple[str, str], Wants] = {}
        self._tools = Tools(settings.cache, self._images, said)

    def task(self, cell: Cell) -> Task:
        """The task of a cell. PackError when its pack does not have it any more."""
        return self._packs[cell.pack].task(cell.task)

    def wants(self, cell: Cell) -> Wants:
        """What the task of a cell asks of a machine: read once, asked at every turn."""
        key = cell.pack, cell.task
        if key not in self._wants:
            self._wants[key] = wants_of(self.task(cell))
        return self._wants[key]

    def agent(self, cell: Cell) -> AgentConfig:
        """The agent configuration of a cell."""
        return self._plan.agent(cell.agent)

    def account(self, agent: AgentConfig) -> AccountConfig | None:
        """The account of an agent, None where it names none."""
        return account_of(self._plan, agent)

    def parent(self, cell: Cell, failed: Mapping[str, str]) -> Choice | None:
        """The finished run that a cell asks about, or why there is none; None for a cell that needs none."""
        if cell.study not in ASKED_OF_A_RUN:
            return None
        return self._parents.of(cell, self._model.newest, failed)

    async def session_of(self, cell: Cell) -> Parent:
        """The parent of a cell with its session's files here. UserError when there is none or they cannot be had."""
        choice = self.parent(cell, {})
        if choice is None or choice.run is None:
            raise UserError((choice.why if choice else "") or "its parent has not ended yet")
        machine = self._machines.get(choice.run.machine or "")
        client = None if machine is None else machine.client
        about = self._model.cells[choice.run.cell]
        told = delivered(about, self.task(about))
        return await parent_with_session(self._store.path, self._settings.home, choice.run, client, told)

    async def made(self, row: AttemptRow, cell: Cell, machine: Machine) -> Order:
        """The order, its spec kept in the store. UserError, PackError or FleetError where it cannot be made."""
        task, agent = self.task(cell), self.agent(cell)
        account = account_of(self._plan, agent)
        image = grader = ""
        services: dict[str, str] = {}
        if row.engine == "docker":
            await machine.up()
            image = await self._images.ready(machine, task)
            grader = await self._images.grader(machine, task)
            services = await self._images.services(machine, task)
        tools = await self._tools.ready(machine, agent, row.engine, image)
        access = access_for(agent, account, row.engine, row.id, tools.path, tools.mounts, hosts_of(task))
        parent = await self.session_of(cell) if cell.study in ASKED_OF_A_RUN else None
        campaign, name, dossier = self._dossier
        origin = origin_of(campaign, name, row)
        if tools.hash:
            origin["cli"] = {"version": tools.version, "hash": tools.hash}
        polling = Polling(self._plan.study.eta.interval_ms, self._plan.study.eta.timeout_ms)
        shown = self._plan.study.retrospection.shows_reasoning
        staged = stage(
            row.id, cell, task, agent, row.engine, image, origin, grader, access, parent, polling, shown, services
        )  # fmt: skip
        order = Order(staged.spec, {**staged.blobs, name: dossier}, secrets_for(self._plan, agent, staged.secrets))
        await self._store.put_spec(row.id, json.dumps(staged.spec))
        return order

    @cached_property
    def _dossier(self) -> tuple[CampaignRow, str, bytes]:
        """The campaign as the store holds it, and as the blob by which a machine gives it back: (row, name, bytes)."""
        with Reader(self._store.path) as reader:
            (row,) = (one for one in reader.campaigns() if one.id == self._model.id)
            return row, *pack_campaign(row, reader.cells(row.id))
