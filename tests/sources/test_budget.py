"""A budget on a live campaign: shown, held to, refused past, and raised while it is being followed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from agenttime_tui.budget import ACTION, budget_of
from agenttime_tui.campaign.plan import parse_plan
from agenttime_tui.campaign.run import Run
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.dispatch import Dispatch
from agenttime_tui.look.mode import Mode
from agenttime_tui.opening import Opening, open_plan
from agenttime_tui.panels.chrome import campaign_header
from agenttime_tui.panels.launch import (
    LaunchChoice,
    LaunchForm,
    LaunchOptions,
    LaunchPreview,
    MachineOption,
    TaskOption,
    form_rows,
)
from agenttime_tui.panels.moment import Moment
from agenttime_tui.panels.names import agent_names
from agenttime_tui.panels.state import CampaignHead
from agenttime_tui.sources import pictures
from agenttime_tui.sources.following import Following
from agenttime_tui.sources.offline import Offline
from agenttime_tui.spending import Spent
from agenttime_tui.verbs.context import Context
from agenttime_tui.verbs.run import handed_over
from agenttime_tui.verbs.running import live_campaign
from store.reader import Reader
from tests.link.waiting import until
from tests.sources.small import context

PLAN = """\
name = "thrifty"
studies = ["duration"]
order = "as-listed"
budget_usd = {budget}
[[agent]]
id = "early"
harness = "scripted"
options = {{ persona = "early" }}
[[tasks]]
pack = "demo"
include = ["mend-total"]
requests = ["1s", "2s"]
[machine.local]
slots = 1
engine = "process"
"""
CHOICE = LaunchChoice("duration", "demo", "mend-total", "early", "longest", "local")


def opened(call: Context, budget: str) -> Opening:
    """The campaign with this budget."""
    toml = PLAN.format(budget=budget)
    return open_plan(parse_plan(toml), toml, call.pack_dirs, call.now_utc_ns())


@pytest.mark.slow
async def test_a_reached_budget_holds_what_is_queued_until_it_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / "kept"
    home.mkdir()
    (home / "prices.toml").write_text("[machine.local]\nusd_per_hour = 36000\n")  # ten dollars a second
    call, said = context(home), list[str]()
    opening = opened(call, "1")
    async with live_campaign(call, opening, said=said.append) as live:
        with Reader(call.settings.database) as reader:
            source = Following(call.settings, reader, opening.row, call.now_utc_ns)
            source.attach(live, opening)
            head = (await source.snapshot()).head
            assert (head.spent_usd, head.budget_usd, head.spent_at_least) == (0.0, 1.0, False)
            work = asyncio.create_task(live.run(opening.cells))
            await until(lambda: bool(said))
            await until(lambda: any(run.execution == "ended" for run in live.model.runs()))
            assert said == ["budget of $1 reached; 1 queued cell waits; what runs goes on"]

            snapshot = await source.snapshot()
            (need,) = snapshot.needs
            assert (need.kind, need.title) == ("budget", "budget of $1 reached")
            assert need.brief == "budget of $1 reached; 1 queued cell waits"
            first = next(run for run in snapshot.runs if run.attempt)
            assert first.worked_s is not None
            assert snapshot.head.spent_usd == pytest.approx(10 * first.worked_s)
            preview = await source.preview(CHOICE)
            assert preview.left_usd == 0.0
            assert preview.blockers[0] == "budget of $1 reached: raise budget_usd in the plan and run it again"
            with pytest.raises(UserError, match="raise budget_usd in the plan and run it again"):
                await source.launch(CHOICE)
            assert live.model.by_execution()["planned"] == 1

            assert not handed_over(call, opening), "the same budget again says nothing new"
            assert handed_over(call, opened(call, "5000"))
            assert "has a budget of $5,000 now" in capsys.readouterr().out
            await asyncio.wait_for(work, 60)
            assert live.model.by_execution()["ended"] == 2
            assert not (await source.snapshot()).needs
    with Reader(call.settings.database) as reader:
        (row,) = reader.campaigns()
        assert budget_of(reader, row) == 5000.0
        assert [one.data for one in reader.operator_records(row.id) if one.action == ACTION] == [{"usd": 5000.0}]
        shown = (await Offline(call.settings, reader, row, call.now_utc_ns).snapshot()).head
        assert shown.spent_usd is not None
        assert shown.spent_usd == pytest.approx(10 * sum(run.worked_s or 0 for run in live.model.runs()))
        assert (shown.budget_usd, shown.spent_at_least) == (5000.0, False)


def run(key: str, **fields: Any) -> Run:
    """A cell of a board, tried or not."""
    return Run(key, "c", "duration", "early", "demo", "mend-total", "shortest", 1.0, cell=key, **fields)


def test_one_entry_says_how_many_cells_wait_for_a_higher_budget() -> None:
    queued = [run(str(n)) for n in range(417)]
    tried = run("tried", attempt=1, execution="running")
    (need,) = pictures.over_budget(Spent(3004.0, True, 3000.0), [*queued, tried])
    assert (need.title, need.lines[0]) == ("budget of $3,000 reached", "417 queued cells wait")
    assert need.brief == "budget of $3,000 reached; 417 queued cells wait"
    assert pictures.over_budget(Spent(2999.0, False, 3000.0), queued) == ()
    assert pictures.over_budget(Spent(3004.0, False, 3000.0), [tried]) == (), "nobody waits"


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize(
    ("head", "words"),
    [
        ({"spent_usd": 1204.4, "budget_usd": 3000.0}, "$1,204 of $3,000"),
        ({"spent_usd": 1204.4}, "$1,204"),
        ({"spent_usd": 1204.4, "spent_at_least": True, "budget_usd": 3000.0}, "≥$1,204 of $3,000"),
        ({"budget_usd": 3000.0}, ""),
    ],
)
def test_the_board_says_what_was_spent_at_80_columns(head: dict[str, Any], words: str, ascii_only: bool) -> None:
    mode = Mode(ascii=ascii_only)
    shown = CampaignHead("c", "pilot-3", "duration, following", started_utc_ns=0, left_s=2e5, **head)
    line = campaign_header(80, mode, shown, [run("a")], 0, Moment(112_320 * 10**9))[1].text
    assert line.rstrip().endswith(words.replace("≥", mode.g("bound")) or "left")


async def test_a_launch_past_the_budget_is_refused(tmp_path: Path) -> None:
    call = context(tmp_path)
    opening = opened(call, "1")
    unused = cast(Any, None)
    dispatch = Dispatch(unused, unused, unused, unused, {}, lambda: 0, unused, unused, unused, unused, lambda: "no: $1")
    with pytest.raises(UserError, match=r"no: \$1"):
        await dispatch.launch(opening.cells[0], None, "operator")


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (96, 34), (120, 36)])
def test_the_launch_dialog_keeps_its_costs_in_sight_and_offers_no_launch_past_the_budget(
    width: int, height: int, refused: bool
) -> None:
    agents = tuple(agent_names(["early"], {}).values())
    tasks = (TaskOption("demo", "mend-total", (("shortest", 1.0, "s"),)),)
    options = LaunchOptions("pilot-3", ("duration",), tasks, agents, (MachineOption("local", 2, "process"),))
    why = ("budget of $3,000 reached: raise budget_usd in the plan and run it again",)
    preview = LaunchPreview(
        "line\n" * 60, command="run", worst_usd=14.2, left_usd=1796.0, left_at_most=True,
        blockers=why if refused else (), refused=refused,
    )  # fmt: skip
    form = LaunchForm(options, replace(CHOICE, request="shortest"), preview=preview)
    rows = [row.text for row in form_rows(width, height, Mode(), form)]
    shown = "\n".join(rows)
    assert len(rows) == height
    assert all(words in shown for words in ("$14.20", "left in campaign", "at most $1,796", "more lines"))
    assert (why[0] in shown, "enter  Launch" in shown, "enter  Queue" in shown) == (refused, not refused, False)
