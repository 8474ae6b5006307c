"""What the attempts of a campaign have cost so far: hours of slots and models, by the prices of the operator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agenttime_tui.campaign.asked_here import HERE
from agenttime_tui.campaign.run import Run
from agenttime_tui.prices import ModelPrice, Prices

NS_PER_S = 1_000_000_000
S_PER_HOUR = 3600
FREE = "scripted"
"""The harness that uses no model."""


class Spent(NamedTuple):
    """What was spent of what may be."""

    usd: float | None = None
    """None: nothing that was used has a price."""
    at_least: bool = False
    """Something that was used has no price, or is not known in full."""
    budget_usd: float | None = None

    @property
    def reached(self) -> bool:
        """Whether the budget is used up, as far as it is known."""
        return self.usd is not None and self.budget_usd is not None and self.usd >= self.budget_usd

    @property
    def left_usd(self) -> float | None:
        """What is left of the budget (at most, where `at_least`); None without a budget or a price."""
        return None if self.usd is None or self.budget_usd is None else max(0.0, self.budget_usd - self.usd)

    def as_json(self) -> dict[str, Any]:
        """The keys that `status` and `report` carry for a campaign."""
        return {"spent_usd": self.usd, "budget_usd": self.budget_usd, "spent_is_lower_bound": self.at_least}


class Cost(NamedTuple):
    """One attempt, or one part of what it used."""

    usd: float = 0.0
    priced: bool = False
    """Whether any price took part."""
    at_least: bool = False


class Spending:
    """Sums attempts up; what is over is worked out once for each run object, what runs each time."""

    def __init__(self, agents: Mapping[str, tuple[str, str]]) -> None:
        """`agents`: id -> (harness, model)."""
        self._agents = agents
        self._prices = Prices()
        self._slots: dict[str, int] = {}
        self._known: dict[str, tuple[Run, Cost]] = {}

    def spent(
        self,
        runs: Iterable[Run],
        prices: Prices,
        slots: Mapping[str, int],
        now_utc_ns: int,
        offsets_ns: Mapping[str, int],
    ) -> tuple[float | None, bool]:
        """(dollars, whether they are a lower bound); None where nothing has a price.

        `slots`: machine -> runs at once. `offsets_ns`: machine clock minus `now_utc_ns`'s; what runs on a machine that
        is not named there counts up to what was last heard.
        """
        if prices is not self._prices or self._slots != slots:
            self._prices, self._slots, self._known = prices, dict(slots), {}
        usd, priced, at_least = 0.0, False, False
        for run in runs:
            if not run.attempt or run.time.basis == "imported":
                continue
            found = self._cost(run, now_utc_ns, offsets_ns)
            usd += found.usd
            priced |= found.priced
            at_least |= found.at_least
        anything = priced or (not at_least and bool(prices.machine or prices.model))
        return (usd, at_least) if anything else (None, False)

    def _cost(self, run: Run, now_utc_ns: int, offsets_ns: Mapping[str, int]) -> Cost:
        held = self._known.get(run.id)
        if held is not None and held[0] is run:
            return held[1]
        seconds, whole = held_s(run, now_utc_ns, offsets_ns)
        place, model = self._machine(run, seconds), self._model(run, seconds)
        at_least = not whole or place.at_least or model.at_least
        found = Cost(place.usd + model.usd, place.priced or model.priced, at_least)
        if run.execution != "running":
            self._known[run.id] = (run, found)
        return found

    def _machine(self, run: Run, seconds: float) -> Cost:
        if run.machine == HERE or not seconds:
            return Cost()
        price, slots = self._prices.machine.get(run.machine or ""), self._slots.get(run.machine or "")
        if price is None or not slots:
            return Cost(at_least=True)
        return Cost(seconds / S_PER_HOUR * float(price.usd_per_hour) / slots, True)

    def _model(self, run: Run, seconds: float) -> Cost:
        harness, model = self._agents.get(run.agent, ("", ""))
        if harness == FREE:
            return Cost()
        price = self._prices.model.get(model)
        if run.machine == HERE:
            usage = run.extra.get("usage")
            return of_answer(usage, price, bool(run.extra.get("asked_again"))) if run.execution == "ended" else Cost()
        seen = (run.extra.get("observed") or {}).get("facts") or {}
        partial = bool(seen.get("tokens_partial"))
        if (said := amount(seen.get("cost_usd"))) is not None:
            return Cost(said, True, partial)
        if price is not None and price.usd_per_hour is not None:
            return Cost(seconds / S_PER_HOUR * float(price.usd_per_hour), bool(seconds))
        if price is not None and not seen.get("tokens_thread") and (tokens := tokens_of(seen, harness)) is not None:
            found = price.tokens_usd(*tokens)
            return Cost(found.usd, True, partial or found.at_least)
        return Cost(at_least=bool(seconds))


def held_s(run: Run, now_utc_ns: int, offsets_ns: Mapping[str, int]) -> tuple[float, bool]:
    """(seconds from the release to the end or to now by the machine's clock, whether that is all of it)."""
    if run.released_boot_ns is None and run.execution == "running":
        return run.worked_s or 0.0, False  # between two of its sessions
    if run.released_boot_ns is None:
        return 0.0, run.execution != "unknown"
    if run.worked_s is not None and run.execution != "running":
        return run.worked_s, run.execution == "ended" and run.time.interval_s is None
    seen_s = max(0.0, ((run.last_boot_ns or 0) - run.released_boot_ns) / NS_PER_S)
    offset_ns = offsets_ns.get(run.machine or "")
    if run.execution != "running" or offset_ns is None or run.last_utc_ns is None:
        return seen_s, False
    return seen_s + max(0.0, (now_utc_ns + offset_ns - run.last_utc_ns) / NS_PER_S), True


def tokens_of(seen: Mapping[str, Any], harness: str) -> tuple[int, int, int] | None:
    """(fresh in, out, cached in) of an observation's facts; None where it has none."""
    read, written, cached = (whole(seen.get(name)) for name in ("tokens_in", "tokens_out", "tokens_cached"))
    if read is None or written is None:
        return None
    fresh = read - (cached or 0) if harness == "codex" else read  # Codex counts the cached ones with the others
    return max(0, fresh), written, cached or 0


def of_answer(usage: object, price: ModelPrice | None, asked_again: bool) -> Cost:
    """An answer that was asked from here, by the usage that the endpoint reported; of a first answer none is kept."""
    said: Mapping[str, Any] = usage if isinstance(usage, Mapping) else {}
    if (cost := amount(said.get("cost"))) is not None:
        return Cost(cost, True, asked_again)
    read, written = whole(said.get("prompt_tokens")), whole(said.get("completion_tokens"))
    if price is None or price.usd_per_hour is not None or read is None or written is None:
        return Cost(at_least=True)
    details = said.get("prompt_tokens_details")
    cached = whole(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    found = price.tokens_usd(max(0, read - (cached or 0)), written, cached or 0)
    return Cost(found.usd, True, asked_again or found.at_least)


def amount(value: object) -> float | None:
    """A sum of money that was said, None for anything else."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) if good and isinstance(value, int | float) else None


def whole(value: object) -> int | None:
    """A count that was said, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def agents_of(configs: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Id -> (harness, model) of a campaign's agent tables."""
    return {str(one.get("id")): (str(one.get("harness") or ""), str(one.get("model") or "")) for one in configs}
