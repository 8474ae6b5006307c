from __future__ import annotations

from dataclasses import replace

import pytest

from agenttime_tui.campaign.report import build_report
from agenttime_tui.campaign.run import GradeFact, Run, TimeFact
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import faults
from agenttime_tui.panels.agent_card import agent_card, rank_text
from agenttime_tui.panels.benchmark_card import asked_list, benchmark_card
from agenttime_tui.panels.names import agent_names
from agenttime_tui.panels.run_card import run_notes
from agenttime_tui.panels.spots import Page, step, task_of
from agenttime_tui.panels.task_card import task_card

ASKED = (("shortest", 300.0), ("middle", 1200.0), ("longest", 4800.0))
NAMES = agent_names(["one", "two"], {"one": "Codex 0.153.4, max"})
WIDTHS = (60, 80, 120, 200)
MODES = (Mode(), Mode("light"), Mode("mono", ascii=True))


def run(agent: str, task: str, request: str, asked_s: float, ratio: float, **more: object) -> Run:
    graded = GradeFact("scored", 0.5, 50.0, ratio > 1)
    fields = {"ending": "own", "execution": "ended", "counts": "yes", "attempt": 1, "grade": graded, **more}
    identity = f"{agent}{task}{request}{more.get('attempt', 1)}{more.get('study', '')}"
    return replace(Run(identity, "c", "duration", agent, "bench", task, request, asked_s, asked_s * ratio), **fields)  # type: ignore[arg-type]


def campaign() -> list[Run]:
    facts = {"observed": {"facts": {"model": "one-large", "version": "0.153.4", "effort": "max"}}, "route": "direct"}
    runs = [
        run(agent, task, request, asked_s, 1.0 + 0.1 * n, extra=facts)
        for n, agent in enumerate(("one", "two"))
        for task in ("a", "b")
        for request, asked_s in ASKED
    ]
    cut = run("two", "a", "longest", 4800.0, 2.0, ending="cutoff", lower_bound=True, checks_failed=("clock_tool",))
    runs[8] = cut
    old = run("one", "a", "shortest", 300.0, 0.1, attempt=0, counts="no", counts_reason="superseded by attempt 1")
    natural = run("one", "a", "natural", 0, 1, study="natural", requested_s=None, worked_s=600.0)
    said = run("one", "a", "", 0, 1, study="forecast", requested_s=None, worked_s=None, extra={"minutes": 30})
    eta = run("two", "a", "", 0, 1, study="eta", requested_s=None, worked_s=None,
              extra={"estimate_min": 10, "passed_s": 1200})  # fmt: skip
    return [*runs, replace(old, id="old", attempt=1), natural, replace(said, request=None), replace(eta, request=None)]


def text_of(page: Page) -> str:
    assert faults(page.rows) == []
    assert all(0 <= spot.y < len(page.rows) and 0 <= spot.x0 < spot.x1 <= page.width for spot in page.spots)
    return "\n".join(row.text for row in page.rows)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", MODES, ids=["dark", "light", "ascii"])
def test_an_agents_card_says_what_its_transcripts_and_its_runs_say(width: int, mode: Mode) -> None:
    runs = campaign()
    report = build_report(runs)
    page = agent_card(width, 20, mode, NAMES["two"], report, runs)
    text = text_of(page)
    assert rank_text("two", report) == "2 of 2 on timing error"
    for words in ("By request", "longest", "within task 1.", "bench", "one-large", "0.153.4", "1 clock tool", "direct"):
        assert words in text, words
    assert "1 cutoff" in text
    assert "1 of 6 runs were stopped" in " ".join(text.split())
    assert [spot.key for spot in page.spots] == ["bench"]


def test_an_agent_without_a_timed_run_has_a_card_that_says_so() -> None:
    runs = [replace(run("one", "a", "shortest", 300.0, 1.0), execution="running", worked_s=None, counts="pending")]
    page = agent_card(80, 20, Mode(), NAMES["one"], build_report(runs), runs)
    assert "No counted run" in text_of(page)
    assert rank_text("one", build_report(runs)) == "no timed run yet"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", MODES, ids=["dark", "light", "ascii"])
