"""A campaign run without screens: the store, the machines and one plain line for each thing that happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

from agenttime_tui.budget import budget_of, budget_row
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.machine import LOCAL, MachineConfig
from agenttime_tui.campaign.run import Run
from agenttime_tui.config import campaign_machines
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.live import APP, Live
from agenttime_tui.library import load_campaign, new_campaign
from agenttime_tui.look.sanitise import clean
from agenttime_tui.opening import LAUNCH, Opening
from agenttime_tui.verbs import lines
from agenttime_tui.verbs.context import Context
from store.reader import Reader
from store.rows import CampaignRow
from store.writer import Writer

MOMENTS = {"running": "released", "unknown": "out of sight"}


class Lines:
    """Prints a line when a run is released, ends, is graded or goes out of sight."""

    def __init__(self, context: Context, model: Campaign) -> None:
        self._context = context
        self._model = model
        self._told: dict[str, str] = {run.id: self._news(run) for run in model.runs()}

    def changed(self, keys: set[str]) -> None:
        """Tells what is new of these runs."""
        for key in sorted(keys):
            try:
                run = self._model.run(key)
            except KeyError:
                continue
            news = self._news(run)
            if news and self._told.get(key) != news:
                self._told[key] = news
                self._context.say(
                    f"{datetime.now().astimezone():%H:%M:%S}  {run.id[:8]}  {lines.where(run):<52}  {news}"
                )

    def _news(self, run: Run) -> str:
        if run.execution == "ended":
            if run.grade.status == "pending":
                return ""
            tail = f"  {lines.ratio(run)} {lines.side(run)}".rstrip()
            return f"ended {lines.state(run)}  {lines.worked(run)}{tail}  grade {lines.graded(run)}"
        if run.execution == "lost":
            return clean(run.counts_reason or "lost")
        return MOMENTS.get(run.execution, "")


@asynccontextmanager
async def live_campaign(
    context: Context,
    opening: Opening,
    only: str | None = None,
    changed: Callable[[Campaign], Callable[[set[str]], None]] | None = None,
    said: Callable[[str], None] | None = None,
) -> AsyncIterator[Live]:
    """The campaign written down, its machines connecting, intake running; `only` names the one machine to use.

    A new launch is written down only once a machine that can take it has answered; UserError when none does.
    `changed` makes, from the model, what is called with the changed keys after each commit. UserError when the store
    is in use.
    """
    settings = context.settings
    machines = chosen_machines(campaign_machines(settings, opening.plan), only)
    async with await Writer.open(settings.database) as store:
        with Reader(settings.database) as reader:
            new_launch = opening.row.kind == LAUNCH and opening.row.id not in {row.id for row in reader.campaigns()}
        if not new_launch:
            await store.add_campaign(opening.row, opening.cell_rows())
            await _say_budget(context, store, opening)
        with Reader(settings.database) as reader:
            budget_usd = None if new_launch else stored_budget(reader, opening)
            model = new_campaign(opening.row, opening.cells) if new_launch else load_campaign(reader, opening.row)
            unfinished = unfinished_of(reader, model, opening.row)
            seqs = reader.last_seqs()
        async with Live(
            settings,
            store,
            model,
            opening.plan.model_copy(update={"budget_usd": budget_usd}),
            opening.packs,
            machines,
            context.now_utc_ns,
            changed(model) if changed is not None else lambda keys: None,
            said or (lambda line: context.tell(clean(line))),
        ) as live:
            live.watch(unfinished, seqs)
            if new_launch:
                await live.answered(opening.cells)
                await store.add_campaign(opening.row, opening.cell_rows())
            yield live


async def _say_budget(context: Context, store: Writer, opening: Opening) -> None:
    """Keeps the budget of a plan file that says another one than was said last."""
    usd = opening.plan.budget_usd
    with Reader(store.path) as reader:
        changed = not opening.reopened and usd != stored_budget(reader, opening)
    if changed:
        await store.add_operator(budget_row(context.settings, opening.row.id, usd, context.now_utc_ns()))


def stored_budget(reader: Reader, opening: Opening) -> float | None:
    """The budget of a campaign that stands in the store, as it was last said."""
    row = next(row for row in reader.campaigns() if row.id == opening.row.id)
    return budget_of(reader, row)


def untried(opening: Opening, model: Campaign) -> list[Cell]:
    """The cells that nothing was ever started for, in the plan's order."""
    return [cell for cell in opening.cells if all(never_started(model.run(one)) for one in model.attempts_of(cell.id))]


def never_started(run: Run) -> bool:
    """Whether the app wrote down that no machine took the attempt, and no machine has said anything of it."""
    gave_up = any(one["action"] == "abandon" and one["by"] == APP for one in run.extra["decisions"])
    return gave_up and run.boot_id is None


async def conduct(
    context: Context, opening: Opening, lines_too: bool = True, only: str | None = None, dispatch: bool = True
) -> tuple[Campaign, dict[str, str]]:
    """Follows everything to its end, the model and the launches that failed; `dispatch` launches what is untried."""

    def told(model: Campaign) -> Callable[[set[str]], None]:
        return Lines(context, model).changed

    async with live_campaign(context, opening, only, told if lines_too else None) as live:
        await live.run(untried(opening, live.model) if dispatch else [], patient=False)
        return live.model, live.failed


def chosen_machines(machines: Mapping[str, MachineConfig], only: str | None) -> dict[str, MachineConfig]:
    """The machines to use: the one asked for, else those of the registry and plan, `local` only when it is alone."""
    if only is not None:
        if only not in machines:
            raise UserError(f"there is no machine {only!r}; there are {', '.join(sorted(machines))}", 2)
        return {only: machines[only]}
    others = {name: config for name, config in machines.items() if name != LOCAL or config.model_fields_set}
    return others or dict(machines)


def unfinished_of(reader: Reader, model: Campaign, row: CampaignRow) -> dict[str, str]:
    """{attempt: machine} of the attempts that are not known to have ended."""
    return {attempt.id: attempt.machine for attempt in reader.attempts(row.id) if _open(model.run(attempt.id))}


def _open(run: Run) -> bool:
    """Whether its machine has more to say: it works, or its grader does, or it is held until it is graded."""
    if run.execution == "ended":
        return run.extra.get("closed") is False
    return run.execution != "lost" and run.counts != "no"


def follow(
    context: Context, opening: Opening, only: str | None = None, lines_too: bool = True, dispatch: bool = True
) -> tuple[Campaign, dict[str, str]]:
    """`conduct` from synchronous code."""
    return asyncio.run(conduct(context, opening, lines_too, only, dispatch))
