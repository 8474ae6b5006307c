"""Read-only queries of a store: plain and synchronous, any number beside the writer."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import quote

from remote_agent.wire import BadRecord
from store.batch import row_of
from store.errors import StoreError
from store.lock import StoreLock
from store.migrations import VERSION, bring_up_to_date, version_of
from store.rows import AttemptRow, CampaignRow, CellRow, ImportedRunRow, MachineRow, OperatorRow, RecordRow
from store.search import SearchResult, search

_BY_SEQ = "SELECT attempt, line FROM record WHERE attempt = ? AND seq > ?"
_ATTEMPTS_OF = "SELECT attempt.* FROM attempt JOIN cell ON cell.id = attempt.cell"
_EVERY_ATTEMPT = (
    "WITH RECURSIVE each (attempt) AS (SELECT min(attempt) FROM record UNION ALL"
    " SELECT (SELECT min(attempt) FROM record WHERE attempt > each.attempt) FROM each WHERE attempt IS NOT NULL)"
)
"""Steps from attempt to attempt along the index instead of reading a million rows."""


class Marks(NamedTuple):
    """How far each table reaches: its last row. What comes is added behind it."""

    cells: int
    attempts: int
    records: int
    operators: int


class Reader:
    """What a store holds. May be used from another thread than the one that opened it."""

    def __init__(self, path: Path) -> None:
        """Opens an existing store; an older one is migrated first. Raises StoreError."""
        self.path = path
        if not path.is_file():
            raise StoreError(f"there is no store at {path}; run a plan or import a release first")
        self._connection = connect_readonly(path)
        try:
            old = version_of(self._connection, path) < VERSION
        except StoreError:
            self._connection.close()
            raise
        if old:
            self._connection.close()
            _migrate(path)
            self._connection = connect_readonly(path)

    def close(self) -> None:
        """Closes; may be called twice."""
        self._connection.close()

    def __enter__(self) -> Self:
        """The open reader."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes."""
        self.close()

    def campaigns(self) -> list[CampaignRow]:
        """Every campaign, oldest first."""
        rows = self._all("SELECT * FROM campaign ORDER BY created_utc_ns, id")
        return [CampaignRow(*_with_json(row)) for row in rows]

    def cells(self, campaign: str) -> list[CellRow]:
        """The cells of a campaign in plan order."""
        rows = self._all("SELECT * FROM cell WHERE campaign = ? ORDER BY position, id", campaign)
        return [CellRow(*_with_json(row)) for row in rows]

    def attempts(self, campaign: str | None = None) -> list[AttemptRow]:
        """The attempts of a campaign (None: of all), by cell and ordinal."""
        if campaign is None:
            rows = self._all(f"{_ATTEMPTS_OF} ORDER BY cell.campaign, cell.position, ordinal")
        else:
            rows = self._all(f"{_ATTEMPTS_OF} WHERE cell.campaign = ? ORDER BY cell.position, ordinal", campaign)
        return [AttemptRow(*row) for row in rows]

    def spec(self, attempt: str) -> dict[str, Any] | None:
        """The spec an attempt was given, or None."""
        rows = self._all("SELECT spec FROM spec WHERE attempt = ?", attempt)
        return json.loads(rows[0][0]) if rows else None

    def records(
        self,
        attempt: str,
        since: int = 0,
        kinds: Collection[str] | None = None,
        exclude: Collection[str] = (),
        limit: int | None = None,
    ) -> list[RecordRow]:
        """Records with seq > `since` by seq, only of `kinds` (None: all) and none of `exclude`."""
        query, values = _BY_SEQ, [attempt, since, *exclude]
        if exclude:
            query += f" AND kind NOT IN ({_marks(exclude)})"
        if kinds is not None:
            query += f" AND kind IN ({_marks(kinds)})"
            values += kinds
        return self._records(f"{query} ORDER BY seq LIMIT ?", *values, -1 if limit is None else limit)

    def newest_heartbeat(self, attempt: str) -> RecordRow | None:
        """The last heartbeat of an attempt, or None; a run of a week has a hundred thousand."""
        rows = self._records(f"{_BY_SEQ} AND kind = 'heartbeat' ORDER BY seq DESC LIMIT 1", attempt, 0)
        return rows[0] if rows else None

    def lines(self, attempt: str, since: int = 0) -> list[bytes]:
        """The journal lines with seq > `since`, byte for byte as the machine wrote them."""
        return [row[1] for row in self._all(f"{_BY_SEQ} ORDER BY seq", attempt, since)]

    def attempts_with(self, seq: int, line: bytes) -> list[str]:
        """The attempts whose record `seq` has exactly these bytes: whose journal a nameless one is."""
        query = "SELECT attempt.id FROM attempt CROSS JOIN record ON record.attempt = attempt.id AND seq = ?"
        return [row[0] for row in self._all(f"{query} WHERE line = ? ORDER BY attempt.id", seq, line)]

    def attempt(self, attempt: str) -> tuple[AttemptRow, str] | None:
        """One attempt and its campaign's id, or None."""
        rows = self._all(
            "SELECT attempt.*, cell.campaign FROM attempt JOIN cell ON cell.id = cell WHERE attempt.id = ?", attempt
        )
        return (AttemptRow(*rows[0][:-1]), rows[0][-1]) if rows else None

    def last_seq(self, attempt: str) -> int:
        """The highest seq held of an attempt, 0 for none: where to subscribe from."""
        return int(self._all("SELECT coalesce(max(seq), 0) FROM record WHERE attempt = ?", attempt)[0][0])

    def last_seqs(self) -> dict[str, int]:
        """The highest seq held of every attempt that has records."""
        query = "SELECT attempt, (SELECT max(seq) FROM record WHERE record.attempt = each.attempt)"
        return dict(self._all(f"{_EVERY_ATTEMPT} {query} FROM each WHERE attempt IS NOT NULL"))

    def holes(self, attempt: str) -> list[tuple[int, int]]:
        """Every hole [from seq, to seq] below the highest seq held."""
        count = "SELECT count(*) = coalesce(max(seq), 0) FROM record WHERE attempt = ?"
        if self._all(count, attempt)[0][0]:
            return []  # as many as the highest number: counted ten times as fast as looked for
        return self._all(
            "SELECT before + 1, seq - 1 FROM (SELECT seq, lag(seq, 1, 0) OVER (ORDER BY seq) AS before"
            " FROM record WHERE attempt = ?) WHERE seq > before + 1",
            attempt,
        )

    def fact_records(self, campaign: str) -> list[RecordRow]:
        """Every record but transcripts and heartbeats, with the newest heartbeat, by attempt and seq."""
        mine = "SELECT attempt.id FROM attempt JOIN cell ON cell.id = attempt.cell WHERE cell.campaign = ?"
        facts = f"attempt IN ({mine}) AND kind NOT IN ('transcript', 'heartbeat')"
        newest = "SELECT max(seq) FROM record WHERE attempt = mine.id AND kind = 'heartbeat'"
        beats = f"({mine}) AS mine JOIN record ON attempt = mine.id AND seq = ({newest})"
        query = f"SELECT attempt, seq, line FROM record WHERE {facts} UNION ALL SELECT attempt, seq, line FROM {beats}"
        return self._records(f"SELECT attempt, line FROM ({query}) ORDER BY attempt, seq", campaign, campaign)

    def transcript_page(self, attempt: str, after_seq: int, limit: int) -> list[RecordRow]:
        """The next `limit` transcript records after a seq."""
        return self._records(f"{_BY_SEQ} AND kind = 'transcript' ORDER BY seq LIMIT ?", attempt, after_seq, limit)

    def transcript_count(self, attempt: str) -> int:
        """How many transcript records an attempt has."""
        query = "SELECT count(*) FROM record WHERE attempt = ? AND kind = 'transcript'"
        return int(self._all(query, attempt)[0][0])

    def operator_records(self, target: str | None = None) -> list[OperatorRow]:
        """What people did and said about a target (None: about all), oldest first."""
        where, values = ("", ()) if target is None else (" WHERE target = ?", (target,))
        rows = self._all(f"SELECT * FROM operator_record{where} ORDER BY at_utc_ns, id", *values)
        return [OperatorRow(*_with_json(row)) for row in rows]

    def said_of_imported(self, campaign: str) -> dict[str, list[OperatorRow]]:
        """What people did and said about each imported run of a campaign, oldest first."""
        rows = self._all(
            "SELECT operator_record.* FROM imported_run JOIN operator_record ON target = imported_run.id"
            " WHERE campaign = ? ORDER BY at_utc_ns, operator_record.id",
            campaign,
        )
        said: dict[str, list[OperatorRow]] = {}
        for row in rows:
            said.setdefault(row[4], []).append(OperatorRow(*_with_json(row)))
        return said

    def table(self, name: str, where: str, *values: Any) -> list[dict[str, Any]]:
        """The rows of one table as they are kept, by column; `where` is a condition with named values and an order."""
        columns = [row[1] for row in self._all(f"PRAGMA table_info({name})")]
        return [
            dict(zip(columns, row, strict=True)) for row in self._all(f"SELECT * FROM {name} WHERE {where}", *values)
        ]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is of one moment, whatever the writer does meanwhile."""
        self._all("BEGIN")
        try:
            yield
        finally:
            self._all("COMMIT")

    def machines(self) -> list[MachineRow]:
        """What was last known of each machine, by name."""
        rows = self._all("SELECT name, facts, seen_utc_ns FROM machine ORDER BY name")
        return [MachineRow(name, json.loads(facts), seen) for name, facts, seen in rows]

    def imported_runs(self, campaign: str) -> list[ImportedRunRow]:
        """The imported runs of a campaign in the order of their source."""
        rows = self._all("SELECT * FROM imported_run WHERE campaign = ? ORDER BY position", campaign)
        return [ImportedRunRow(id_, campaign, position, json.loads(fields)) for _, id_, position, fields in rows]

    def find(self, prefix: str, limit: int = 50) -> dict[str, list[str]]:
        """Ids that begin with `prefix`, at most `limit` a type: campaign, cell, attempt, imported_run."""
        end = prefix + "\U0010ffff"
        return {
            table: [row[0] for row in self._all(query, prefix, end, limit)]
            for table in ("campaign", "cell", "attempt", "imported_run")
            for query in [f"SELECT DISTINCT id FROM {table} WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"]
        }

    def search(self, text: str, limit: int = 50, timeout_s: float = 2.0) -> SearchResult:
        """Transcript records that hold every word, newest first; raises StoreError for nothing to look for."""
        return search(self._connection, text, limit, timeout_s)

    def marks(self) -> Marks:
        """How far the store reaches now."""
        tables = ("cell", "attempt", "record", "operator_record")
        return Marks(*(self._all(f"SELECT coalesce(max(rowid), 0) FROM {table}")[0][0] for table in tables))

    def attempts_since(self, mark: int) -> list[AttemptRow]:
        """The attempts added behind a mark, of any campaign."""
        return [AttemptRow(*row) for row in self._all("SELECT * FROM attempt WHERE rowid > ? ORDER BY rowid", mark)]

    def records_since(self, mark: int, limit: int) -> tuple[int, list[RecordRow]]:
        """(the new mark, at most `limit` records added behind the old one), of any attempt."""
        rows = self._all("SELECT id, attempt, line FROM record WHERE id > ? ORDER BY id LIMIT ?", mark, limit)
        return (rows[-1][0] if rows else mark), self._rows((row[1], row[2]) for row in rows)

    def operators_since(self, mark: int) -> list[OperatorRow]:
        """What people did and said since a mark, about anything."""
        rows = self._all("SELECT * FROM operator_record WHERE rowid > ? ORDER BY rowid", mark)
        return [OperatorRow(*_with_json(row)) for row in rows]

    def data_version(self) -> int:
        """A number that changes when the store was written."""
        return int(self._all("PRAGMA data_version")[0][0])

    def _all(self, query: str, *values: Any) -> list[Any]:
        # Always to the end: an open cursor would keep the writer's log from being taken in.
        try:
            named = values and isinstance(values[0], Mapping)
            return self._connection.execute(query, values[0] if named else values).fetchall()
        except (sqlite3.DatabaseError, UnicodeError) as error:
            raise StoreError(f"cannot read {self.path}: {error}") from None

    def _records(self, query: str, *values: Any) -> list[RecordRow]:
        return self._rows(self._all(query, *values))

    def _rows(self, found: Iterable[tuple[str, bytes]]) -> list[RecordRow]:
        try:
            return [row_of(attempt, line) for attempt, line in found]
        except BadRecord as error:
            raise StoreError(f"{self.path} is damaged: {error}; restore a backup or pull from the machine") from None


def connect_readonly(path: Path) -> sqlite3.Connection:
    """A connection that can change nothing; raises StoreError where the file cannot be opened."""
    name = quote(str(path.resolve()))
    # A folder that cannot be written leaves no room for the log's index: then the file alone is read as it is.
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"file:{name}?{mode}", uri=True, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA busy_timeout = 5000")
            connection.execute("PRAGMA mmap_size = 0")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.DatabaseError as error:
            connection.close()
            problem = error
    raise StoreError(f"cannot read {path} as a store: {problem}; name another file") from None


def _with_json(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*row[:-1], json.loads(row[-1]))


def _marks(values: Collection[str]) -> str:
    return ",".join("?" * len(values))


def _migrate(path: Path) -> None:
    lock = StoreLock(path.resolve())
    try:
        bring_up_to_date(path.resolve())
    finally:
        lock.release()
