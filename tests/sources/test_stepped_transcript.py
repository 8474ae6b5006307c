"""The transcript of a run with steps goes on through all its sessions, each behind its own prompt."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from agenttime_tui.sources.transcripts import Transcripts
from store.reader import Reader
from store.rows import RecordRow
from tests.campaign.journal import Journal

SPEC = {"steps": [{"name": "make", "stdin": "Make it.\n"}, {"name": "teach", "argv": ["agent", "Teach it."]}]}


class Held:
    """The records that a store would hold so far."""

    def __init__(self) -> None:
        self.rows: list[RecordRow] = []

    def take(self, journal: Journal) -> None:
        for one in journal.records[len(self.rows) :]:
            clocks = (one.boot_id, one.t_boot_ns, one.t_mono_ns, one.t_utc_ns)
            self.rows.append(RecordRow("a1", one.seq, one.kind, *clocks, one.data))

    def spec(self, run: str) -> dict[str, Any]:
        return SPEC

    def records(self, run: str, since: int = 0, kinds: Collection[str] = ()) -> list[RecordRow]:
        return [one for one in self.rows if one.seq > since and one.kind in kinds]

    def transcript_page(self, run: str, since: int, limit: int) -> list[RecordRow]:
        return self.records(run, since, ["transcript"])[:limit]


def said(journal: Journal, text: str) -> Journal:
    return journal.add("transcript", stream="out", offset=0, text=text)


def test_later_prompts_stand_where_they_were_released_and_time_is_time_worked() -> None:
    journal, held, shown = Journal(), Held(), Transcripts()

    def events() -> list[tuple[str, str, float | None]]:
        held.take(journal)
        page = shown.page(cast(Reader, held), "a1", "scripted", 0, 100)
        assert [one.index for one in page.events] == list(range(page.total))
        return [(one.kind, one.text, one.at_s) for one in page.events]

    journal.add("released", step="make", then=["teach"])
    said(journal.after(1), '{"type":"tool","command":"ls"}\n')
    first = [("prompt", "Make it.\n", 0.0), ("tool", "ls", 1.0)]
    assert events() == first
    journal.after(9).exited(step="make").after(60).add("released", step="teach")
    later = ("prompt", "Teach it.", 10.0)
    assert events() == [*first, later]
    said(journal.after(2), '{"type":"output","text":"found","exit":0}\n')
    said(journal.after(1), '{"type":"say","text":"done"}\n')
    again = [("prompt", "Make it.\n", 0.0), ("tool", "ls", 1.0), later]
    assert events() == [*again, ("out", "found", 12.0), ("say", "done", 13.0)]
    at_once = Transcripts().page(cast(Reader, held), "a1", "scripted", 0, 100)
    assert [(one.kind, one.text, one.at_s) for one in at_once.events] == events()
