"""The transcript drawn: offset, kind, text and duration of each event, one row at a time."""

from __future__ import annotations

from dataclasses import dataclass

from agenttime_tui.look import durations, numbers
from agenttime_tui.look.cellwidth import cells, fit, head
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Part, Row
from agenttime_tui.look.sanitise import clean, visible
from agenttime_tui.panels.chrome import title
from agenttime_tui.panels.moment import Moment
from agenttime_tui.panels.state import Event
from agenttime_tui.panels.transcript_log import BODY, NOTE_CAP, TranscriptLog

TEXT_INK = {"think": "dim i", "out": "dim", "clock": "target", "error": "attn", "sleep": "target", "note": "dim"}
KIND_INK = {"prompt": "fg", "think": "dim", "clock": "target", "sleep": "target", "error": "attn", "note": "dim"}
WORD = {"out": "", "prompt": "prompt", "think": "think"}


@dataclass(frozen=True, slots=True)
class Reading:
    """How the transcript is being read: by clock time or offset, raw or not, which event is under the cursor."""

    clock_time: bool = False
    raw: bool = False
    cursor: int | None = None
    find: str = ""


def heading(
    width: int, mode: Mode, log: TranscriptLog, following: bool, live: bool, find: str = "", unseen: int = 0
) -> list[Row]:
    """Title, and whether the view follows or stays put."""
    rows = [Row(width, mode) for _ in range(3)]
    title(rows[1], 1, "Transcript")
    parts: list[Part] = []
    if find:
        parts += [("/", "dim"), (fit(clean(find), 20, mode.g("ellipsis")), "fg"), ("   ", "dim")]
    if live:
        parts.append((f"{mode.g('live')} ", "run" if following else "dim"))
        if following:
            parts.append(("following   ", "dim"))
        else:
            parts += [("stays put", "fg2"), ("   ", "dim")]
            if unseen:
                parts += [(f"{unseen:,}", "fg2"), (" new   ", "dim")]
    parts += [(numbers.count(log.total), "fg2"), (" event" if log.total == 1 else " events", "dim")]
    rows[1].rseq(width - 2, *parts)
    return rows


def draw(log: TranscriptLog, y: int, mode: Mode, reading: Reading, moment: Moment, elapsed_s: float | None) -> Row:
    """Row `y` of the loaded transcript; a blank row past its end."""
    row = Row(log.width, mode)
    found = log.at(y)
    if found is None:
        return row
    event, part = found
    body = log.body(event)
    if part == 0:
        before = log.event(event.index - 1)
        answers = event.kind in ("out", "error") and before is not None and before.kind in ("tool", "out", "error")
        _head(row, event, reading, moment, elapsed_s, answers)
    if event.kind == "prompt":
        row.put(16, mode.g("quote"), "target")
    x = BODY
    if event.kind in ("out", "error"):
        row.put(BODY, mode.g("axis"), "attn" if event.kind == "error" else "line")
        x = BODY + 2
    if part < len(body.lines):
        _text(row, x, body.lines[part], event, reading)
    else:
        row.put(x, f"{numbers.count(body.folded)} line{'' if body.folded == 1 else 's'} folded", "dim")
        row.rseq(log.width - 2, ("enter", "fg2"), (" unfold", "dim"))
    if reading.cursor == event.index:
        row.shade(0, log.width - 1, "cursor")
        if part == 0 and row.glyphs[0] == " ":
            row.put(0, mode.g("edge"), "fg b", over=True)
    return row


def _head(row: Row, event: Event, reading: Reading, moment: Moment, elapsed_s: float | None, answers: bool) -> None:
    mode = row.mode
    if reading.clock_time and event.utc_ns is not None:
        row.right(8, moment.time_of_day(event.utc_ns), "dim")
    elif event.at_s is not None and not answers:
        text = ("-" if event.at_s < 0 else "+") + durations.clock(abs(event.at_s))
        row.right(8 if len(text) > 6 else 7, text, "dim")
    word = WORD.get(event.kind, clean(event.kind))
    row.put(9, fit(word, 6, ""), "run" if event.running else KIND_INK.get(event.kind, "fg2"))
    end = row.width - 2
    if event.running:
        took = max(0.0, elapsed_s - event.at_s) if elapsed_s is not None and event.at_s is not None else None
        parts: list[Part] = [(f"{mode.g('running')} ", "run")]
        if took is not None:
            parts += _took(took)
        row.rseq(end, *parts)
    elif event.took_s is not None:
        row.rseq(end, *_took(event.took_s))
    elif event.note:
        row.right(end, fit(clean(event.note), NOTE_CAP, mode.g("ellipsis")), "dim")


def _took(seconds: float) -> list[Part]:
    if seconds < 100:
        return [(f"{seconds:.1f}", "fg2"), (" s", "dim")]
    return [(durations.clock(seconds), "fg2")]


def _text(row: Row, x: int, line: str, event: Event, reading: Reading) -> None:
    if event.kind == "tool" and not line.startswith("$ "):
        x = row.put(x, "$ ", "fg")
        line = fit(line, row.width - 2 - x, row.mode.g("ellipsis"))
    ink = TEXT_INK.get(event.kind, "fg")
    row.put(x, line, ink)
    if event.phrase and event.phrase in line:
        at = x + cells(line[: line.index(event.phrase)])
        row.put(at, event.phrase, "target b", over=True)
    found = line.lower().find(reading.find.lower()) if reading.find else -1
    if found >= 0:
        at = x + cells(line[:found])
        row.shade(at, at + cells(line[found : found + len(reading.find)]), "band")


def raw_lines(event: Event, width: int) -> list[str]:
    """One event with every control character spelt out, for the raw view."""
    room = max(8, width - 4)
    out: list[str] = []
    for piece in event.text.split("\n")[:400]:
        line = visible(piece, 4000)
        while cells(line) > room:
            cut = head(line, room)
            out.append(cut)
            line = line[len(cut) :]
        out.append(line)
    return out
