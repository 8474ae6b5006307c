"""`plan`: what a plan would do, before anything is launched."""

from __future__ import annotations

from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.placement import Offer, fitting, offer_of, wants_of, why_nowhere
from agenttime_tui.campaign.plan import load_plan
from agenttime_tui.config import campaign_machines
from agenttime_tui.fleet.accounts import account_of
from agenttime_tui.look import durations, numbers
from agenttime_tui.look.sanitise import clean
from agenttime_tui.opening import Opening, open_plan
from agenttime_tui.prices import Ceiling, ceiling, read_prices, together
from agenttime_tui.protocols.access import plain
from agenttime_tui.protocols.staging import command_of
from agenttime_tui.protocols.studies import delivered, on_machine
from agenttime_tui.verbs.context import Context, table
from agenttime_tui.verbs.running import chosen_machines


def plan(context: Context) -> int:
    """The cells with their prompts, cutoffs and machines; nothing is written or contacted."""
    path = context.args.plan
    opening = open_plan(load_plan(path), path.read_text("utf-8"), context.pack_dirs, context.now_utc_ns())
    opening.check(keys=False)
    offers = _offers(context, opening)
    machines = [offer.name for offer in offers]
    most = _most(context, opening, offers)
    if context.json:
        cells = [_cell(opening, cell, offers) for cell in opening.cells]
        context.answer(
            {
                "campaign": opening.row.id,
                "name": opening.plan.name,
                "plan_hash": opening.plan.plan_hash,
                "cells": cells,
                "machines": machines,
                "longest_s": sum(cell.cutoff_ms for cell in opening.cells) / 1000,
                "cost_ceiling": most.usd,
                "budget_usd": opening.plan.budget_usd,
                "prices_missing": list(most.missing),
                "remarks": [*opening.remarks(), *_beyond(opening, most)],
            }
        )
        return 0
    rows = [["", "agent", "benchmark/task", "asked", "cutoff", "study", "where"]]
    rows += [
        [
            str(cell.position + 1),
            clean(cell.agent),
            clean(f"{cell.benchmark}/{cell.task}"),
            delivered(cell, opening.packs[cell.pack].task(cell.task)).phrase or cell.variant or cell.request or "-",
            durations.worked(cell.cutoff_ms / 1000),
            cell.study,
            _where(opening, cell, offers),
        ]
        for cell in opening.cells
    ]
    for line in table(rows, right=frozenset({0, 3, 4})):
        context.say(line)
    cutoffs_s = sum(cell.cutoff_ms for cell in opening.cells) / 1000
    context.say(
        f"\n{len(opening.cells)} cells on {', '.join(machines)}; at most {durations.worked(cutoffs_s)} of work in all "
        f"if every run goes to its cutoff"
    )
    prices = context.settings.prices_file
    if most.usd is not None:
        of = "" if opening.plan.budget_usd is None else f" of a budget of {numbers.dollars(opening.plan.budget_usd)}"
        context.say(f"then it costs at most {numbers.money(most.usd, True)}{of}, by {prices}")
    elif most.missing:
        context.say(f"what it costs at most is unknown: {prices} has no {clean(', '.join(most.missing))}")
    for line in (*opening.remarks(), *_beyond(opening, most), *_homeless(opening, offers)):
        context.say(f"! {clean(line)}")
    first = opening.cells[0]
    prompt = delivered(first, opening.packs[first.pack].task(first.task))
    context.say(f"\nprompt of cell 1, {len(prompt.bytes)} bytes, sha256 {prompt.sha256[:16]}:\n")
    context.say(clean_text(prompt.text))
    return 0


def clean_text(text: str) -> str:
    """Several lines, each made safe for a terminal."""
    return "\n".join("  " + clean(line) for line in text.split("\n"))


def _offers(context: Context, opening: Opening) -> list[Offer]:
    """The machines a run would use, by their entries and by what was last seen of them."""
    chosen = chosen_machines(campaign_machines(context.settings, opening.plan), None)
    seen = {}
    if context.stored:
        with context.reader() as reader:
            seen = {row.name: row.facts for row in reader.machines()}
    return [offer_of(name, chosen[name], seen.get(name)) for name in sorted(chosen)]


def _most(context: Context, opening: Opening, offers: list[Offer]) -> Ceiling:
    """What all cells cost if every one goes to its cutoff."""
    prices = read_prices(context.settings)
    configs = campaign_machines(context.settings, opening.plan)
    slots = {one.name: configs[one.name].slots or max(1, int(one.cpus or 0) // 2) for one in offers}
    found = []
    for cell in opening.cells:
        names = fitting(wants_of(opening.packs[cell.pack].task(cell.task)), offers)
        found.append(ceiling(cell, opening.plan.agent(cell.agent), {name: slots[name] for name in names}, prices))
    return together(found)


def _beyond(opening: Opening, most: Ceiling) -> list[str]:
    """Where the budget may end the campaign before its cells do, or cannot be kept in full."""
    usd = opening.plan.budget_usd
    if usd is None:
        return []
    if most.usd is None:
        missing = f"what has no price ({', '.join(most.missing)}) counts as nothing" if most.missing else ""
        return [f"budget of {numbers.dollars(usd)}: {missing}"] if missing else []
    if most.usd <= usd:
        return []
    return [
        f"the plan can cost up to {numbers.money(most.usd, True)}, more than its budget of {numbers.dollars(usd)}: "
        f"cells that are queued when that is spent are not begun"
    ]


def _where(opening: Opening, cell: Cell, offers: list[Offer]) -> str:
    names = fitting(wants_of(opening.packs[cell.pack].task(cell.task)), offers)
    return "nowhere" if not names else "anywhere" if len(names) == len(offers) > 1 else ", ".join(names)


def _homeless(opening: Opening, offers: list[Offer]) -> list[str]:
    """One sentence for each task that fits no machine."""
    tasks = dict.fromkeys((cell.pack, cell.task) for cell in opening.cells)
    reasons = {one: why_nowhere(wants_of(opening.packs[one[0]].task(one[1])), offers) for one in tasks}
    return [f"{pack}/{task} fits no machine: {why}" for (pack, task), why in reasons.items() if why]


def _cell(opening: Opening, cell: Cell, offers: list[Offer]) -> dict[str, object]:
    task = opening.packs[cell.pack].task(cell.task)
    prompt = delivered(cell, task)
    agent = opening.plan.agent(cell.agent)
    access = plain(agent, account_of(opening.plan, agent))
    command = command_of(cell, task, agent, access).argv if on_machine(cell) else ()
    return {
        "id": cell.id,
        "study": cell.study,
        "agent": cell.agent,
        "benchmark": cell.benchmark,
        "task": cell.task,
        "request": cell.request,
        "requested_s": None if cell.requested_ms is None else cell.requested_ms / 1000,
        "cutoff_s": cell.cutoff_ms / 1000,
        "variant": cell.variant,
        "repeat": cell.repeat,
        "phrase": prompt.phrase,
        "prompt": prompt.text,
        "prompt_sha256": prompt.sha256,
        "command": list(command),
        "machines": fitting(wants_of(task), offers),
        "why_nowhere": why_nowhere(wants_of(task), offers) or None,
    }
