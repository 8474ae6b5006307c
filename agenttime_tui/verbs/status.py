"""`status`: where every campaign stands and what needs the operator."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from typing import Any

from agenttime_tui.budget import queued, spent_of, sum_words, wait_words
from agenttime_tui.campaign.durations import parse_ms
from agenttime_tui.campaign.run import Run
from agenttime_tui.errors import UserError
from agenttime_tui.judge import later
from agenttime_tui.library import runs_of
from agenttime_tui.look import durations
from agenttime_tui.look.sanitise import clean
from agenttime_tui.prices import read_prices
from agenttime_tui.spending import Spent
from agenttime_tui.verbs import lines
from agenttime_tui.verbs.context import Context, table, utc_text
from agenttime_tui.verbs.terminal import screens_wanted
from store.rows import CampaignRow, MachineRow

ORDER = ("running", "preparing", "staged", "planned", "ended", "unknown", "lost")


def opened(context: Context) -> int:
    """`agenttime` alone: the screens on the newest campaign; without a terminal, or without a campaign, `status`."""
    if context.stored and screens_wanted(context):
        from agenttime_tui.verbs.watch import watch

        context.args.campaign = None
        return watch(context)
    return status(context)


def status(context: Context) -> int:
    """Counts per campaign, machines as last heard, what ended since, what needs you."""
    campaigns: list[tuple[Any, list[Run]]] = []
    spent: dict[str, Spent] = {}
    machines: list[MachineRow] = []
    if context.stored:
        with context.reader() as reader:
            campaigns = [(row, runs_of(reader, row)) for row in reader.campaigns()]
            machines = reader.machines()
            spent = {row.id: spent_of(context.settings, reader, row, runs, context.now_utc_ns())
                     for row, runs in campaigns}  # fmt: skip
    since_ns = _since_ns(context)
    ended = [run for _, runs in campaigns for run in runs if since_ns and (run.ended_utc_ns or 0) >= since_ns]
    needs = [
        sentence
        for row, runs in campaigns
        for sentence in (*_held_back(spent[row.id], runs), *needs_you(runs), *_ungraded(row, runs))
    ]
    needs += _unpriced(context, spent.values())
    if context.json:
        context.answer(
            {
                "campaigns": [
                    {"id": row.id, "name": row.name, "kind": row.kind, "created": utc_text(row.created_utc_ns),
                     "cells": len(runs), "counts": dict(Counter(run.execution for run in runs)),
                     **spent[row.id].as_json()}
                    for row, runs in campaigns
                ],
                "machines": [
                    {"name": one.name, "seen": utc_text(one.seen_utc_ns), "facts": one.facts} for one in machines
                ],
                "ended_since": [run.as_json() for run in ended],
                "needs_you": needs,
            }
        )  # fmt: skip
        return 0
    if not campaigns:
        context.say("nothing here yet: `agenttime demo` makes a small campaign, `agenttime run PLAN.toml` a real one")
        return 0
    rows = [[clean(row.name), row.id[:8], counts_text(runs), sum_words(spent[row.id])] for row, runs in campaigns]
    for line in table(rows):
        context.say(line)
    for one in machines:
        age_s = (context.now_utc_ns() - one.seen_utc_ns) / 1e9
        context.say(f"machine {clean(one.name)}: last heard {durations.age(age_s)} ago")
    for run in ended:
        context.say(f"ended  {lines.where(run)}  {lines.ratio(run)}  {lines.state(run)}")
    for sentence in needs:
        context.say(f"! {sentence}")
    return 0


def _held_back(spent: Spent, runs: list[Run]) -> list[str]:
    """That cells wait for a higher budget."""
    waiting = queued(runs)
    if not waiting or not spent.reached:
        return []
    return [f"{wait_words(spent, waiting)}: raise budget_usd in the plan and run it again"]


def counts_text(runs: list[Run]) -> str:
    """`48 running, 412 planned, 201 ended`."""
    counts = Counter(run.execution for run in runs)
    return ", ".join(f"{counts[name]} {name}" for name in ORDER if counts[name])


def needs_you(runs: list[Run]) -> list[str]:
    """What only a person can settle: infrastructure faults, lost runs, times to review, grader errors."""
    found = []
    for run in runs:
        where = lines.where(run)
        if run.execution in ("unknown", "lost"):
            found.append(f"{run.id[:8]} {where}: {run.execution}, last on {run.machine}")
        elif run.time.status in ("review", "invalid"):
            found.append(f"{run.id[:8]} {where}: its time is under {run.time.status} ({', '.join(run.time.flags)})")
        elif run.grade.status == "grader_error":
            found.append(f"{run.id[:8]} {where}: the grader failed")
        elif ungraded := [one["name"] for one in run.extra.get("steps") or () if _grader_failed(one)]:
            found.append(f"{run.id[:8]} {where}: the grader failed after {clean(', '.join(ungraded))}")
        elif run.execution == "ended" and run.extra.get("faults"):
            found.append(f"{run.id[:8]} {where}: {clean(str(run.extra['faults'][0].get('detail')))}")
    return found


def _ungraded(row: CampaignRow, runs: Iterable[Run]) -> list[str]:
    """How many runs are not graded on this side, by why; a judge without its key waits for a person."""
    all_of_them = f"agenttime grade {shlex.quote(row.name)} --missing"
    why = Counter(
        str(run.extra["grade_detail"]).replace(later(run.id), all_of_them)
        for run in runs
        if run.grade.status in ("not_graded", "refused") and run.counts != "no" and run.extra.get("grade_detail")
    )
    return [clean(f"{count} run{'s are' if count > 1 else ' is'} not graded: {said}") for said, count in why.items()]


def _grader_failed(step: dict[str, Any]) -> bool:
    return (step["grade"] or {}).get("status") == "grader_error"


def _unpriced(context: Context, spent: Iterable[Spent]) -> list[str]:
    """Why nothing is said to be spent of a budget."""
    if all(one.budget_usd is None for one in spent):
        return []
    try:
        read_prices(context.settings)
    except UserError as error:
        return [clean(str(error))]
    return []


def _since_ns(context: Context) -> int | None:
    text = context.args.since
    if text is None:
        return None
    try:
        return context.now_utc_ns() - parse_ms(text) * 10**6
    except ValueError as error:
        raise UserError(f"--since: {error}", 2) from None
