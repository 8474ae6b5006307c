"""`run`: launch a plan and follow it."""

from __future__ import annotations

from collections.abc import Iterator

from agenttime_tui import budget
from agenttime_tui.budget import budget_of, budget_row, spent_of
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.plan import load_plan
from agenttime_tui.cli import DONE, FAILED, SOME
from agenttime_tui.look import numbers
from agenttime_tui.look.sanitise import clean
from agenttime_tui.opening import Opening, open_plan
from agenttime_tui.prices import read_prices
from agenttime_tui.verbs.context import Context
from agenttime_tui.verbs.report import leaderboard
from agenttime_tui.verbs.running import follow, untried
from agenttime_tui.verbs.terminal import screens_wanted
from store.errors import StoreBusy
from store.inbox import drop


def run(context: Context) -> int:
    """The plan's campaign to its end; called again it goes on where it was."""
    path = context.args.plan
    opening = open_plan(load_plan(path), path.read_text("utf-8"), context.pack_dirs, context.now_utc_ns())
    opening.check()
    for remark in unkept(context, opening):
        context.tell(f"! {remark}")
    for remark in opening.remarks():
        context.tell(f"! {clean(remark)}")
    try:
        return _followed(context, opening)
    except StoreBusy:
        if handed_over(context, opening):
            return DONE
        raise


def _followed(context: Context, opening: Opening) -> int:
    if screens_wanted(context):
        from agenttime_tui.verbs.screens import follow as shown

        return shown(context, opening)
    context.say(f"campaign {opening.plan.name} ({opening.row.id[:8]}): {len(opening.cells)} cells")
    model, failed = follow(context, opening)
    code = summed_up(context, model, failed)
    waiting = sum(cell.id not in failed for cell in untried(opening, model))
    with context.reader() as reader:
        row = next(row for row in reader.campaigns() if row.id == opening.row.id)
        spent = spent_of(context.settings, reader, row, model.runs(), context.now_utc_ns())
    if not waiting or not spent.reached:
        return code
    context.tell(
        f"agenttime: {budget.wait_words(spent, waiting)}: raise budget_usd in {context.args.plan} and run it again"
    )
    return SOME


def unkept(context: Context, opening: Opening) -> Iterator[str]:
    """That a budget cannot be kept, where nothing has a price. UserError where prices.toml is wrong."""
    usd = opening.plan.budget_usd
    if usd is None:
        return
    prices = read_prices(context.settings)
    if not prices.machine and not prices.model:
        where = context.settings.prices_file
        yield f"the budget of {numbers.dollars(usd)} is not kept: {where} has no price of a machine or a model"


def handed_over(context: Context, opening: Opening) -> bool:
    """Whether the plan says another budget than before: then it is left for the process that holds the store."""
    usd = opening.plan.budget_usd
    if not context.stored:
        return False
    with context.reader() as reader:
        row = next((row for row in reader.campaigns() if row.id == opening.row.id), None)
        if row is None or budget_of(reader, row) == usd:
            return False
    drop(context.settings.database, budget_row(context.settings, row.id, usd, context.now_utc_ns()))
    now = "no budget any more" if usd is None else f"a budget of {numbers.dollars(usd)} now"
    context.say(
        f"the agenttime that holds the store was told that campaign {clean(opening.plan.name)} has {now}; "
        f"where it follows this campaign, queued cells go on"
    )
    return True


def summed_up(context: Context, model: Campaign, failed: dict[str, str]) -> int:
    """Prints the leaderboard; the exit code: 3 when some cells could not be launched, 1 when none could."""
    runs = model.runs()
    for line in leaderboard(runs):
        context.say(line)
    bare = sum(one.engine == "process" and one.boot_id is not None for one in runs)
    if bare:
        context.say(f"not isolated: {bare} of {len(runs)} ran as plain processes of their machine, in no container")
    if not failed:
        return DONE
    some = "a run was" if len(failed) == 1 else f"{len(failed)} runs were"
    context.tell(f"agenttime: {some} not launched: {clean(next(iter(failed.values())))}")
    return SOME if any(one.execution == "ended" for one in runs) else FAILED
