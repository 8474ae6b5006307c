"""Seconds as words and digits: running clocks, requests, times worked, axis chips."""

from __future__ import annotations

import math

UNITS_S = {"s": 1, "min": 60, "h": 3600}


def clock(seconds: float) -> str:
    """A running clock, never rounded up: `3:12`, `1:02:11`, from 10 h `59h 12m`, from 100 h `4d 04h`, then `120d`."""
    whole = max(0, math.floor(seconds))
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours >= 2400:
        return f"{hours // 24}d" if hours < 2_400_000 else ">99999d"
    if hours >= 100:
        return f"{hours // 24}d {hours % 24:02d}h"
    if hours >= 10:
        return f"{hours}h {minutes:02d}m"
    if hours:
        return f"{hours}:{minutes:02d}:{whole % 60:02d}"
    return f"{minutes}:{whole % 60:02d}"


def asked(seconds: float, unit: str | None = None) -> tuple[str, str]:
    """A request as number and unit: in the prompt's unit where known, else `30 h`, `125 min`, `45 s`."""
    if unit not in UNITS_S:
        if seconds >= 7200 and seconds % 3600 == 0:
            unit = "h"
        else:
            unit = "min" if seconds >= 60 else "s"
    return plain(seconds / UNITS_S[unit]), unit


def asked_text(seconds: float, unit: str | None = None) -> str:
    """A request in one piece: `125 min`."""
    return " ".join(asked(seconds, unit))


def extent(shortest_s: float, longest_s: float) -> str:
    """Shortest to longest request as the study's table of benchmarks prints them: `1.25–20 min`, `4 min–2.5 h`.

    Under 60 min in minutes, from there on in hours rounded to 0.1; under a minute in seconds.
    """
    low, high = _rounded(shortest_s), _rounded(longest_s)
    return f"{low[0]}–{high[0]} {high[1]}" if low[1] == high[1] else f"{low[0]} {low[1]}–{high[0]} {high[1]}"


def _rounded(seconds: float) -> tuple[str, str]:
    if seconds >= 3600:
        return plain(seconds / 3600, 1), "h"
    return (plain(seconds / 60), "min") if seconds >= 60 else (plain(seconds), "s")


LONG_S = 1000 * 3600
"""What an agent says may be any number; its hours would fill no column."""


def worked(seconds: float) -> str:
    """A time worked by the review rule: `27 s`, `15 min 31 s`, `8 h 20 min`; from 1,000 h on as `span`."""
    if seconds >= LONG_S:
        return span(seconds)
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h" + (f" {minutes} min" if minutes else "")


def span(seconds: float) -> str:
    """A long stretch in two units: `31 h 12 min`, `2 d 4 h`, from 1,000 days on days alone; under 48 h as `worked`."""
    if seconds < 48 * 3600:
        return worked(seconds)
    days, hours = divmod(round(seconds / 3600), 24)
    if days >= 1000:
        return _days(seconds)
    return f"{days} d" + (f" {hours} h" if hours else "")


def _days(seconds: float) -> str:
    days = seconds / UNITS_S["h"] / 24
    return f"{days:.0f} d" if days < 1e6 else f"{days:.0e} d"


def chip(seconds: float) -> str:
    """A time on an axis with at most two decimals: `15 s`, `2.5 min`, `8.33 h`; from 1,000 h on whole days."""
    if seconds >= LONG_S:
        return _days(seconds)
    unit = "s" if seconds < 60 else "min" if seconds < 3600 else "h"
    return f"{plain(seconds / UNITS_S[unit])} {unit}"


def age(seconds: float) -> str:
    """How long ago, in one short unit: `12s`, `4m`, `3h`, `2d`."""
    for size_s, letter in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size_s:
            return f"{int(seconds // size_s)}{letter}"
    return f"{max(0, int(seconds))}s"


def edge(seconds: float) -> str:
    """Where a window opens or closes: `4:45`, under a minute `2.85 s`."""
    return clock(seconds) if seconds >= 60 else f"{plain(seconds)} s"


def coarse(seconds: float) -> str:
    """How long ago, in one worded unit: `40 s`, `4 min`, `3 h`, `2 d`."""
    for size_s, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size_s:
            return f"{int(seconds // size_s)} {unit}"
    return f"{max(0, int(seconds))} s"


def plain(value: float, decimals: int = 2) -> str:
    """A number without trailing zeros: `5`, `1.25`."""
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
