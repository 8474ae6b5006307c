"""What frames every screen: header lines, tabs, rules, titles and the footer of keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agenttime_tui.campaign.run import Run
from agenttime_tui.look import bars, durations, numbers
from agenttime_tui.look.cellwidth import fit
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Part, Row, extent
from agenttime_tui.look.sanitise import clean
from agenttime_tui.panels.moment import Moment
from agenttime_tui.panels.state import CampaignHead

Keys = Sequence[tuple[str, str]]
"""Key and what it does."""

ALWAYS: Keys = (("ctrl+p", "palette"), ("?", "help"))

STATES = (
    ("running", "running", "run"),
    ("planned", "queued", "dim"),
    ("ended", "ended", "dim"),
    ("unknown", "unknown", "attn"),
)
_STATE_OF = {
    "planned": "planned", "staged": "planned", "preparing": "planned", "running": "running", "ended": "ended",
    "unknown": "unknown", "lost": "unknown",
}  # fmt: skip


def state_counts(runs: Sequence[Run]) -> Counter[str]:
    """Runs by the four states of the header; not yet released counts as planned, lost as unknown."""
    return Counter(_STATE_OF.get(run.execution, "unknown") for run in runs)


def to_grade(runs: Sequence[Run]) -> int:
    """Runs of ours that ended and whose grade is still to come; an import's grades are not made here."""
    return sum(
        run.execution == "ended"
        and run.grade.status == "pending"
        and run.time.basis != "imported"
        and run.counts != "no"
        for run in runs
    )


def need_chip(number: int) -> list[Part]:
    """The chip at the right edge; nothing where nobody is needed."""
    if not number:
        return []
    return [(f" ! {number} need{'s' if number == 1 else ''} you ", "onattn b", "attn")]


def campaign_header(
    width: int, mode: Mode, head: CampaignHead, runs: Sequence[Run], needs: int, moment: Moment
) -> list[Row]:
    """Three rows: who and counts; time and money; the progress as the rule."""
    first, second, third = (Row(width, mode) for _ in range(3))
    counts = state_counts(runs)
    left = _title_parts(head, width)
    levels = (_count_parts(counts, to_grade(runs), needs, mode, level) for level in range(4))
    right = _fitting(width - 3 - extent(left), *levels)
    first.seq(1, *left)
    first.rseq(width - 1, *right)
    told = _clock_parts(head, moment) or _size_parts(runs)
    said = _fitting(width - 2, *(told[:number] for number in range(len(told), 0, -1)))
    second.seq(1, *said)
    money = (_money_parts(head, mode, rate) for rate in (True, False))
    second.rseq(width - 1, *_fitting(width - 3 - extent(said), *money, []))
    bars.progress(third, counts["ended"], counts["running"], counts["unknown"], sum(counts.values()))
    return [first, second, third]


