"""What machines and models cost by prices.toml, and the most that a cell can cost before its cutoff."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NamedTuple, Self

from pydantic import Field, StrictFloat, model_validator

from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.plan import AgentConfig
from agenttime_tui.campaign.table import Line, Name, Table
from agenttime_tui.config import Settings
from agenttime_tui.protocols.studies import on_machine
from agenttime_tui.toml_file import read_toml, validated

Amount = Annotated[StrictFloat, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)]
MS_PER_HOUR = 3_600_000
TOKENS = ("input_usd_per_million", "output_usd_per_million", "input_tokens_per_hour", "output_tokens_per_hour")


class MachinePrice(Table):
    """A rented machine."""

    usd_per_hour: Amount
    """Of the whole machine; each of its slots bears its share."""


class TokenCost(NamedTuple):
    """What tokens cost."""

    usd: float
    at_least: bool
    """Whether some of them have no price."""


class ModelPrice(Table):
    """A model in use by one run: by the hour as measured, or by its tokens with a bound on how many an hour."""

    usd_per_hour: Amount | None = None
    input_usd_per_million: Amount | None = None
    output_usd_per_million: Amount | None = None
    input_tokens_per_hour: Amount | None = None
    output_tokens_per_hour: Amount | None = None
    cached_usd_per_million: Amount | None = None
    """Of what the provider had in its cache; without it that counts as nothing in what was spent."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [name for name in (*TOKENS, "cached_usd_per_million") if getattr(self, name) is not None]
        missing = any(getattr(self, name) is None for name in TOKENS)
        if (self.usd_per_hour is None and missing) or (self.usd_per_hour is not None and given):
            raise ValueError(f"set either usd_per_hour, or all of {', '.join(TOKENS)}")
        return self

    @property
    def hour_usd(self) -> float:
        """Dollars an hour of one run."""
        if self.usd_per_hour is not None:
            return float(self.usd_per_hour)
        pairs = ((self.input_usd_per_million, self.input_tokens_per_hour),
                 (self.output_usd_per_million, self.output_tokens_per_hour))  # fmt: skip
        return sum(float(usd or 0) * float(tokens or 0) / 1e6 for usd, tokens in pairs)

    def tokens_usd(self, fresh: int, written: int, cached: int) -> TokenCost:
        """Dollars of tokens, by the prices of tokens."""
        read, said, kept = self.input_usd_per_million, self.output_usd_per_million, self.cached_usd_per_million
        usd = ((read or 0.0) * fresh + (said or 0.0) * written + (kept or 0.0) * cached) / 1e6
        return TokenCost(usd, bool(kept is None and cached))


class Prices(Table):
    """prices.toml."""

    machine: dict[Name, MachinePrice] = Field(default_factory=dict)
    model: dict[Line, ModelPrice] = Field(default_factory=dict)


class Ceiling(NamedTuple):
    """The most something can cost."""

    usd: float | None
    """None: a price that it needs is not known."""
    missing: tuple[str, ...] = ()
    """The tables of prices.toml that are not there, as `machine.hel1-a`."""


def read_prices(settings: Settings) -> Prices:
    """The prices of the home, none where there is no file; UserError (code 2) naming file and key."""
    path = settings.prices_file
    return validated(Prices, read_toml(path, "prices"), f"prices {path}") if path.exists() else Prices()


def ceiling(cell: Cell, agent: AgentConfig, machines: Mapping[str, int], prices: Prices) -> Ceiling:
    """What a cell costs if it goes to its cutoff on the dearest machine that it fits; `machines`: name -> slots.

    The scripted agent uses no model, a question that is asked from here no machine.
    """
    missing = [f"machine.{name}" for name in machines if name not in prices.machine] if on_machine(cell) else []
    if agent.harness != "scripted" and agent.model not in prices.model:
        missing.append(f"model.{agent.model or agent.id}")
    if missing or (on_machine(cell) and not machines):
        return Ceiling(None, tuple(missing))
    hours = cell.cutoff_ms / MS_PER_HOUR
    model_usd = 0.0 if agent.harness == "scripted" else prices.model[agent.model].hour_usd
    if not on_machine(cell):
        return Ceiling(hours * model_usd)
    return Ceiling(hours * (model_usd + max(prices.machine[name].usd_per_hour / max(1, slots)
                                            for name, slots in machines.items())))  # fmt: skip


def together(ceilings: list[Ceiling]) -> Ceiling:
    """The sum; not known where one is not."""
    missing = tuple(dict.fromkeys(name for one in ceilings for name in one.missing))
    known = [one.usd for one in ceilings if one.usd is not None]
    return Ceiling(sum(known) if len(known) == len(ceilings) else None, missing)
