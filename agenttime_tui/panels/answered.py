"""What a run of an asking study says: the answer beside the truth, the sealed estimate beside the first success."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from agenttime_tui.campaign import report_answers as answers
from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations, numbers
from agenttime_tui.look.sanitise import clean

WORDS = {
    "natural": "No time asked",
    "forecast": "Forecast",
    "retrospection": "Retrospection",
    "same-turn": "Same turn",
    "self-score": "Self-score",
    "eta": "ETABench",
}
VERDICTS = {
    "passed": "and still passed at the end",
    "regressed": "and no longer passed at the end",
    "never": "never seen to pass",
}


def headline(run: Run) -> str:
    """The study and its variant, as the head of a run without a request."""
    word, which = WORDS.get(run.study, "No request"), clean(str(run.extra.get("variant") or ""))
    return f"{word}, {which}" if which and which != answers.PAPER else word


def variant(run: Run) -> str:
    """Which of its study's questions a run answers; empty where there is one alone."""
    return clean(str(run.extra.get("condition") or run.extra.get("variant") or ""))


STOPPED = "runtime_stopped"
"""Whether the run that the truth was taken from was stopped: its time is a lower bound."""


class Said(NamedTuple):
    """What a run said and what was true, in seconds; NaN for what is not known."""

    said_s: float = math.nan
    true_s: float = math.nan
    factor: float = math.nan
    """Said over true; of a sealed estimate, as ETABench has it, true over said."""


COLUMNS = {
    "forecast": ("said", "true", "said/true"),
    "retrospection": ("said", "true", "said/true"),
    "same-turn": ("said", "worked", "said/true"),
    "eta": ("estimate", "passed", "ratio"),
}
"""What stands in the place of asked, worked and ratio."""


def both(run: Run) -> Said:
    """The time that a run said and the true one beside it."""
    extra = run.extra
    if run.study == "eta":
        said_s, true_s = 60 * answers.as_number(extra.get("estimate_min")), answers.as_number(extra.get("passed_s"))
        return Said(said_s, true_s, true_s / said_s if said_s > 0 and true_s > 0 else math.nan)
    if run.study in ("forecast", "retrospection"):
        said_s, true_s = 60 * answers.minutes(run), answers.as_number(extra.get("truth_s"))
    elif run.study == "same-turn":
        said_s, true_s = 60 * answers.same_turn(run, "ESTIMATE_MINUTES"), answers.as_number(run.worked_s)
    else:
        return Said()
    return Said(said_s, true_s, said_s / true_s if said_s > 0 and true_s > 0 else math.nan)


def with_truths(shown: Sequence[Run], runs: Iterable[Run]) -> list[Run]:
    """Forecasts of an agent's own time with the natural runtime among `runs` beside them; others as they are."""
    own = ("", answers.PAPER, *answers.SEPARATE_TURN)
    lacking = {
        run.id: answers.cell(run)
        for run in shown
        if run.study == "forecast" and variant(run) in own and "truth_s" not in run.extra
    }
    about = set(lacking.values())
    natural = answers.naturals(one for one in runs if one.study == "natural" and answers.cell(one) in about)
    return [
        replace(run, extra=run.extra | {"truth_s": truth.seconds, STOPPED: truth.stopped})
        if run.id in lacking and (truth := natural.get(answers.cell(run))) is not None
        else run
        for run in shown
    ]


def short(run: Run, times: str = "×") -> str | None:
    """An ended run's one number: how what it said compares with the truth, else what it said; empty without an answer,
    None where its time is the number."""
    if run.study == "self-score":
        score = answers.self_score(run)
        return f"{score:.0f}" if known(score) else ""
    if run.study not in ("forecast", "retrospection", "eta"):
        return None
    told = both(run)
    if known(told.factor):
        return numbers.factor(told.factor, times)
    return durations.clock(told.said_s) if known(told.said_s) else ""


