"""From a checked plan to a campaign in the store: its cells, its grade rules, its id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agenttime_tui.campaign.cells import Cell, TaskInfo, make_cells, within
from agenttime_tui.campaign.plan import Plan, parse_plan
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.accounts import account_of, secrets_for
from agenttime_tui.fleet.endpoints import replay_endpoint
from agenttime_tui.harness.routes import route_of
from agenttime_tui.protocols.access import account_kind, plain
from agenttime_tui.protocols.parents import Parents
from agenttime_tui.protocols.staging import command_of
from agenttime_tui.protocols.studies import ASKED_OF_A_RUN, on_machine
from store.rows import CampaignRow, CellRow
from task_packs.errors import PackError
from task_packs.load import Pack, find_packs, load_pack
from task_packs.standing import needs_of

LAUNCH = "launch"
"""Kind of the campaign of one cell that `launch` makes."""


@dataclass(frozen=True)
class Opening:
    """A campaign that may begin (or go on)."""

    row: CampaignRow
    plan: Plan
    packs: dict[str, Pack]
    cells: list[Cell]
    reopened: bool = False
    """Whether its plan is the one in the store: its budget may be older than what was said since."""

    def cell_rows(self) -> list[CellRow]:
        """The cells as the store keeps them."""
        return [CellRow(campaign=self.row.id, **cell.fields()) for cell in self.cells]

    def check(self, keys: bool = True) -> None:
        """Composes every prompt and command and looks for `keys`, so that nothing is refused halfway. UserError."""
        self._check_parents()
        for cell in self.cells:
            agent = self.plan.agent(cell.agent)
            if not on_machine(cell):
                if keys:
                    replay_endpoint(self.plan, agent)
                continue
            route = route_of(agent, account_kind(account_of(self.plan, agent)))
            names = [route.secret] if route is not None else []
            access = plain(agent, account_of(self.plan, agent))
            names += command_of(cell, self.packs[cell.pack].task(cell.task), agent, access).secret_env
            if keys:
                secrets_for(self.plan, agent, tuple(dict.fromkeys(names)))

    def remarks(self) -> Iterator[str]:
        """What is allowed and yet worth knowing before a launch, in sentences."""
        for name, account in self.plan.accounts.items():
            runs = sum(on_machine(cell) and self.plan.agent(cell.agent).account == name for cell in self.cells)
            if account.auth_file and account.max_running != 1 and runs > 1:
                yield (
                    f"account {name}: {runs} runs share one login and may run at once; one that refreshes it can end "
                    f"the others: set max_running = 1"
                )

    def _check_parents(self) -> None:
        """UserError where a question could never be asked, because the plan makes no run that it is about."""
        parents = Parents(self.plan, self.cells)
        asked = {(one.agent, one.pack, one.task): one for one in self.cells if one.study in ASKED_OF_A_RUN}
        for cell in asked.values():
            if why := parents.of(cell, lambda _: None).why:
                where = f"{cell.study} of {cell.benchmark}/{cell.task} by {cell.agent}"
                raise UserError(f"{where} cannot be asked: {why}", 2)


def open_plan(
    plan: Plan, toml: str, pack_dirs: Sequence[Path], now_utc_ns: int, kind: str = "plan", fresh: bool = False
) -> Opening:
    """The campaign of a plan. The same plan is the same campaign, unless `fresh`. UserError for an unknown pack."""
    packs = _packs(plan, pack_dirs)
    salt = f":{now_utc_ns}" if fresh else ""
    campaign = hashlib.sha256(f"{kind}:{plan.name}:{plan.plan_hash}{salt}".encode()).hexdigest()[:16]
    rosters = {
        name: [TaskInfo(task.id, task.requests_ms, pack.family, task.entry.steps) for task in pack.tasks]
        for name, pack in packs.items()
    }
    cells = within(campaign, make_cells(plan, rosters))
    meta = {
        "grades": {name: pack.grade.model_dump(mode="json", by_alias=True) for name, pack in packs.items()},
        "packs": {name: _kept(pack) for name, pack in packs.items()},
        "titles": {pack.family: pack.title for pack in packs.values()},
        "agents": [agent.model_dump(mode="json") for agent in plan.agents],
        "studies": list(plan.studies),
    }
    row = CampaignRow(campaign, plan.name, plan.plan_hash, toml, now_utc_ns, kind, json.loads(json.dumps(meta)))
    return Opening(row, plan, packs, cells)


def reopen(row: CampaignRow, cells: list[Cell], pack_dirs: Sequence[Path]) -> Opening:
    """A campaign of the store, with its packs as they are here now. UserError when one is not here."""
    plan = parse_plan(row.plan_toml, f"plan of campaign {row.name}")
    return Opening(row, plan, _packs(plan, pack_dirs), cells, reopened=True)


def _kept(pack: Pack) -> dict[str, object]:
    """What a campaign keeps of a pack, beside its grade rule, so that a review can say it without the pack."""
    source = pack.manifest.source
    said = source.what or source.access
    return {
        "needs": needs_of(pack.manifest),
        "state": pack.state,
        "source": f"{said}, {source.commit}" if source.commit else said,
    }


def _own_place(pack_dirs: Sequence[Path], names: Collection[str]) -> str:
    """Where packs of one's own are looked for, where a plan names one that may be meant so."""
    unknown = sorted(name for name in names if name not in {pack.name for pack in find_packs(pack_dirs)})
    return f"; a pack of your own lies, or is linked, at {pack_dirs[0] / unknown[0]}" if unknown and pack_dirs else ""


def _packs(plan: Plan, pack_dirs: Sequence[Path]) -> dict[str, Pack]:
    """The packs a plan names; their files must be here."""
    names = {selection.pack for selection in plan.tasks}
    try:
        known = {pack.name: pack for pack in find_packs(pack_dirs)}
        packs = {name: known.get(name) or load_pack(name, pack_dirs) for name in sorted(names)}
    except PackError as error:
        raise UserError(f"{error}{_own_place(pack_dirs, names)}", 2) from None
    for selection in plan.tasks:
        pack = packs[selection.pack]
        for task in pack.tasks:
            if (selection.include is None or task.id in selection.include) and not task.present:
                raise UserError(f'pack "{pack.name}" {pack.state}: task "{task.id}" has no files at {task.path}', 2)
    return packs
