"""The budget of a campaign: kept as the operator last said it, and held against what was spent."""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from agenttime_tui.campaign.run import Run
from agenttime_tui.config import Settings
from agenttime_tui.errors import UserError
from agenttime_tui.library import machines_of
from agenttime_tui.look import numbers
from agenttime_tui.prices import Prices, read_prices
from agenttime_tui.spending import Spending, Spent, agents_of
from store.bundle_rows import BROUGHT
from store.reader import Reader
from store.rows import CampaignRow, OperatorRow

ACTION = "budget"
"""The operator record, about a campaign, that keeps a budget other than the one before: `usd`, null for none."""


CAP_USD = 1_000_000_000
"""What a plan may say at most."""


class Purse:
    """What one campaign has spent of what it may; prices.toml is read again when it changes."""

    def __init__(
        self, settings: Settings, agents: Iterable[Mapping[str, Any]], budget_usd: float | None, ours: bool = True
    ) -> None:
        self.budget_usd = budget_usd
        self._ours = ours
        """Whether the operator's prices say anything of its machines."""
        self._settings = settings
        self._spending = Spending(agents_of(list(agents)))
        self._prices = Prices()
        self._stamp: tuple[int, int] | None = None

    def spent(
        self,
        runs: Iterable[Run],
        slots: Mapping[str, int],
        now_utc_ns: int,
        offsets_ns: Mapping[str, int] | None = None,
    ) -> Spent:
        """The sum now; `slots` and `offsets_ns` as in `Spending.spent`."""
        if not self._ours:
            return Spent()
        usd, at_least = self._spending.spent(runs, self._newest(), slots, now_utc_ns, offsets_ns or {})
        return Spent(usd, at_least, self.budget_usd)

    def _newest(self) -> Prices:
        """The prices of the home; while the file cannot be read, those from before: `plan` says what is wrong."""
        try:
            found = self._settings.prices_file.stat()
            stamp = (found.st_mtime_ns, found.st_size)
        except OSError:
            stamp = None
        if stamp != self._stamp:
            try:
                self._prices = read_prices(self._settings)
            except UserError:
                return self._prices
            self._stamp = stamp
        return self._prices


def spent_of(settings: Settings, reader: Reader, row: CampaignRow, runs: Iterable[Run], now_utc_ns: int) -> Spent:
    """What a campaign of the store has spent."""
    return purse_of(settings, reader, row).spent(runs, slots_of(reader, row), now_utc_ns)


def purse_of(settings: Settings, reader: Reader, row: CampaignRow) -> Purse:
    """The purse of a campaign of the store; nothing is known of one that came as somebody else's bundle."""
    return Purse(settings, row.meta.get("agents") or (), budget_of(reader, row), BROUGHT not in row.meta)


def slots_of(reader: Reader, row: CampaignRow) -> dict[str, int]:
    """Machine -> runs at once, as last seen."""
    return {one.name: slots for one in machines_of(reader, row) if (slots := int(one.facts.get("slots") or 0))}


def budget_of(reader: Reader, row: CampaignRow) -> float | None:
    """The budget as it was last said: by the newest record, else by the plan that the campaign began with."""
    said = [one for one in reader.operator_records(row.id) if one.action == ACTION]
    return _dollars(said[-1].data.get("usd") if said else _first(row.plan_toml))


def budget_row(settings: Settings, campaign: str, usd: float | None, now_utc_ns: int) -> OperatorRow:
    """The record of a budget that changed."""
    return OperatorRow(secrets.token_hex(8), now_utc_ns, settings.operator_name, ACTION, campaign, {"usd": usd})


def said_usd(row: OperatorRow) -> float | None:
    """The budget that such a record keeps."""
    return _dollars(row.data.get("usd"))


def _first(toml: str) -> object:
    try:
        return tomllib.loads(toml).get("budget_usd")
    except tomllib.TOMLDecodeError:
        return None


def _dollars(said: object) -> float | None:
    good = isinstance(said, int | float) and not isinstance(said, bool) and 0 < said <= CAP_USD
    return float(said) if good and isinstance(said, int | float) else None


# --- in words


def sum_words(spent: Spent) -> str:
    """`$1,204 of $3,000`, `at least $1,204`; empty where nothing is known."""
    if spent.usd is None:
        return ""
    of = "" if spent.budget_usd is None else f" of {numbers.dollars(spent.budget_usd)}"
    return f"{'at least ' if spent.at_least else ''}{numbers.dollars(spent.usd)}{of}"


def raise_words(spent: Spent) -> str:
    """`budget of $3,000 reached: raise ...`: why nothing new is begun, and the remedy."""
    return f"{reached_words(spent)}: raise budget_usd in the plan and run it again"


def wait_words(spent: Spent, waiting: int) -> str:
    """`budget of $3,000 reached; 417 queued cells wait`."""
    return f"{reached_words(spent)}; {queued_words(waiting)}"


def reached_words(spent: Spent) -> str:
    """`budget of $3,000 reached`."""
    return f"budget of {numbers.dollars(spent.budget_usd or 0)} reached"


def queued_words(waiting: int) -> str:
    """`417 queued cells wait`."""
    return f"{numbers.count(waiting)} queued cell{'s wait' if waiting != 1 else ' waits'}"


def queued(runs: Iterable[Run]) -> int:
    """Cells that nothing was begun for."""
    return sum(not run.attempt and run.execution == "planned" for run in runs)
