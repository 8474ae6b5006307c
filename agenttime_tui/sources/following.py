"""A campaign with its machines: intake runs, cells can be launched and runs stopped."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Sequence

from agenttime_tui.budget import raise_words
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.run import Run
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.accounts import account_of
from agenttime_tui.fleet.errors import FleetError
from agenttime_tui.fleet.live import Live
from agenttime_tui.harness.routes import chat_route
from agenttime_tui.opening import Opening
from agenttime_tui.panels.launch import ALL, LaunchChoice, LaunchOptions, LaunchPreview, MachineOption, TaskOption
from agenttime_tui.panels.names import agent_names
from agenttime_tui.panels.state import Machine
from agenttime_tui.prices import ceiling, read_prices, together
from agenttime_tui.protocols.access import plain
from agenttime_tui.protocols.retrospection.question import QUESTION
from agenttime_tui.protocols.staging import command_of
from agenttime_tui.protocols.studies import delivered, on_machine
from agenttime_tui.screens.source import Verb
from agenttime_tui.sources import pictures
from agenttime_tui.sources.offline import Offline
from agenttime_tui.spending import Spent
from store.rows import MachineRow


class Following(Offline):
    """The same campaign while this process takes in what its machines say."""

    live = True

    def attach(self, live: Live, opening: Opening) -> None:
        """Binds the machines; the campaign's model is the one that intake keeps."""
        self._live = live
        self._opening = opening
        self._changed: set[str] = set()
        self._news = asyncio.Event()

    def changed(self, keys: set[str]) -> None:
        """Told by intake and links after the commit."""
        self._changed |= keys
        self._news.set()

    async def model(self) -> Campaign:
        """The model that intake keeps."""
        return self._live.model

    async def changes(self) -> AsyncIterator[frozenset[str]]:
        """What changed since the last time, joined."""
        while True:
            await self._news.wait()
            self._news.clear()
            changed, self._changed = frozenset(self._changed), set()
            yield changed

    def offsets_ns(self) -> dict[str, int]:
        """Machine clock minus this computer's, from the last ping."""
        return {
            name: machine.pulse["offset_ns"]
            for name, machine in self._live.machines.items()
            if "offset_ns" in machine.pulse
        }

    async def machines(self, runs: Sequence[Run]) -> list[Machine]:
        """Every machine with its link's state now."""
        found = []
        for name, machine in self._live.machines.items():
            facts = {**machine.facts, "slots": machine.slots if machine.facts else machine.config.slots}
            facts["drained"] = machine.config.drained
            row = MachineRow(name, facts, machine.pulse.get("heard_utc_ns", 0) or self.row.created_utc_ns)
            found.append(
                pictures.machine(
                    row,
                    runs,
                    machine.link.standing.state,
                    machine.pulse,
                    machine.pulse.get("round_trip_s"),
                    machine.pulse.get("offset_ns"),
                    len(machine.runs),
                )
            )
        return found

    def spent(self, runs: Sequence[Run]) -> Spent:
        """What the campaign has cost by now, by the machines' own clocks."""
        return self._live.spent()

    # --- launching

    async def launch_options(self) -> LaunchOptions:
        """The tasks, agents and machines of the campaign."""
        cells = self._opening.cells
        tasks: dict[tuple[str, str], TaskOption] = {}
        for cell in cells:
            task = self._opening.packs[cell.pack].task(cell.task)
            units = pictures.units([cell])
            requests = tuple(
                (one.request or "", (one.requested_ms or 0) / 1000, units.get(cell.id, "s"))
                for one in sorted(
                    {
                        (c.request, c.requested_ms): c for c in cells if (c.pack, c.task) == (cell.pack, cell.task)
                    }.values(),
                    key=lambda c: c.requested_ms or 0,
                )
                if one.requested_ms is not None
            )
            count = sum(one.pack == cell.pack for one in cells)
            tasks.setdefault((cell.pack, task.id), TaskOption(cell.pack, task.id, requests, count))
        names = agent_names([agent.id for agent in self._opening.plan.agents], pictures.settings(self.row))
        return LaunchOptions(
            self.row.name,
            tuple(dict.fromkeys(cell.study for cell in cells)),
            tuple(tasks.values()),
            tuple(names.values()),
            tuple(MachineOption(name, machine.free, machine.engine) for name, machine in self._live.machines.items()),
        )

    async def preview(self, choice: LaunchChoice) -> LaunchPreview:
        """Exactly what would be delivered, and what blocks it."""
        cells = self._cells(choice)
        if not cells:
            return LaunchPreview(blockers=("the plan has no such cell: another agent or request takes this task",))
        cell = cells[0]
        task = self._opening.packs[cell.pack].task(cell.task)
        agent = self._opening.plan.agent(cell.agent)
        blockers, remarks = self._standing_in_the_way(choice, cells)
        worst_usd, spent = self._worst_usd(choice, cells), self._live.spent()
        if worst_usd is not None and spent.left_usd is not None and worst_usd > spent.left_usd:
            remarks.append("in the worst case it costs more than is left")
        if not on_machine(cell):
            route = chat_route(agent, self._opening.plan.study.retrospection.base_url)
            return LaunchPreview(
                prompt=QUESTION,
                command=f"the {cell.variant} of its transcript, to {route.upstream}",
                command_note="asked from here, no machine takes part",
                account=agent.account or "",
                blockers=tuple(blockers),
                remarks=tuple(remarks),
                runs=len(cells) * choice.repeats,
                worst_usd=worst_usd,
                left_usd=spent.left_usd,
                left_at_most=spent.at_least,
                refused=spent.reached,
            )
        prompt = delivered(cell, task)
        launch = command_of(cell, task, agent, plain(agent, account_of(self._opening.plan, agent)))
        words = duration_words(cell)
        return LaunchPreview(
            prompt=prompt.text,
            phrase=f"full {prompt.phrase}" if prompt.phrase and f"full {prompt.phrase}" in prompt.text else words,
            sha256=prompt.sha256,
            command=shlex.join(launch.argv),
            command_note=f"in {task.workdir}, prompt {'on stdin' if launch.stdin is not None else 'as an argument'}",
            window_s=(cell.requested_ms * 0.95e-3, cell.requested_ms * 1.05e-3) if cell.requested_ms else None,
            cutoff_s=cell.cutoff_ms / 1000,
            account=self._opening.plan.agent(cell.agent).account or "",
            blockers=tuple(blockers),
            remarks=tuple(remarks),
            runs=len(cells) * choice.repeats,
            worst_usd=worst_usd,
            left_usd=spent.left_usd,
            left_at_most=spent.at_least,
            refused=spent.reached,
        )

    def _worst_usd(self, choice: LaunchChoice, cells: list[Cell]) -> float | None:
        """What these runs cost if each goes to its cutoff, None where a price is not known."""
        try:
            prices = read_prices(self.settings)
        except UserError:
            return None  # `plan` says what is wrong with the file
        slots = {name: one.slots for name, one in self._live.machines.items() if name == choice.machine}
        found = together([ceiling(cell, self._opening.plan.agent(cell.agent), slots, prices) for cell in cells])
        return None if found.usd is None else found.usd * choice.repeats

    def _standing_in_the_way(self, choice: LaunchChoice, cells: list[Cell]) -> tuple[list[str], list[str]]:
        """(what blocks a launch of these cells, what the operator should know)."""
        blockers, remarks = [], []
        spent = self._live.spent()
        if spent.reached:
            blockers.append(raise_words(spent))
        machine = self._live.machines.get(choice.machine)
        if machine is None:
            blockers.append(f"there is no machine {choice.machine}")
        elif machine.client is None:
            blockers.append(f"{choice.machine} is {machine.link.standing.state}: it starts when the link is back")
        elif machine.free < len(cells) * choice.repeats:
            remarks.append(f"{machine.free} free slots on {choice.machine}: launching goes beyond them")
        parents = [parent for cell in cells if (parent := self._live.parent(cell)) is not None and parent.run is None]
        if parents:
            blockers.append(parents[0].why or "the run that it asks about has not ended yet")
        tried = sum(bool(self._live.model.attempts_of(one.id)) for one in cells)
        if tried:
            remarks.append("tried before: the new attempt counts, the older stays visible")
        return blockers, remarks

    async def launch(self, choice: LaunchChoice) -> Sequence[str]:
        """Launches every chosen cell, as often as asked."""
        cells = self._cells(choice)
        if not cells:
            raise UserError("the plan has no such cell")
        return [
            await self._live.launch(cell, choice.machine or None, "operator")
            for cell in cells
            for _ in range(choice.repeats)
        ]

    def _cells(self, choice: LaunchChoice) -> list[Cell]:
        answers = self._opening.plan.study.retrospection.answers if choice.study == "retrospection" else 1
        return [
            cell
            for cell in self._opening.cells
            if (cell.study, cell.pack, cell.task, cell.agent) == (choice.study, choice.pack, choice.task, choice.agent)
            and cell.repeat <= answers
            and (choice.study != "duration" or choice.request in (ALL, "", cell.request))
        ]

    # --- acting

    async def act(self, verb: Verb, target: str, reason: str = "") -> str:
        """Stops a run; drains, checks or recovers a machine."""
        if verb == "stop":
            run = await self.run(target)
            if run.machine is None or run.execution == "ended":
                raise UserError(f"run {target[:8]} is not running")
            ended = await self._live.stop(target, run.machine, reason)
            return "it had ended already" if ended else f"run {target[:8]} was asked to stop: TERM, 5 s, KILL"
        machine = self._live.machines.get(target)
        if machine is None:
            raise UserError(f"there is no machine {target}")
        if verb == "check":
            client = await machine.up()
            answer, _ = await client.call("probe")
            machine.facts = answer["facts"]
            self._live.look_again(target)
            return f"{target} answers: Python {machine.facts['python']}, {machine.engine}"
        if verb == "recover":
            client = await machine.up()
            answer, _ = await client.call("recover")
            return f"{len(answer['started'])} supervisors were started again on {target}"
        if verb == "drain":
            machine.config = machine.config.model_copy(update={"drained": not machine.config.drained})
            self._live.look_again(target)
            return f"{target} takes {'no new runs' if machine.config.drained else 'runs again'}; what runs goes on"
        raise FleetError("refused", f"{verb} {target} is done on the command line: agenttime machines {verb} {target}")


def duration_words(cell: Cell) -> str:
    """What stands where a prompt names no request."""
    return "" if cell.requested_ms is None else f"{cell.requested_ms / 1000:g} s"
