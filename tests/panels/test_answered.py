"""What the card of an asking study says: the answer beside the truth, and nothing where nothing is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agenttime_tui.campaign.run import Run
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import faults
from agenttime_tui.panels.answered import facts, headline, said, short, with_truths
from agenttime_tui.panels.board import draw_line, layout
from agenttime_tui.panels.board_model import build_board
from agenttime_tui.panels.moment import Moment
from agenttime_tui.panels.names import agent_names
from agenttime_tui.panels.run_bars import bars_height, lengths
from agenttime_tui.panels.run_card import card_top, sibling_rows, siblings


def run(study: str, execution: str = "ended", **extra: Any) -> Run:
    return Run(
        id="r", campaign="c", study=study, agent="a", benchmark="b", task="t", request=None, requested_s=None,
        execution=execution, extra=extra,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "head", "sentence"),
    [
        (run("forecast", variant="paper", answer="minutes = 7"), "Forecast", "Says 7 min."),
        (run("forecast", variant="human", answer="MINUTES=7.5\nREASON=so"), "Forecast, human", "Says 7.5 min."),
        (run("forecast", variant="paper", answer="hard to say"), "Forecast", "Gave no number."),
        (run("forecast", "running", variant="paper"), "Forecast", ""),
        (
            run("retrospection", variant="oracle", answer="minutes = 2", truth_s=120.0),
            "Retrospection, oracle",
            "Says 2 min where it was 2 min.",
        ),
        (run("self-score", answer="self_score = 80"), "Self-score", "Says 80 of 100."),
        (run("same-turn", estimate_min=4.0, perceived_min=3.0), "Same turn", "Said 4 min before, 3 min after."),
        (run("eta"), "ETABench", ""),
        (
            run("eta", estimate_min=2.0, sealed_sha256="ab" * 32, passed_s=60.0, verdict="regressed"),
            "ETABench",
            "Estimated 2 min, first passed at 1 min, and no longer passed at the end.",
        ),
        (
            run("eta", sealed_sha256="ab" * 32, estimate_outcome="parse_fail", verdict="never"),
            "ETABench",
            "Gave no estimate, never seen to pass.",
        ),
        (run("natural"), "No time asked", ""),
    ],
)
def test_head_and_sentence(made: Run, head: str, sentence: str) -> None:
    assert (headline(made), said(made)) == (head, sentence)


def test_facts_name_the_window_and_the_share_of_the_estimate() -> None:
    made = run("eta", estimate_min=2.0, sealed_sha256="ab" * 32, passed_s=60.0, last_fail_s=58.0, verdict="passed")
    assert dict(facts(made)) == {
        "estimate": "2 min", "sealed": "abababab", "passed at": "1 min", "window": "2 s", "of estimate": "0.50×",
        "verdict": "passed",
    }  # fmt: skip


def test_an_answer_without_a_number_says_so_and_invents_no_ratio() -> None:
    made = run("retrospection", variant="scrubbed", answer="?", truth_s=90.0, asked_again=True, parent="abcdef0123")
    assert dict(facts(made)) == {
        "says": "no number", "true": "1 min 30 s", "asked again": "yes", "about run": "abcdef01",
    }  # fmt: skip


SAYS_HALF: dict[str, Any] = {"answer": "minutes = 2", "truth_s": 240.0}


@pytest.mark.parametrize(
    ("made", "number", "bars"),
    [
        (run("retrospection", variant="native", **SAYS_HALF), "0.50×", [("Said", 120.0), ("True", 240.0)]),
        (run("forecast", variant="paper", answer="minutes = 2"), "2:00", [("Said", 120.0)]),
        (run("forecast", variant="paper", answer="hard to say"), "", []),
        (run("eta", estimate_min=2.0, passed_s=60.0), "0.50×", [("Estimate", 120.0), ("Passed", 60.0)]),
        (run("eta", estimate_min=2.0), "2:00", [("Estimate", 120.0)]),
        (run("self-score", answer="self_score = 80"), "80", []),
        (run("natural"), None, []),
        (replace(run("natural"), worked_s=90.0), None, [("Worked", 90.0)]),
        (
            replace(run("same-turn", estimate_min=4.0), worked_s=120.0),
            None,
            [("Said", 240.0), ("Worked", 120.0)],
        ),
    ],
)
def test_one_number_and_the_lengths_beside_each_other(made: Run, number: str | None, bars: list[Any]) -> None:
    assert (short(made), lengths(made)) == (number, bars)
    assert bars_height(made) == (0, 3, 5)[len(bars)]
    head = card_top(80, Mode(), made)
    assert len(head) == 5 + bars_height(made)
    assert [label for label, _ in bars if any(label in row.text for row in head)] == [label for label, _ in bars]


def test_a_forecast_gets_the_natural_runtime_of_its_agent_and_task_as_its_truth_and_others_times_do_not() -> None:
    natural = replace(run("natural"), id="n", worked_s=240.0, counts="yes", ending="own")
    own = run("forecast", variant="p1", answer="minutes = 2")
    human = replace(run("forecast", variant="human", answer="MINUTES=2\nREASON=so"), id="h")
    made, kept = with_truths([own, human], [natural])
    assert (short(made), short(kept)) == ("0.50×", "2:00")
    (elsewhere,) = with_truths([own], [replace(natural, task="other")])
    assert elsewhere is own


def test_the_answers_of_a_task_stand_below_each_other_by_their_condition() -> None:
    runs = [replace(run("retrospection", condition=name, **SAYS_HALF), id=name) for name in ("oracle", "native")]
    mine, others = siblings(runs[0], runs)
    text = [row.text for row in sibling_rows(90, Mode(), runs[0], mine, others, agent_names(["a"], {}))]
    assert "said/true" in text[1]
    assert [line.split()[-7:] for line in text[2:]] == [
        [name, "2", "min", "4", "min", "0.50×", "–"] for name in ("oracle", "native")
    ]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("minutes", ["7", "100000", "1" + "0" * 9, "9" * 26])
def test_any_number_and_any_name_is_drawn_at_once_and_in_its_place(width: int, minutes: str) -> None:
    hostile = "\x1b[2J[bold]" + "x" * 10_000
    said_so = run("forecast", variant=hostile, answer=f"minutes = {minutes}", truth_s=61.0)
    mode, names = Mode(), agent_names(["a"], {})
    for one in (said_so, replace(said_so, extra=said_so.extra | {"truth_s": None})):
        assert faults(card_top(width, mode, one)) == []
    assert faults(sibling_rows(width, mode, said_so, [said_so], [], names)) == []
    board = build_board([said_so])
    place = layout(width, 1)
    drawn = [
        draw_line(place, mode, line, Moment(0), True, True, cursor)
        for line in board.lines(frozenset({"forecast/b"}))
        for cursor in (None, 0)
    ]
    assert faults(drawn) == []


def test_a_truth_from_a_stopped_run_is_a_lower_bound() -> None:
    stopped = replace(run("natural"), id="n", worked_s=7200.0, lower_bound=True, ending="cutoff", counts="yes")
    (told,) = with_truths([run("forecast", variant="paper", answer="minutes = 30")], [stopped])
    assert said(told) == "Says 30 min where it was at least 2 h."
    assert dict(facts(told))["true"] == "at least 2 h"
    assert "≥ 2 h" in "".join(row.text for row in card_top(120, Mode(), told))