def test_a_benchmarks_card_says_how_it_is_graded_and_opens_its_tasks(width: int, mode: Mode) -> None:
    runs = campaign()
    pack = {
        "pack": "bench", "needs": ["a GPU"], "state": "ready", "source": "bundled",
        "grade": {"key": "reward", "bounds": [0, 1], "percent": "100*reward", "better": "higher", "where": "separate",
                  "pass": {"key": "reward", "min": 1}, "judge": "o3"},
    }  # fmt: skip
    page = benchmark_card(width, 20, mode, "bench", build_report(runs), runs, NAMES, pack)
    text = " ".join(text_of(page).split())
    for words in ("reward, 0 to 1, higher is better", "in an environment of its own; judge o3", "reward of at least 1",
                  "a GPU", "ready", "5, 20, 80 min", "Tasks 2", "1.00" + mode.g("times")):  # fmt: skip
        assert words in text, words
    assert [task_of(spot.key) for spot in page.spots if spot.kind == "task"] == [("bench", "a"), ("bench", "b")]
    assert {spot.key for spot in page.spots if spot.kind == "agent"} == {"one", "two"}


def test_an_import_without_a_pack_claims_no_pass_rule() -> None:
    runs = [replace(one, grade=GradeFact("scored", 0.5, 50.0, None)) for one in campaign()]
    text = text_of(benchmark_card(100, 20, Mode(), "bench", build_report(runs), runs, NAMES, {}))
    assert "no run says whether it passed" in text
    assert "not known" in text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", MODES, ids=["dark", "light", "ascii"])
def test_a_tasks_card_opens_every_run_and_sets_answers_beside_the_runtime(width: int, mode: Mode) -> None:
    runs = [one for one in campaign() if one.task == "a"]
    page = task_card(width, mode, runs, NAMES, ["one", "two"])
    text = " ".join(text_of(page).split())
    assert f"10 min 30 min 3.00{mode.g('times')}" in text, "natural runtime, forecast and its factor over it"
    if width >= 80:
        assert f"2.00{mode.g('times')}" in text
        assert "left out: sup" in text
    assert f"{mode.g('bound')}2.00{mode.g('times')}" in text
    opened = [spot.key for spot in page.spots if spot.kind == "run"]
    assert set(opened) == {one.id for one in runs if one.attempt}
    assert "old" not in opened[:6], "the grid shows the attempt that counts"


def test_the_cursor_reaches_every_spot_of_a_card_by_arrow_keys() -> None:
    runs = [one for one in campaign() if one.task == "a"]
    spots = task_card(120, Mode(), runs, NAMES, ["one", "two"]).spots
    reached, waiting = set(), [spots[0]]
    while waiting:
        here = waiting.pop()
        if here in reached:
            continue
        reached.add(here)
        ways = (step(spots, here, dx, dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))
        waiting += [spot for spot in ways if spot is not None]
    assert reached == set(spots)


def test_units_stay_apart_where_requests_differ_in_them() -> None:
    assert asked_list([300.0, 1200.0]) == "5, 20 min"
    assert asked_list([4800.0, 18000.0]) == "80 min, 5 h"


def test_a_time_in_doubt_keeps_its_run_in_the_grid() -> None:
    doubtful = replace(run("one", "a", "shortest", 300.0, 1.0), time=TimeFact("review", "session"), counts="pending")
    assert "1.00" in text_of(task_card(80, Mode(), [doubtful], NAMES, ["one"]))


@pytest.mark.parametrize("capture", ["none", "streaming", "failed", "complete"])
def test_a_run_card_says_when_nothing_whole_was_captured(capture: str) -> None:
    held = replace(run("one", "a", "shortest", 300.0, 1.0), time=TimeFact("valid", "session"), capture=capture)
    said = [text for glyph, text in run_notes(held, [held]) if glyph == "error"]
    assert len(said) == (capture != "complete")
    imported = replace(held, time=TimeFact("valid", "imported"))
    assert not [text for glyph, text in run_notes(imported, [imported]) if glyph == "error"]


def test_a_run_card_says_why_there_is_no_score() -> None:
    one = run("one", "a", "shortest", 300.0, 1.0)
    ungraded = replace(one, grade=GradeFact("not_graded"), extra={"grade_detail": "the judge has no\x1b[2J key"})
    (said,) = [text for _, text in run_notes(ungraded, [ungraded]) if "judge" in text]
    assert said.startswith("Not graded: the judge has no")
    assert "\x1b" not in said
    assert not any("judge" in text for _, text in run_notes(one, [one]))


def test_a_task_without_a_request_shows_each_agents_natural_runtime() -> None:
    natural = replace(run("one", "a", "natural", 60.0, 1.0), study="natural", requested_s=None, worked_s=75.0)
    page = benchmark_card(120, 40, Mode(), "bench", build_report([natural]), [natural], NAMES, {})
    (line,) = [row.text for row in page.rows if row.text.split()[:1] == ["a"]]
    assert line.split() == ["a", "1:15"]
