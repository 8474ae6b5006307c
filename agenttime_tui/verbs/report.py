"""`report`: timing error, shares, counts and the other studies, for people, documents and programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import agenttime_tui
from agenttime_tui.budget import spent_of, sum_words
from agenttime_tui.campaign.report import build_report
from agenttime_tui.campaign.report_columns import UNFINISHED
from agenttime_tui.campaign.run import Run
from agenttime_tui.library import find_campaign, runs_of
from agenttime_tui.look.sanitise import clean
from agenttime_tui.verbs.context import Context, table
from agenttime_tui.verbs.report_sections import sections
from agenttime_tui.verbs.report_words import Json, Section


def report(context: Context) -> int:
    """The report of the named campaigns together (default: the newest)."""
    with context.reader() as reader:
        rows = [find_campaign(reader, text) for text in context.args.campaigns or [None]]
        found = [runs_of(reader, row) for row in rows]
        spent = [
            spent_of(context.settings, reader, row, mine, context.now_utc_ns())
            for row, mine in zip(rows, found, strict=True)
        ]
    runs = [run for mine in found for run in mine]
    if context.json:
        campaigns = [{"id": row.id, "name": row.name, **one.as_json()} for row, one in zip(rows, spent, strict=True)]
        context.answer({"campaigns": campaigns, **build_report(runs)})
        return 0
    context.say(clean(", ".join(row.name for row in rows)) + "\n")
    for row, one in zip(rows, spent, strict=True):
        if said := sum_words(one):
            context.say(f"{clean(row.name) if len(rows) > 1 else 'spent'}: {said}\n")
    for line in markdown(runs) if context.args.markdown else words(runs):
        context.say(line)
    if not context.args.markdown:
        context.say(f"\nagenttime {agenttime_tui.__version__}; --markdown and --json say how each number is defined")
    return 0


def words(runs: Sequence[Run]) -> list[str]:
    """Every section as aligned columns, with what to read before quoting."""
    found = build_report(runs)
    made = [line for section in sections(found) for line in _aligned(section, section.title != "Timing error")]
    made = made[1:] if made[:1] == [""] else made
    return [*(made or [_nothing(runs)]), *_noted(found)]


def _nothing(runs: Sequence[Run]) -> str:
    over = any(run.execution not in UNFINISHED for run in runs)
    return "no run that is over counts" if over else "no run has ended yet"


def leaderboard(runs: Sequence[Run]) -> list[str]:
    """Agents by timing error, or the other studies' tables where no run had a request, with what to read before
    quoting: the end of a run, of a watch and of a review."""
    found = build_report(runs)
    every = list(sections(found))
    first = [section for section in every if section.title == "Timing error"]
    made = [line for section in first or every for line in _aligned(section, headed=not first)]
    return [*(made[1:] if made[:1] == [""] else made or [_nothing(runs)]), *_noted(found)]


def markdown(runs: Sequence[Run]) -> list[str]:
    """The same as Markdown: a heading and a table a section."""
    found = build_report(runs)
    made = [line for section in sections(found) for line in _table(section)]
    notes = [f"- {_escaped(clean(note['text']))}" for note in found["notes"]]
    return [*made, *(["## Read before quoting", "", *notes, ""] if notes else []), *(_defined(found) if made else ())]


def _defined(found: Json) -> Iterator[str]:
    """The definition of every number in the report, and the version of the package that computed it."""
    yield from (f"## Definitions (agenttime {found['version']})", "")
    names = _keys({name: part for name, part in found.items() if name not in ("definitions", "notes")})
    yield from (f"- `{name}`: {_escaped(text)}" for name, text in found["definitions"].items() if name in names)


def _keys(part: object) -> set[str]:
    """Every key below a part of the report that has something to show."""
    inside: Iterable[object] = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    own = (
        {str(name) for name, value in part.items() if value not in (None, {}, [])} if isinstance(part, dict) else set()
    )
    return own.union(*map(_keys, inside))


def _aligned(section: Section, headed: bool) -> list[str]:
    body = [list(section.head), *map(list, section.rows)]
    lines = table(body, right=frozenset(range(section.names, len(section.head))))
    head = ["", section.title] if headed else []
    return [*head, *lines, *(f"  {remark}" for remark in section.remarks)]


def _noted(found: Json) -> list[str]:
    notes = [f"  {clean(note['text'])}" for note in found["notes"]]
    return ["", "read before quoting", *notes] if notes else []


def _table(section: Section) -> Iterator[str]:
    ruled = ["---" if at < section.names else "---:" for at in range(len(section.head))]
    yield from (f"## {section.title}", "")
    for row in (section.head, ruled, *section.rows):
        yield "| " + " | ".join(map(_escaped, row)) + " |"
    yield ""
    if section.remarks:
        yield from (*(_escaped(remark) for remark in section.remarks), "")


def _escaped(text: str) -> str:
    """Text that cannot end a cell of a table or begin markup of its own."""
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return text
