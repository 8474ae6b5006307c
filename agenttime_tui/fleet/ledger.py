"""What a live campaign has spent, by its machines' own slots and clocks, and whether anything new may be begun."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from agenttime_tui import budget
from agenttime_tui.budget import Purse
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.plan import Plan
from agenttime_tui.config import Settings
from agenttime_tui.fleet.machine import Machine
from agenttime_tui.spending import Spent
from store.reader import Reader
from store.rows import OperatorRow


class Ledger:
    """Sums up as the machines stand now."""

    def __init__(
        self,
        settings: Settings,
        store: Path,
        model: Campaign,
        plan: Plan,
        machines: Mapping[str, Machine],
        now_utc_ns: Callable[[], int],
    ) -> None:
        agents = [agent.model_dump(mode="json", include={"id", "harness", "model"}) for agent in plan.agents]
        self._purse = Purse(settings, agents, plan.budget_usd)
        self._model = model
        self._machines = machines
        self._now_utc_ns = now_utc_ns
        self._told: float | None = None
        with Reader(store) as reader:
            self._seen = {one.name: int(one.facts.get("slots") or 0) for one in reader.machines()}
        """Slots of machines that have not answered yet, or take no part any more, as last seen."""

    def spent(self) -> Spent:
        """The sum now."""
        known = {name: one.slots for name, one in self._machines.items() if one.facts or one.config.slots}
        offsets_ns = {name: one.pulse["offset_ns"] for name, one in self._machines.items() if "offset_ns" in one.pulse}
        return self._purse.spent(self._model.runs(), self._seen | known, self._now_utc_ns(), offsets_ns)

    def held(self) -> str:
        """Why nothing new is begun; empty while the budget is not reached or there is none."""
        if self._purse.budget_usd is None or not (spent := self.spent()).reached:
            return ""
        return budget.raise_words(spent)

    def news(self, waiting: int) -> str:
        """That cells wait for a higher budget: once for each budget, then empty."""
        if self._told == self._purse.budget_usd:
            return ""
        self._told = self._purse.budget_usd
        return f"{budget.wait_words(self.spent(), waiting)}; what runs goes on"

    def take(self, row: OperatorRow) -> bool:
        """Takes in a budget that was said meanwhile; whether it was one, about this campaign."""
        if row.action != budget.ACTION or row.target != self._model.id:
            return False
        self._purse.budget_usd = budget.said_usd(row)
        return True