def said(run: Run) -> str:
    """The answer as one sentence; empty where nothing was asked or is known yet."""
    if run.study == "eta":
        return _eta(run)
    if run.study == "same-turn":
        before, after = (answers.same_turn(run, key) for key in ("ESTIMATE_MINUTES", "PERCEIVED_MINUTES"))
        parts = [f"said {_minutes(before)} before" if known(before) else "", f"{_minutes(after)} after" * known(after)]
        return _sentence(", ".join(part for part in parts if part))
    if run.study == "self-score":
        score = answers.self_score(run)
        return f"Says {score:.0f} of 100." if known(score) else _nothing(run)
    if run.study not in ("forecast", "retrospection"):
        return ""
    minutes = answers.minutes(run)
    truth_s = answers.as_number(run.extra.get("truth_s"))
    if not known(minutes):
        return _nothing(run)
    beside = f" where it was {at_least(run)}{durations.worked(truth_s)}" if known(truth_s) else ""
    return f"Says {_minutes(minutes)}{beside}."


def facts(run: Run) -> Iterator[tuple[str, str]]:
    """(name, value) of what the study adds to a run's facts; only what is known."""
    extra = run.extra
    if run.study == "eta":
        estimate, passed_s = answers.as_number(extra.get("estimate_min")), answers.as_number(extra.get("passed_s"))
        if known(estimate):
            yield "estimate", _minutes(estimate)
        elif "estimate_outcome" in extra:
            yield "estimate", f"none: {extra.get('estimate_reason') or extra['estimate_outcome']}"
        if extra.get("sealed_sha256"):
            yield "sealed", str(extra["sealed_sha256"])[:8]
        if known(passed_s):
            yield "passed at", durations.worked(passed_s)
            failed_s = answers.as_number(extra.get("last_fail_s"))
            yield "window", durations.worked(passed_s - (failed_s if known(failed_s) else 0.0))
            if estimate > 0:
                yield "of estimate", numbers.factor(passed_s / 60 / estimate)
        if extra.get("verdict"):
            yield "verdict", str(extra["verdict"])
        return
    if run.study in ("forecast", "retrospection"):
        minutes, truth_s = answers.minutes(run), answers.as_number(extra.get("truth_s"))
        yield "says", _minutes(minutes) if known(minutes) else "no number"
        if known(truth_s):
            yield "true", at_least(run) + durations.worked(truth_s)
            if known(minutes) and truth_s > 0:
                yield "said/true", numbers.factor(minutes * 60 / truth_s)
    if run.study == "self-score" and known(score := answers.self_score(run)):
        yield "says", f"{score:.0f} of 100"
    if run.study == "same-turn":
        for name, key in (("before", "ESTIMATE_MINUTES"), ("after", "PERCEIVED_MINUTES")):
            if known(minutes := answers.same_turn(run, key)):
                yield f"said {name}", _minutes(minutes)
        if known(score := answers.same_turn(run, "SELF_SCORE")):
            yield "says", f"{score:.0f} of 100"
    if extra.get("asked_again"):
        yield "asked again", "yes"
    if extra.get("parent"):
        yield "about run", str(extra["parent"])[:8]


def at_least(run: Run) -> str:
    """Before a true time that is a lower bound, as the run that it was taken from was stopped."""
    return "at least " if run.extra.get(STOPPED) is True else ""


def known(value: float) -> bool:
    """Whether there is a number."""
    return math.isfinite(value)


def _eta(run: Run) -> str:
    estimate = answers.as_number(run.extra.get("estimate_min"))
    passed_s = answers.as_number(run.extra.get("passed_s"))
    before = f"estimated {_minutes(estimate)}" if known(estimate) else "gave no estimate"
    if "sealed_sha256" not in run.extra and not known(estimate):
        return ""
    verdict = VERDICTS.get(str(run.extra.get("verdict")), "")
    after = f"first passed at {durations.worked(passed_s)}" if known(passed_s) else ""
    return _sentence(", ".join(part for part in (before, after, verdict) if part))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _nothing(run: Run) -> str:
    return "Gave no number." if run.execution == "ended" else ""


def _minutes(minutes: float) -> str:
    return f"{minutes:g} min"
