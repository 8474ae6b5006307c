"""A plan's budget at the command line: what it can cost, what was spent, and going on when it is raised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.app import App, plan_text

PRICES = "[machine.local]\nusd_per_hour = 36000\n"


def prices(app: App, text: str = PRICES) -> None:
    """Writes the operator's prices: ten dollars a second."""
    app.home.mkdir(exist_ok=True)
    (app.home / "prices.toml").write_text(text)


def plan(app: App, budget: str, *requests: str) -> Path:
    """A plan whose agent ends early, one run at a time."""
    text = plan_text(*(requests or ("1s", "2s")), persona="early", slots=1)
    return app.file("plan.toml", (f"budget_usd = {budget}\n" if budget else "") + text)


def campaign(app: App, verb: str = "status") -> dict[str, Any]:
    """What a read says of the only campaign."""
    (one,) = app.json(verb)["campaigns"]
    found: dict[str, Any] = one
    return found


def test_a_reached_budget_ends_a_run_and_a_raised_one_goes_on_with_the_same_campaign(app: App) -> None:
    prices(app)
    path = plan(app, "0.01")
    first = app.call("run", path, "--plain")
    assert first.code == 3
    told, sentence = first.err.splitlines()
    assert told == "budget of $0.01 reached; 1 queued cell waits; what runs goes on"
    assert sentence == (
        f"agenttime: budget of $0.01 reached; 1 queued cell waits: raise budget_usd in {path} and run it again"
    )
    before = campaign(app)
    assert before["counts"] == {"ended": 1, "planned": 1}
    assert before["spent_usd"] == pytest.approx(10 * sum(run["worked_s"] or 0 for run in app.runs()))
    assert (before["budget_usd"], before["spent_is_lower_bound"]) == (0.01, False)
    (need,) = app.json("status")["needs_you"]
    assert need == "budget of $0.01 reached; 1 queued cell waits: raise budget_usd in the plan and run it again"
    assert app.call("run", path, "--plain").err.splitlines() == [sentence], "nothing runs: it ends at once"
    prices(app, "[machine.local\n")
    (need,) = app.json("status")["needs_you"]
    assert need.startswith(f"prices {app.home / 'prices.toml'}, line 1"), need
    assert campaign(app)["spent_usd"] is None
    prices(app)
    assert len(app.runs()) == 2

    assert app.call("run", plan(app, "9000"), "--plain").ok().err == ""
    after = campaign(app)
    assert (after["id"], after["counts"]) == (before["id"], {"ended": 2})
    keys = ("spent_usd", "budget_usd", "spent_is_lower_bound")
    assert after["budget_usd"] == 9000
    assert [campaign(app, "report")[key] for key in keys] == [after[key] for key in keys]
    assert " of $9,000" in app.call("status").out
    assert "\nspent: $" in app.call("report").out

    assert app.call("run", plan(app, ""), "--plain").ok().err == ""
    assert campaign(app)["budget_usd"] is None, "a plan without the key takes the budget away"


def test_a_plan_says_what_it_can_cost_of_its_budget(app: App) -> None:
    prices(app)
    enough = app.call("plan", plan(app, "500", "30s")).ok().out
    assert "then it costs at most $600.00 of a budget of $500, by" in enough
    assert "! the plan can cost up to $600.00, more than its budget of $500" in enough
    answer = app.json("plan", plan(app, "600", "30s"))
    assert (answer["cost_ceiling"], answer["budget_usd"], answer["remarks"]) == (600.0, 600.0, [])
    assert app.json("plan", plan(app, "", "30s"))["budget_usd"] is None


def test_a_budget_without_prices_is_said_not_to_be_kept(app: App) -> None:
    (remark,) = app.json("plan", plan(app, "3000", "30s"))["remarks"]
    assert remark == "budget of $3,000: what has no price (machine.local) counts as nothing"
    prices(app, "[machine.local\n")
    assert "prices.toml" in app.call("run", plan(app, "3000", "30s"), "--plain").sentence(2)


@pytest.mark.slow
def test_what_has_no_price_is_not_shown(app: App) -> None:
    path = plan(app, "3000", "1s")
    (remark,) = app.call("run", path, "--plain").ok().err.splitlines()
    assert remark == (
        f"! the budget of $3,000 is not kept: {app.home / 'prices.toml'} has no price of a machine or a model"
    )
    shown = campaign(app)
    assert (shown["spent_usd"], shown["budget_usd"], shown["spent_is_lower_bound"]) == (None, 3000.0, False)
    assert "$" not in app.call("status").out + app.call("report").out
