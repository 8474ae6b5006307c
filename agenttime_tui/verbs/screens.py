"""The screens over a campaign: live with its machines, or over the store alone."""

from __future__ import annotations

import asyncio
import gc
import os
from collections import deque
from collections.abc import Callable, Iterable

from agenttime_tui.app import AgentTimeApp
from agenttime_tui.budget import wait_words
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.errors import UserError
from agenttime_tui.look.mode import from_environment
from agenttime_tui.opening import Opening
from agenttime_tui.sources.following import Following
from agenttime_tui.sources.offline import Offline
from agenttime_tui.spending import Spent
from agenttime_tui.verbs.context import Context
from agenttime_tui.verbs.running import live_campaign, untried
from store.reader import Reader
from store.rows import CampaignRow

LAST_SAID = 5
"""Sentences that are told once the screens are left."""


def follow(
    context: Context, opening: Opening, only: str | None = None, dispatch: bool = True, card: bool = False
) -> int:
    """The campaign live until the operator leaves; its runs do not end with the screens. The app's exit code.

    `dispatch` launches what has no attempt yet; `card` opens the newest run at once.
    """
    return asyncio.run(_follow(context, opening, only, dispatch, card))


async def _follow(context: Context, opening: Opening, only: str | None, dispatch: bool, card: bool) -> int:
    said: deque[str] = deque(maxlen=LAST_SAID)
    settings = context.settings
    holder: list[Following] = []

    def changed(model: Campaign) -> Callable[[set[str]], None]:
        return lambda keys: holder[0].changed(keys) if holder else None

    async with live_campaign(context, opening, only, changed, said.append) as live:
        with Reader(settings.database) as reader:
            source = Following(settings, reader, opening.row, context.now_utc_ns)
            source.attach(live, opening)
            holder.append(source)
            launching = asyncio.create_task(live.run(untried(opening, live.model))) if dispatch else None
            try:
                open_run = await _first_attempt(live.model) if card else None
                settle_memory()
                app = AgentTimeApp(source, from_environment(os.environ), open_run)
                await app.run_async()
            finally:
                if launching is not None:
                    launching.cancel()
                    (fault,) = await asyncio.gather(launching, return_exceptions=True)
                    if isinstance(fault, UserError):
                        said.append(str(fault))
        _farewell(context, live.model, said, live.spent())
        return app.return_code or 0


async def _first_attempt(model: Campaign) -> str | None:
    """The id of the first attempt, as soon as there is one."""
    for _ in range(200):
        attempts = [attempt for cell in model.cells for attempt in model.attempts_of(cell)]
        if attempts:
            return attempts[0]
        await asyncio.sleep(0.05)
    return None


def review(context: Context, row: CampaignRow, database: Reader) -> int:
    """A campaign over a store alone."""

    async def shown() -> int:
        source = Offline(context.settings, database, row, context.now_utc_ns)
        await source.model()
        settle_memory()
        app = AgentTimeApp(
            source,
            from_environment(os.environ),
            study=_study(row),
        )
        await app.run_async()
        return app.return_code or 0

    return asyncio.run(shown())


def settle_memory() -> None:
    """Takes what was read so far out of the garbage collector's rounds, each of which would hold the screen up."""
    gc.collect()
    gc.freeze()


def _study(row: CampaignRow) -> str:
    """An imported set opens on its results, a campaign on its board."""
    return "timing" if row.kind == "import" else ""


def _farewell(context: Context, model: Campaign, said: Iterable[str], spent: Spent) -> None:
    counts = model.by_execution()
    going = counts["running"] + counts["preparing"] + counts["staged"]
    if going:
        context.say(f"{going} runs go on where they are; agenttime watch follows them")
    if counts["planned"] and spent.reached:
        context.say(f"{wait_words(spent, counts['planned'])}: raise budget_usd in the plan and run it again")
    elif counts["planned"]:
        context.say(f"{counts['planned']} cells were not launched yet; agenttime run with the same plan goes on")
    for line in said:
        context.tell(line)
