"""The machine-readable answers as the documentation promises them: a checker that names what differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Check = Callable[[Any], bool]
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
REQUESTS = ("shortest", "middle", "longest", "natural", None)
EXECUTIONS = ("planned", "staged", "preparing", "running", "ended", "unknown", "lost")


def differences(value: Any, shape: Any, at: str = "") -> Iterator[str]:
    """Every place where `value` is not of `shape`; keys more than the shape has are allowed."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            yield f"{at} is no object: {value!r:.80}"
            return
        for key, inner in shape.items():
            if key not in value:
                yield f"{at}.{key} is missing"
            else:
                yield from differences(value[key], inner, f"{at}.{key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{at} is no list: {value!r:.80}"
            return
        for number, item in enumerate(value):
            yield from differences(item, shape[0], f"{at}[{number}]")
    elif not shape(value):
        yield f"{at} is {value!r:.80}"


def check(value: Any, shape: Any) -> None:
    """Fails with the first differences."""
    assert not (found := list(differences(value, shape))), found[:10]


def text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def truth(value: Any) -> bool:
    return isinstance(value, bool)


def whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def number(value: Any) -> bool:
    return whole(value) or isinstance(value, float)


def utc(value: Any) -> bool:
    return isinstance(value, str) and UTC.fullmatch(value) is not None


def interval(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(number, value)) and value[0] <= value[1]


def anything(value: Any) -> bool:
    return True


def maybe(inner: Check) -> Check:
    """Null, or what `inner` takes."""
    return lambda value: value is None or inner(value)


def one_of(*known: Any) -> Check:
    """One of these values."""
    return lambda value: value in known


def each(shape: Any) -> Check:
    """An object whose values all have the shape."""
    return lambda value: isinstance(value, dict) and not any(list(differences(one, shape)) for one in value.values())


ANSWER = {"schema": lambda value: value == 1, "as_of": utc}
TEXTS = [text]

RUN = {
    "id": text,
    "campaign": text,
    "study": one_of("duration", "natural", "forecast", "retrospection", "same-turn", "self-score", "eta"),
    "agent": text,
    "benchmark": text,
    "task": text,
    "request": one_of(*REQUESTS),
    "requested_s": maybe(number),
    "worked_s": maybe(number),
    "lower_bound": truth,
    "ratio": maybe(number),
    "side": one_of("early", "on_time", "late", "unknown"),
    "ending": one_of(
        None, "own", "cutoff", "error", "provider_limit", "refusal", "operator_stop", "lost", "unlabelled"
    ),
    "execution": one_of(*EXECUTIONS),
    "capture": one_of("none", "streaming", "complete", "failed", "deleted"),
    "time": {
        "status": one_of("none", "live", "valid", "review", "invalid"),
        "basis": maybe(one_of("session", "result", "drained", "engine_event", "imported")),
        "interval_s": maybe(interval),
        "flags": TEXTS,
    },
    "grade": {
        "status": one_of("pending", "scored", "empty", "grader_error", "not_graded", "refused"),
        "value": maybe(number),
        "percent": maybe(number),
        "passed": maybe(truth),
    },
    "counts": one_of("yes", "no", "pending"),
    "counts_reason": maybe(text),
    "checks_failed": TEXTS,
    "label": maybe(text),
    "machine": maybe(text),
    "attempt": whole,
    "engine": maybe(one_of("docker", "process")),
}
RUNS = ANSWER | {"runs": [RUN]}

SHARE = {"n": whole, "of": whole, "share": maybe(number), "ci": maybe(interval)}
ESTIMATE = {"value": maybe(number), "ci": maybe(interval), "n": whole}
GROUP = {
    "runs": whole,
    "on_time": SHARE,
    "early": SHARE,
    "late": SHARE,
    "met": SHARE,
    "lower_bounds": whole,
    "timing_error": ESTIMATE,
    "timing_error_pooled": ESTIMATE,
}
AGENT = GROUP | {
    "agent": text,
    "partial": truth,
    "slope_pooled": ESTIMATE,
    "slope_within": ESTIMATE,
    "slope_task_mean": ESTIMATE,
    "score_change": maybe(
        lambda value: not list(differences(value, dict.fromkeys(("higher", "same", "lower"), SHARE)))
    ),
    "by_request": each(GROUP),
    "by_benchmark": each(GROUP),
}
REPORT = ANSWER | {
    "agents": [AGENT],
    "suite_score": each({"value": maybe(number), "ci": maybe(interval), "cells": whole}),
    "forecast": each(
        dict.fromkeys(("n", "missing", "zeros"), whole)
        | dict.fromkeys(("miss", "too_high", "bias", "slope", "median_forecast_s", "median_runtime_s"), anything)
    ),
    "retrospection": each(each({"n": whole, "of": whole, "asked_again": anything, "miss": anything})),
    "eta": each(
        dict.fromkeys(("n", "never_passed"), whole)
        | dict.fromkeys(
            (
                "prediction_ratio_actual_over_estimate",
                "median_absolute_error_minutes",
                "underestimation_rate",
                "within_2x_rate",
            ),
            anything,
        )
    ),
    "effort": {
        "attempts": whole,
        "counted": whole,
        "left_out": whole,
        "hours_requested": number,
        "hours_worked": number,
        "tokens": anything,
        "cost": anything,
    },
    "notes": [{"id": text, "text": text, "n": whole}],
    "definitions": each(text),
    "version": text,
}

MONEY = {"spent_usd": maybe(number), "budget_usd": maybe(number), "spent_is_lower_bound": truth}
STATUS = ANSWER | {
    "campaigns": [
        {"id": text, "name": text, "kind": text, "created": utc, "cells": whole, "counts": each(whole)} | MONEY,
    ],
    "machines": [{"name": text, "seen": utc, "facts": anything}],
    "ended_since": [RUN],
    "needs_you": TEXTS,
}
SHOW = ANSWER | {
    "run": RUN | {"cutoff_s": maybe(number)},
    "siblings": [RUN],
    "operator_records": [{"at": utc, "by": text, "action": text, "data": anything}],
}
EVENTS = ANSWER | {
    "run": text,
    "events": [
        {
            "seq": whole,
            "kind": text,
            "boot_id": text,
            "t_boot_ns": whole,
            "t_mono_ns": whole,
            "t_utc_ns": whole,
            "data": each(anything),
        }
    ],
}
TRANSCRIPT = ANSWER | {
    "run": text,
    "transcript": [{"seq": whole, "offset_s": number, "stream": one_of("out", "err"), "offset": whole}],
}
PLAN = ANSWER | {
    "campaign": text,
    "name": text,
    "plan_hash": text,
    "cells": [
        {
            "id": text,
            "study": text,
            "agent": text,
            "benchmark": text,
            "task": text,
            "request": one_of(*REQUESTS),
            "requested_s": maybe(number),
            "cutoff_s": number,
            "prompt": text,
            "prompt_sha256": lambda value: re.fullmatch("[0-9a-f]{64}", value) is not None,
            "command": TEXTS,
            "machines": TEXTS,
        }
    ],
    "machines": TEXTS,
    "longest_s": number,
    "cost_ceiling": maybe(number),
    "budget_usd": maybe(number),
    "prices_missing": TEXTS,
}
PACKS = ANSWER | {
    "packs": [
        {
            "name": text,
            "family": text,
            "title": text,
            "state": text,
            "tasks": [{"id": text, "requests_s": [number], "present": truth}],
            "cells": whole,
        }
    ],
    "tasks": whole,
    "cells": whole,
}
MACHINES = ANSWER | {
    "machines": [
        {
            "name": text,
            "host": maybe(text),
            "slots": maybe(whole),
            "engine": one_of("auto", "docker", "process"),
            "drained": truth,
            "seen": maybe(utc),
            "facts": anything,
        }
    ]
}
