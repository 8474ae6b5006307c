"""`packs requests`: three requests for each task of a pack, out of the natural runs of a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttime_tui.campaign.run import Run
from agenttime_tui.errors import UserError
from agenttime_tui.library import find_campaign, runs_of
from agenttime_tui.look import durations
from agenttime_tui.look.sanitise import clean
from agenttime_tui.verbs.context import Context, table
from task_packs.ladder import Proposal, geometric_mean, propose
from task_packs.load import Pack, load_pack
from task_packs.task import Task
from task_packs.toml_text import toml_text

HEAD = ["task", "agents", "runs", "natural", "requests", "now", ""]


@dataclass(frozen=True, slots=True)
class Proposed:
    """What the natural runs of one task say."""

    task: Task
    agents: dict[str, float] = field(default_factory=dict)
    """Agent -> geometric mean of its runs in seconds."""
    runs: int = 0
    lower_bounds: int = 0
    """Runs that were stopped: the true mean is longer."""

    @property
    def natural_s(self) -> float | None:
        """Geometric mean of the agents' means: each agent weighs the same, however often it ran."""
        return geometric_mean(self.agents.values()) if self.agents else None

    @property
    def proposal(self) -> Proposal | None:
        """The three requests, None where there is no natural run."""
        return None if self.natural_s is None else propose(self.natural_s)


def requests(context: Context) -> int:
    """A quarter, once and four times of the natural runtimes; 1 where not one counted natural run is there."""
    pack = load_pack(context.args.pack, context.pack_dirs)
    if pack.tasks and all(task.entry.steps for task in pack.tasks):
        raise UserError(f"pack {pack.name} has only tasks with steps, and a request is about one prompt: propose none")
    with context.reader() as reader:
        row = find_campaign(reader, context.args.campaign)
        found = proposed(pack, runs_of(reader, row))
    if not any(one.runs for one in found):
        raise UserError(
            f"campaign {row.name} has no counted natural run of pack {pack.name}: "
            f'plan one with studies = ["natural"] and run it'
        )
    if context.json:
        context.answer({"pack": pack.name, "campaign": row.id, "tasks": [_json(one) for one in found],
                        "toml": _toml(found)})  # fmt: skip
        return 0
    for line in table([HEAD, *map(_row, found)], right=frozenset({1, 2})):
        context.say(line)
    stopped = sum(one.lower_bounds for one in found)
    if stopped:
        runs = "run was" if stopped == 1 else "runs were"
        context.say(f"{stopped} {runs} stopped: the natural runtimes marked >= are lower bounds")
    context.say(f"\n# for {pack.path}/pack.toml, in the place of these tasks' entries")
    for line in _toml(found).splitlines():
        context.say(line)
    return 0


def proposed(pack: Pack, runs: Sequence[Run]) -> list[Proposed]:
    """The pack's tasks in their order, with what the counted natural runs among `runs` say of each.

    Those with steps are left out: a request is about one prompt.
    """
    natural = [
        run for run in runs
        if run.study == "natural" and run.counts == "yes" and run.worked_s and run.benchmark == pack.family
        and run.extra.get("pack", pack.name) == pack.name
    ]  # fmt: skip
    tasks = [task for task in pack.tasks if not task.entry.steps]
    return [_of_task(task, [run for run in natural if run.task == task.id]) for task in tasks]


def _of_task(task: Task, runs: Sequence[Run]) -> Proposed:
    by_agent: dict[str, list[float]] = {}
    for run in runs:
        by_agent.setdefault(run.agent, []).append(run.worked_s or 0.0)
    means = {agent: geometric_mean(worked) for agent, worked in sorted(by_agent.items())}
    return Proposed(task, means, len(runs), sum(run.lower_bound for run in runs))


def _row(one: Proposed) -> list[str]:
    now = " ".join(durations.asked_text(ms / 1000) for ms in one.task.requests_ms)
    if one.natural_s is None or one.proposal is None:
        return [clean(one.task.id), "0", "0", "", "", now, "no counted natural run"]
    sign = ">= " if one.lower_bounds else ""
    counts = [str(len(one.agents)), str(one.runs)]
    remark = f"{one.lower_bounds} of {one.runs} stopped" if one.lower_bounds else ""
    worked = durations.chip(one.natural_s)
    return [clean(one.task.id), *counts, sign + worked, " ".join(one.proposal.texts), now, remark]


def _json(one: Proposed) -> dict[str, Any]:
    proposal = one.proposal
    return {
        "id": one.task.id,
        "runs": one.runs,
        "agents_s": one.agents,
        "natural_s": one.natural_s,
        "lower_bound": one.lower_bounds > 0,
        "stopped": one.lower_bounds,
        "requests": list(proposal.texts) if proposal else None,
        "requests_s": list(proposal.requests_s) if proposal else None,
        "now_s": [ms / 1000 for ms in one.task.requests_ms],
    }


def _toml(found: Sequence[Proposed]) -> str:
    """Entries of pack.toml for the tasks that have a proposal, with all else that stood in them."""
    return toml_text({"task": [_entry(one.task, one.proposal) for one in found if one.proposal]}).strip() + "\n"


def _entry(task: Task, proposal: Proposal) -> dict[str, Any]:
    kept = task.entry.model_dump(mode="python", exclude_defaults=True, exclude={"requests", "requests_minutes"})
    return {**kept, "requests": list(proposal.texts)}