def _title_parts(head: CampaignHead, width: int) -> list[Part]:
    name = fit(clean(head.name), max(10, width // 3))
    parts: list[Part] = [(name, "bright b")]
    if head.about and width >= 60:
        parts.append((fit(f"  {clean(head.about)}", width - 2 - extent(parts)), "dim"))
    return parts


def _count_parts(counts: Counter[str], grading: int, needs: int, mode: Mode, level: int) -> list[Part]:
    parts: list[Part] = []
    ended_only = not counts["running"] and not counts["planned"]
    gap = "  " if level else "   "
    for name, word, ink in STATES:
        number = counts[name]
        kept = number or not (name == "unknown" or level or ended_only)
        if kept and not (level >= 2 and name in ("planned", "ended")) and level < 3:
            parts += [(f"{mode.g(name)} ", ink), (numbers.count(number), "fg"), ("" if level else f" {word}", "dim")]
            parts.append((gap, "dim"))
        if name == "ended" and grading and level < 3:
            parts += [(numbers.count(grading), "fg"), (" to grade", "dim"), (gap, "dim")]
    chip = need_chip(needs)
    return [*parts, *chip] if chip else parts[:-1]


def _clock_parts(head: CampaignHead, moment: Moment) -> list[Part]:
    parts: list[Part] = []
    if head.started_utc_ns is not None:
        parts += [(durations.span(moment.ago_s(head.started_utc_ns)), "fg"), (" elapsed", "dim")]
    if head.left_s is not None:
        parts += [(", about ", "dim"), (durations.span(head.left_s), "fg"), (" left", "dim")]
    return parts


def _size_parts(runs: Sequence[Run]) -> list[Part]:
    """What a set without a clock of its own holds."""
    sizes = (
        (len({run.agent for run in runs}), "agent"), (len({run.benchmark for run in runs}), "benchmark"),
        (len({(run.benchmark, run.task) for run in runs}), "task"),
    )  # fmt: skip
    parts: list[Part] = []
    for number, word in sizes:
        parts += [("   " if parts else "", "dim"), (numbers.count(number), "fg")]
        parts.append((f" {word}{'' if number == 1 else 's'}", "dim"))
    return parts


def _money_parts(head: CampaignHead, mode: Mode, rate: bool) -> list[Part]:
    parts: list[Part] = []
    if head.spent_usd is not None:
        if head.spent_at_least:
            parts.append((mode.g("bound"), "fg"))
        parts.append((numbers.dollars(head.spent_usd), "fg"))
        if head.budget_usd is not None:
            parts.append((f" of {numbers.dollars(head.budget_usd)}", "dim"))
    if rate and head.events_per_s is not None:
        parts += [("   " if parts else "", "dim"), (f"{head.events_per_s:.1f}", "fg"), (" ev/s", "dim")]
    return parts


def numbers_in(text: str, ink: str = "fg") -> list[Part]:
    """A worded quantity with its units one step quieter."""
    return list(numbers.parts(text, ink))


def _fitting(room: int, *choices: Sequence[Part]) -> Sequence[Part]:
    """The first choice that fits the room, else nothing."""
    return next((parts for parts in choices if extent(parts) <= room), [])


def fitting(room: int, *choices: Sequence[Part]) -> Sequence[Part]:
    """The first choice of pieces that fits the room, else nothing."""
    return _fitting(room, *choices)


def tab_header(
    width: int, mode: Mode, left: Sequence[Part], right: Sequence[Part], tabs: Sequence[str], on: int
) -> list[Row]:
    """Three rows: what is shown and its size; the tabs; a rule that a heavy piece underlines the tab with."""
    first, second, third = (Row(width, mode) for _ in range(3))
    first.seq(1, *left)
    shorter = [right[:number] for number in range(len(right), 0, -3)]
    first.rseq(width - 1, *_fitting(width - 3 - extent(left), *shorter))
    third.fill(0, width, mode.g("rule"), "line")
    for number, (x, end) in enumerate(tab_places(width, tabs)):
        second.put(x, tabs[number], "fg b" if number == on else "dim")
        if number == on:
            third.fill(x, end, mode.g("heavy"), "fg", over=True)
    return [first, second, third]


def tab_places(width: int, tabs: Sequence[str]) -> list[tuple[int, int]]:
    """Where the tabs of a header stand on its second row: (first cell, cell after it), as many as fit."""
    gap = 4 if sum(len(tab) + 4 for tab in tabs) <= width else 2
    x, places = 1, []
    for tab in tabs:
        if x + len(tab) > width - 1:
            break
        places.append((x, x + len(tab)))
        x += len(tab) + gap
    return places


def subtabs(row: Row, names: Sequence[str], on: int) -> list[tuple[int, int, str]]:
    """Tabs inside a page: the open one on lifted ground; the others drop from the side far from it.

    Returns where each stands: (first cell, cell after it, name).
    """
    first = 0
    where = []
    while first < on and sum(len(name) + 3 for name in names[first : on + 1]) > row.width:
        first += 1
    x = 0
    for number, name in enumerate(names[first:], first):
        if x + len(name) + 2 > row.width:
            break
        here = number == on
        if here and row.mode.theme == "mono":
            row.put(x, f"[{name}]", "fg b")
        else:
            row.put(x, f" {name} ", "bright b" if here else "dim", "cursor" if here else None)
        where.append((x, x + len(name) + 2, name))
        x += len(name) + 3
    return where


def title(row: Row, x: int, text: str, right: str = "", end: int | None = None) -> None:
    """A section's heading with a quiet remark at its right end."""
    row.put(x, text, "fg b")
    if right and end is not None:
        row.right(end, right, "dim")


def rule(width: int, mode: Mode, x0: int = 0, x1: int | None = None) -> Row:
    """A separator."""
    row = Row(width, mode)
    row.fill(x0, width if x1 is None else x1, mode.g("rule"), "line")
    return row


def _kept(keys: Keys, room: int) -> Keys:
    """The keys that fit from the left; the way back (`esc`) is never the one that is lost."""
    kept = list(keys)
    while kept and sum(len(key) + len(word) + 4 for key, word in kept) > room:
        kept.remove(next((pair for pair in reversed(kept) if pair[0] != "esc"), kept[-1]))
    return kept


def footer(width: int, mode: Mode, keys: Keys, always: Keys = ALWAYS) -> list[Row]:
    """The keys of the screen: as many as fit from the left, help always last at the right."""
    row = Row(width, mode, "surface")
    kept = list(always) if width >= 100 else list(always)[-1:]
    edge = width - 1 - sum(len(key) + len(word) + 4 for key, word in kept) + 3
    x = edge
    for key, word in kept:
        x = row.seq(x, (key, "fg b"), (f" {word}", "dim"), "   ")
    x = 1
    for key, word in _kept(keys, edge - 1):
        x = row.seq(x, (key, "fg b"), (f" {word}", "dim"), "   ")
    return [row]
