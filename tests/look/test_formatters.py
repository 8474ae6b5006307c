from __future__ import annotations

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from agenttime_tui.campaign.run import side
from agenttime_tui.look import durations, numbers
from agenttime_tui.look.cellwidth import cells, fit, wrap
from agenttime_tui.look.marks import side_ink

SECONDS = st.floats(min_value=0, max_value=3.5e6)


SIZES_S = {"d": 86400, "h": 3600, "m": 60}


def seconds_of(text: str) -> int:
    if ":" not in text:
        return sum(int(number) * SIZES_S[unit] for number, unit in re.findall(r"(\d+)([dhm])", text))
    total = 0
    for piece in text.split(":"):
        total = total * 60 + int(piece)
    return total


@given(SECONDS)
def test_a_running_clock_never_runs_ahead_and_fits_its_slot(seconds: float) -> None:
    text = durations.clock(seconds)
    assert len(text) <= 7
    shown = seconds_of(text)
    grain_s = 1 if seconds < 36000 else 60 if seconds < 360000 else 3600
    assert shown <= seconds < shown + grain_s


def test_clock_forms() -> None:
    assert [durations.clock(s) for s in (0, 59.99, 192.4, 3731, 35999.9, 36000, 214320)] == [
        "0:00", "0:59", "3:12", "1:02:11", "9:59:59", "10h 00m", "59h 32m",
    ]  # fmt: skip


def test_requests_read_as_the_prompt_said_them() -> None:
    assert durations.asked_text(75) == "1.25 min"
    assert durations.asked_text(7500) == "125 min"
    assert durations.asked_text(18000) == "5 h"
    assert durations.asked_text(18000, "min") == "300 min"
    assert durations.asked_text(216000) == "60 h"
    assert durations.asked_text(45) == "45 s"


def test_worked_times_follow_the_review_rule() -> None:
    assert [durations.worked(s) for s in (27.4, 59.6, 300, 930.6, 3599.7, 30000.1, 7200)] == [
        "27 s", "1 min", "5 min", "15 min 31 s", "1 h", "8 h 20 min", "2 h",
    ]  # fmt: skip


@given(SECONDS)
def test_worked_times_are_within_half_a_unit(seconds: float) -> None:
    pieces = re.findall(r"(\d+) (h|min|s)", durations.worked(seconds))
    if seconds >= durations.LONG_S:
        return
    total = sum(int(number) * durations.UNITS_S[unit] for number, unit in pieces)
    assert abs(total - seconds) <= (0.5 if seconds < 3599.5 else 30)


def test_spans_and_chips() -> None:
    assert durations.span(112320) == "31 h 12 min"
    assert durations.span(187200) == "2 d 4 h"
    assert durations.chip(30000) == "8.33 h"
    assert [durations.worked(s) for s in (3_596_400, 6e6, 6e10, 6e27)] == ["999 h", "69 d 11 h", "694444 d", "7e+22 d"]
    assert durations.chip(6e6) == "69 d"
    assert [durations.clock(s) for s in (6e6, 6e7, 6e27)] == ["69d 10h", "694d", ">99999d"]
    assert durations.chip(150) == "2.5 min"
    assert [durations.edge(s) for s in (2.85, 285)] == ["2.85 s", "4:45"]
    assert [durations.coarse(s) for s in (42, 260, 7300)] == ["42 s", "4 min", "2 h"]
    assert [durations.age(s) for s in (12.9, 250, 7300, 200000)] == ["12s", "4m", "2h", "2d"]


@given(st.floats(min_value=0, max_value=1e9))
def test_factors_fit_their_slot(ratio: float) -> None:
    text = numbers.factor(ratio)
    assert len(text) <= 7
    if ratio < 999:
        assert abs(float(text[:-1]) - ratio) <= 0.005001


def test_numbers_as_printed() -> None:
    assert numbers.factor(1.0357) == "1.04×"
    assert numbers.factor(30) == "30.00×"
    assert numbers.factor(557.62) == "557.62×"
    assert numbers.factor(math.inf) == "–"
    assert numbers.share(0.6291) == "63"
    assert numbers.count(1991) == "1,991"
    assert numbers.money(1204.2) == "$1,204"
    assert numbers.money(0.3149, cents=True) == "$0.31"
    assert numbers.compact(41234) == ("41.2", "k")
    assert numbers.compact(999) == ("999", "")
    assert numbers.size(41_200) == "41 kB"
    assert numbers.size(212e9) == "212 GB"


@given(st.text(max_size=60))
def test_parts_lose_nothing(text: str) -> None:
    assert "".join(piece for piece, _ in numbers.parts(text)) == text


def test_units_are_quieter_than_digits() -> None:
    assert numbers.parts("8 h 20 min") == [("8", "fg"), (" h ", "dim"), ("20", "fg"), (" min", "dim")]
    assert numbers.parts("$1,204 of $3,000")[1] == ("1,204", "fg")


@given(st.integers(1, 400_000_000), st.integers(1, 400_000_000))
def test_the_ink_of_a_ratio_is_the_side_of_its_run(worked_ms: int, requested_ms: int) -> None:
    names = {"early": "short", "on_time": "within", "late": "long"}
    assert side_ink(worked_ms / requested_ms) == names[side(worked_ms / 1000, requested_ms / 1000)]


@given(st.text(alphabet=st.sampled_from("ab 漢é "), max_size=80), st.integers(2, 30))
def test_wrapping_loses_only_blanks_and_keeps_the_width(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cells(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_wrapping_keeps_the_request_in_one_piece() -> None:
    lines = wrap("Please work on this task for a full 5 minutes. Go on.", 34, keep="full 5 minutes")
    assert sum("full 5 minutes" in line for line in lines) == 1


@given(st.text(max_size=60), st.integers(0, 40))
def test_fitting_never_overflows(text: str, width: int) -> None:
    assert cells(fit(text, width)) <= max(width, 0) or cells(text) <= width
