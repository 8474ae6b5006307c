"""Factors, shares, counts, money and sizes as the papers and boards print them."""

from __future__ import annotations

import math
import re

Part = tuple[str, str]
"""A piece of text with its token."""

_NUMBER = re.compile(r"\d[\d.,:]*\d|\d")


def factor(ratio: float, times: str = "×") -> str:
    """A factor with two decimals, `1.04×`; from 1,000 whole, so that seven cells always hold it."""
    if not math.isfinite(ratio):
        return "–"
    if ratio < 999.995:
        return f"{ratio:.2f}{times}"
    return f"{ratio:,.0f}{times}" if ratio < 99_999.5 else f">99999{times}"


def share(part: float) -> str:
    """A share of 1 as whole percent without the sign: `63`."""
    return f"{100 * part:.0f}"


def count(number: float) -> str:
    """A whole number with thousands commas: `1,991`."""
    return f"{number:,.0f}"


def money(dollars: float, cents: bool = False) -> str:
    """Dollars: `$1,204` on boards, `$0.31` on runs."""
    return f"${dollars:,.2f}" if cents else f"${dollars:,.0f}"


def dollars(amount: float) -> str:
    """A sum of a campaign: `$1,204`, and with cents below ten dollars, `$0.31`; what rounds to nothing `<$0.01`."""
    if 0 < amount < 0.005:
        return "<$0.01"
    return money(amount, 0 < amount < 9.995 and amount != int(amount))


def compact(number: float) -> tuple[str, str]:
    """A large count as number and suffix: `41.2`, `k`; below 1,000 whole and without one."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size * 0.99995:
            return f"{number / size:.1f}", suffix
    return f"{number:.0f}", ""


def size(byte_count: float) -> str:
    """Bytes in decimal units: `41 kB`, `1.2 MB`, `212 GB`."""
    for scale, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if byte_count >= scale:
            value = byte_count / scale
            return f"{value:.1f} {unit}" if value < 10 and unit != "kB" else f"{value:.0f} {unit}"
    return f"{byte_count:.0f} B"


def interval(low: float, high: float) -> str:
    """An interval as it stands under its value: `1.11 to 1.25`."""
    return f"{low:.2f} to {high:.2f}"


def parts(text: str, ink: str = "fg", quiet: str = "dim") -> list[Part]:
    """Cuts `8 h 20 min` or `63%` so that digits are in `ink` and units, signs and words one step quieter."""
    cut: list[Part] = []
    at = 0
    for found in _NUMBER.finditer(text):
        if found.start() > at:
            cut.append((text[at : found.start()], quiet))
        cut.append((found.group(), ink))
        at = found.end()
    if at < len(text):
        cut.append((text[at:], quiet))
    return cut
