"""What attempts have cost: every part by its own price, and a lower bound where something has none."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui.budget import Purse
from agenttime_tui.campaign.asked_here import HERE
from agenttime_tui.campaign.run import Run, TimeFact
from agenttime_tui.config import Settings
from agenttime_tui.look import numbers
from agenttime_tui.prices import Prices
from agenttime_tui.spending import Spending, Spent

HOUR_NS = 3600 * 10**9
AGENTS = {
    "codex": ("codex", "astra"), "claude": ("claude-code", "fable"), "hourly": ("codex", "sol"),
    "free": ("scripted", ""), "own": ("command", ""),
}  # fmt: skip
BOX = {"machine": {"box": {"usd_per_hour": 8.0}}}
TOKENS = {
    "input_usd_per_million": 2.0, "output_usd_per_million": 10.0, "input_tokens_per_hour": 1, "output_tokens_per_hour":
    1,
}  # fmt: skip
MODELS = {"model": {"astra": TOKENS, "fable": TOKENS, "sol": {"usd_per_hour": 18}}}
SLOTS = {"box": 4}
BOOT_NS = 10**12
UTC_NS = 1_800_000_000 * 10**9


def attempt(agent: str = "free", hours: float = 2.0, **fields: Any) -> Run:
    """A run that ended after so many hours."""
    known: dict[str, Any] = {
        "execution": "ended", "worked_s": hours * 3600, "machine": "box", "attempt": 1, "boot_id": "b",
        "released_boot_ns": BOOT_NS, "last_boot_ns": BOOT_NS + int(hours * HOUR_NS), "last_utc_ns": UTC_NS,
        "time": TimeFact("valid", "session"),
    }  # fmt: skip
    return Run("r", "c", "duration", agent, "demo", "t", "shortest", 60.0, **(known | fields))


def live(agent: str = "free", hours: float = 2.0, **fields: Any) -> Run:
    """One that was last heard of after so many hours."""
    return attempt(agent, hours, **({"execution": "running", "worked_s": None, "time": TimeFact("live")} | fields))


def seen(**facts: Any) -> dict[str, Any]:
    """What an observation keeps."""
    return {"observed": {"facts": facts}}


def spent(
    *runs: Run, prices: Any = BOX | MODELS, now_ns: int = UTC_NS, offsets: Any = None
) -> tuple[float | None, bool]:
    """The sum of runs."""
    return Spending(AGENTS).spent(runs, Prices.model_validate(prices), SLOTS, now_ns, offsets or {})


def test_a_slot_bears_its_share_of_its_machine_from_the_release_to_the_end() -> None:
    assert spent(attempt(hours=2.0)) == (4.0, False)
    assert spent(attempt(hours=2.0, lower_bound=True, ending="cutoff")) == (4.0, False), "a cutoff held it as long"


def test_a_live_run_counts_to_now_on_its_machines_clock() -> None:
    assert spent(live(hours=1.0), now_ns=UTC_NS + HOUR_NS, offsets={"box": 0}) == (4.0, False)
    assert spent(live(hours=1.0), now_ns=UTC_NS, offsets={"box": HOUR_NS}) == (4.0, False)
    assert spent(live(hours=1.0), now_ns=UTC_NS - HOUR_NS, offsets={"box": 0}) == (2.0, False), "never backwards"


def test_what_is_out_of_sight_counts_to_when_it_was_last_heard() -> None:
    assert spent(live(hours=1.0), now_ns=UTC_NS + HOUR_NS) == (2.0, True)
    out = live(hours=1.0, execution="unknown")
    assert spent(out, now_ns=UTC_NS + HOUR_NS, offsets={"box": 0}) == (2.0, True)


def test_lost_superseded_and_missed_ends_cost_too() -> None:
    lost = attempt(hours=1.0, execution="lost", ending="lost", lower_bound=True, time=TimeFact("invalid"))
    superseded = attempt(hours=1.0, counts="no", counts_reason="superseded by attempt 2")
    missed = attempt(hours=1.0, lower_bound=True, time=TimeFact("review", "session", (3600.0, 7200.0)))
    assert spent(lost) == (2.0, True)
    assert spent(superseded) == (2.0, False)
    assert spent(missed) == (2.0, True)


def test_what_was_never_released_costs_nothing() -> None:
    blank: dict[str, Any] = {"worked_s": None, "released_boot_ns": None, "time": TimeFact()}
    assert spent(attempt(**blank, execution="preparing"), attempt()) == (4.0, False)
    assert spent(attempt(**blank, execution="unknown"), attempt()) == (4.0, True), "it may have been"


@pytest.mark.parametrize(
    ("agent", "facts", "usd", "at_least"),
    [
        ("claude", {"cost_usd": 0.75, "tokens_in": 1, "tokens_out": 1}, 0.75, False),
        ("hourly", {"cost_usd": 0.75}, 0.75, False),
        ("own", {"cost_usd": 0.75}, 0.75, False),
        ("claude", {"cost_usd": 0.75, "tokens_partial": True}, 0.75, True),
        ("codex", {"tokens_in": 1_500_000, "tokens_cached": 0, "tokens_out": 100_000}, 4.0, False),
        ("codex", {"tokens_in": 1_500_000, "tokens_cached": 500_000, "tokens_out": 100_000}, 3.0, True),
        ("claude", {"tokens_in": 1_000_000, "tokens_cached": 500_000, "tokens_out": 100_000}, 3.0, True),
        ("codex", {"tokens_in": 1_000_000, "tokens_out": 100_000, "tokens_partial": True}, 3.0, True),
        ("codex", {"tokens_in": 1_000_000, "tokens_out": 100_000, "tokens_thread": True}, 0.0, True),
        ("codex", {"tokens_in": None, "tokens_out": None}, 0.0, True),
        ("hourly", {"tokens_in": 1_000_000, "tokens_out": 100_000}, 36.0, False),
        ("hourly", {}, 36.0, False),
        ("own", {}, 0.0, True),
        ("claude", {"cost_usd": "much"}, 0.0, True),
        ("claude", {"cost_usd": float("nan")}, 0.0, True),
    ],
)  # fmt: skip
def test_a_model_costs_what_it_says_else_its_tokens_else_its_hours(
    agent: str, facts: dict[str, Any], usd: float, at_least: bool
) -> None:
    found, bound = spent(attempt(agent, extra=seen(**facts)))
    assert found == pytest.approx(4.0 + usd)
    assert bound is at_least


def test_cached_tokens_have_a_price_of_their_own() -> None:
    prices = BOX | {"model": {"astra": TOKENS | {"cached_usd_per_million": 0.5}}}
    run = attempt("codex", extra=seen(tokens_in=1_500_000, tokens_cached=500_000, tokens_out=100_000))
    usd, bound = spent(run, prices=prices)
    assert usd == pytest.approx(4.0 + 3.25)
    assert not bound


def test_an_answer_asked_from_here_costs_no_machine() -> None:
    here: dict[str, Any] = {"machine": HERE, "released_boot_ns": None, "worked_s": None, "time": TimeFact()}
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
    assert spent(attempt("codex", **here, extra={"usage": usage})) == (3.0, False)
    assert spent(attempt("codex", **here, extra={"usage": usage, "asked_again": True})) == (3.0, True)
    assert spent(attempt("codex", **here, extra={"usage": usage | {"cost": 0.5}})) == (0.5, False)
    assert spent(attempt("codex", **here, extra={})) == (None, False)
    assert spent(attempt("codex", **(here | {"execution": "planned"}))) == (0.0, False)


def test_without_any_price_nothing_is_known() -> None:
    runs = (attempt("free"), attempt("codex", extra=seen(tokens_in=1, tokens_out=1)))
    assert spent(*runs, prices={}) == (None, False)
    assert spent(prices={}) == (None, False)
    assert spent(attempt("codex"), prices={"machine": {"other": {"usd_per_hour": 1}}}) == (None, False)
    assert spent(attempt("claude", extra=seen(cost_usd=0.5)), prices={}) == (0.5, True)


def test_before_the_first_attempt_nothing_is_spent() -> None:
    assert spent(replace(attempt(), attempt=0, execution="planned")) == (0.0, False)


def test_what_was_imported_costs_nothing() -> None:
    assert spent(attempt(time=TimeFact("valid", "imported")), attempt()) == (4.0, False)


def test_a_machine_without_slots_or_price_is_left_out() -> None:
    assert spent(attempt("hourly", machine="gone")) == (36.0, True)


def test_what_is_over_is_priced_once_and_what_changed_again() -> None:
    summed = Spending(AGENTS)
    prices = Prices.model_validate(BOX)

    def total(*runs: Run, prices: Prices = prices, slots: int = 4) -> float | None:
        return summed.spent(runs, prices, {"box": slots}, UTC_NS, {})[0]

    run = attempt()
    assert (total(run), total(run), total(replace(run, worked_s=3600.0))) == (4.0, 4.0, 2.0)
    assert total(run, slots=2) == 8.0
    assert total(run, prices=Prices.model_validate({"machine": {"box": {"usd_per_hour": 80}}})) == 40.0


def test_thousands_of_runs_are_summed_in_milliseconds() -> None:
    runs = [replace(attempt("codex", extra=seen(tokens_in=9, tokens_out=9)), id=str(n)) for n in range(2350)]
    runs += [replace(live("hourly"), id=f"live {n}") for n in range(50)]
    summed, prices = Spending(AGENTS), Prices.model_validate(BOX | MODELS)
    took = []
    for _ in range(5):
        began = time.thread_time()
        summed.spent(runs, prices, SLOTS, UTC_NS, {"box": 0})
        took.append(time.thread_time() - began)
    assert min(took) < 0.01


def test_prices_are_read_again_when_their_file_changes(tmp_path: Path) -> None:
    agents = [{"id": "free", "harness": "scripted", "model": ""}]
    purse = Purse(Settings(home=tmp_path, cache=tmp_path), agents, 100.0)

    def usd() -> float | None:
        return purse.spent([attempt()], SLOTS, UTC_NS).usd

    assert usd() is None
    file = tmp_path / "prices.toml"
    file.write_text("[machine.box]\nusd_per_hour = 8\n")
    assert usd() == 4.0
    file.write_text("[machine.box]\nusd_per_hour = 'much'\n")
    assert usd() == 4.0, "those from before, while it cannot be read"
    file.write_text("[machine.box]\nusd_per_hour = 16.5\n")
    assert usd() == 8.25


def test_nothing_is_said_of_a_campaign_that_somebody_else_paid_for(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("[machine.box]\nusd_per_hour = 8\n")
    purse = Purse(Settings(home=tmp_path, cache=tmp_path), [], 100.0, ours=False)
    assert purse.spent([attempt()], SLOTS, UTC_NS) == Spent()


def test_a_budget_is_reached_by_what_is_known_and_what_is_left_is_never_less_than_nothing() -> None:
    assert Spent(3000.0, True, 3000.0).reached
    assert not Spent(2999.0, False, 3000.0).reached
    assert not Spent(None, False, 3000.0).reached
    assert not Spent(5.0, False, None).reached
    assert (Spent(5.0, False, 3.0).left_usd, Spent(1.0, False, 3.0).left_usd) == (0.0, 2.0)
    assert Spent(None, False, 3.0).left_usd is None


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "$0"), (0.001, "<$0.01"), (0.314, "$0.31"), (9.99, "$9.99"), (9.996, "$10"), (3, "$3"), (1204.4, "$1,204")],
)
def test_sums_have_cents_only_where_they_are_small(amount: float, words: str) -> None:
    assert numbers.dollars(amount) == words
