"""A campaign's model that is kept up with the store: read whole once, then only what was added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.library import load_campaign, seal_holds, seal_to_check
from store.reader import Marks, Reader
from store.rows import AttemptRow, CampaignRow, OperatorRow, RecordRow

PAGE = 20_000
"""Records taken in at once; what is beyond comes with the next reading."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An attempt that is new, with all that the store holds of it but its bulk."""

    row: AttemptRow
    facts: list[RecordRow]
    last_seq: int
    holes: list[tuple[int, int]]
    said: list[OperatorRow]


@dataclass(frozen=True, slots=True)
class News:
    """What came since the last reading."""

    marks: Marks
    whole: Campaign | None = None
    """The model read anew, where adding does not do."""
    begun: Sequence[Begun] = ()
    records: Mapping[str, Sequence[RecordRow]] = field(default_factory=dict)
    said: Sequence[OperatorRow] = ()
    seals: Mapping[str, bool] = field(default_factory=dict)
    """Attempt -> whether its sealed estimate is what its kept output says, where that may be another answer now."""
    more: bool = False
    """Whether there is more to be read at once."""


class Replica:
    """The model beside the store. `read` may run in a thread, `take` belongs where the model is looked at."""

    def __init__(self, reader: Reader, row: CampaignRow) -> None:
        self._reader = reader
        self._row = row
        self._marks: Marks | None = None
        self.model = Campaign(row.id, ())

    def read(self) -> News:
        """What the store has beyond the model; changes nothing."""
        reader, held = self._reader, self._marks
        with reader.snapshot():
            marks = reader.marks()
            if (
                held is None
                or marks.cells != held.cells
                or any(new < old for new, old in zip(marks, held, strict=True))
            ):
                return News(marks, load_campaign(reader, self._row))
            begun = [self._begun(row) for row in reader.attempts_since(held.attempts) if row.cell in self.model.cells]
            ids = {*self.model.attempts, *(one.row.id for one in begun)}
            last, found = reader.records_since(held.records, PAGE)
            records: dict[str, list[RecordRow]] = {}
            for row in found:
                if row.attempt in ids:
                    records.setdefault(row.attempt, []).append(row)
            said = [row for row in reader.operators_since(held.operators) if row.target in ids]
            seals = {
                attempt: seal_holds(reader, attempt, sealed.data)
                for attempt, rows in records.items()
                if (sealed := seal_to_check(self.model, attempt, rows)) is not None
            }
        return News(marks._replace(records=last), None, begun, records, said, seals, len(found) == PAGE)

    def _begun(self, row: AttemptRow) -> Begun:
        reader = self._reader
        facts = reader.records(row.id, exclude=("transcript",))
        return Begun(row, facts, reader.last_seq(row.id), reader.holes(row.id), reader.operator_records(row.id))

    def take(self, news: News) -> set[str]:
        """Makes the model have it; returns the keys of the runs that changed or whose transcript grew."""
        self._marks = news.marks
        if news.whole is not None:
            self.model = news.whole
            return {run.id for run in self.model.runs()}
        model, changed = self.model, set[str]()
        for one in news.begun:
            changed |= model.add_attempt(one.row)
            if one.last_seq:
                model.restore(one.row.id, one.facts, one.last_seq, one.holes)
            for said in one.said:
                model.decide(one.row.id, said)
        for attempt, rows in news.records.items():
            model.apply(attempt, rows)
        for said in news.said:
            changed |= model.decide(said.target, said)
        for attempt, holds in news.seals.items():
            changed |= model.check_seal(attempt, holds)
        return changed | news.records.keys()
