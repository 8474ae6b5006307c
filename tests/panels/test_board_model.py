"""The board: renewed from a few changed runs it is the one that would be built anew, and nothing else is made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agenttime_tui.campaign.run import Run
from agenttime_tui.panels.board_model import build_board, renewed
from agenttime_tui.recording import recorded

RUNS = list(recorded("pilot").snapshot_now.runs)


def changed(runs: list[Run], number: int, **fields: Any) -> list[Run]:
    """The runs with one that is another object."""
    return [replace(run, **fields) if at == number else run for at, run in enumerate(runs)]


def test_nothing_changed_is_the_same_board() -> None:
    board = build_board(RUNS)
    assert renewed(board, RUNS, list(RUNS)) is board


def test_changed_runs_make_the_board_that_would_be_built_and_keep_other_groups() -> None:
    board = build_board(RUNS)
    at = next(n for n, run in enumerate(RUNS) if run.execution == "running")
    now = changed(RUNS, at, execution="ended", ending="own", worked_s=RUNS[at].requested_s, counts="yes")
    found = renewed(board, RUNS, now)
    assert found == build_board(now)
    assert found != board
    assert found is not None
    others = [one for one, before in zip(found.groups, board.groups, strict=True) if one is before]
    assert len(others) == len(board.groups) - 1


@pytest.mark.parametrize("fields", [{"attempt": 9}, {"task": "other"}, {"agent": "other"}, {"requested_s": 7.0}])
def test_a_run_that_belongs_elsewhere_asks_for_a_new_board(fields: dict[str, Any]) -> None:
    assert renewed(build_board(RUNS), RUNS, changed(RUNS, 3, **fields)) is None


def test_more_runs_ask_for_a_new_board() -> None:
    assert renewed(build_board(RUNS), RUNS, [*RUNS, replace(RUNS[0], id="one-more")]) is None
