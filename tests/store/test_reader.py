"""Readers: what they give back, beside a writer and from files that are not fit."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
import time
from pathlib import Path

import pytest

from store.errors import StoreError
from store.reader import Reader
from store.writer import Writer
from tests.store.made import CAMPAIGN, CELLS, attempt, child, line, lines


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A store of two attempts with facts, transcripts and heartbeats, and an unknown one."""
    store = tmp_path / "agenttime.db"
    journal = [
        line(1, "opened", pid=1), line(2, "released", step="main"), line(3), line(4, "heartbeat", load=1), line(5),
        line(6, "heartbeat", load=2), line(7, "exited", code=0), line(8, "clock_flag", flag="step", amount_ns=9),
    ]  # fmt: skip
    async with await Writer.open(store) as writer:
        await writer.add_campaign(CAMPAIGN, CELLS)
        for number in (1, 0):
            await writer.add_attempt(attempt(number))
            await writer.append_records(attempt(number).id, journal)
        await writer.append_records("stranger", journal)
    return store


def test_facts_are_everything_but_transcripts_with_the_newest_heartbeat(path: Path) -> None:
    with Reader(path) as reader:
        facts = [(row.attempt, row.seq) for row in reader.fact_records("pilot-1")]
        assert facts == [(f"run-{n}-1", seq) for n in (0, 1) for seq in (1, 2, 6, 7, 8)]
        assert reader.fact_records("none") == []


def test_records_by_kind_and_page(path: Path) -> None:
    with Reader(path) as reader:
        assert [row.seq for row in reader.records("run-0-1", kinds=("opened", "exited"))] == [1, 7]
        assert [row.seq for row in reader.records("run-0-1", since=2, exclude=("transcript",), limit=2)] == [4, 6]
        assert reader.records("run-0-1", kinds=()) == []
        assert [row.seq for row in reader.transcript_page("run-0-1", 0, 1)] == [3]
        assert [row.seq for row in reader.transcript_page("run-0-1", 3, 9)] == [5]
        assert reader.transcript_count("run-0-1") == 2
        assert reader.last_seqs() == {"run-0-1": 8, "run-1-1": 8, "stranger": 8}
        assert [row.cell for row in reader.attempts("pilot-1")] == ["cell-0", "cell-1"]


def test_ids_are_found_by_prefix_and_wildcards_are_plain_letters(path: Path) -> None:
    with Reader(path) as reader:
        empty: dict[str, list[str]] = {"campaign": [], "cell": [], "attempt": [], "imported_run": []}
        assert reader.find("run-") == {**empty, "attempt": ["run-0-1", "run-1-1"]}
        assert reader.find("pilot-1") == {**empty, "campaign": ["pilot-1"]}
        assert reader.find("%") == reader.find("run_") == empty
        assert reader.find("cell", limit=2)["cell"] == ["cell-0", "cell-1"]


async def test_a_reader_sees_every_commit_and_never_a_half_one(path: Path) -> None:
    async with await Writer.open(path) as writer:
        with Reader(path) as reader:
            seen = reader.data_version()
            pouring = asyncio.create_task(_pour(writer))
            counts = []
            while not pouring.done():
                counts.append(await asyncio.to_thread(reader.transcript_count, "busy"))
            await pouring
            assert all(count % 100 == 0 for count in counts)
            assert counts == sorted(counts)
            assert reader.transcript_count("busy") == 3000
            assert reader.data_version() != seen


async def _pour(writer: Writer) -> None:
    for first in range(1, 3001, 100):
        await writer.append_records("busy", lines(first, first + 99))


def test_what_is_no_store_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, only some text that is long enough" * 50)
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.executescript("CREATE TABLE x (y); PRAGMA user_version = 3")
    (tmp_path / "folder.db").mkdir()
    for name in ("text.db", "other.db", "folder.db", "missing.db"):
        with pytest.raises(StoreError) as caught:
            Reader(tmp_path / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


async def test_a_store_in_a_folder_that_cannot_be_written_is_readable() -> None:
    # Not pytest's folder: only its owner may enter that, and root has to become somebody else to be refused.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "home", "agenttime.db")
        async with await Writer.open(path) as writer:
            await writer.append_records("a", lines(1, 8))
        for place, mode in ((path.parent.parent, 0o755), (path, 0o644), (path.parent, 0o555)):
            place.chmod(mode)
        with child(READ_AS_ANOTHER, path) as process:
            out, errors = process.communicate(timeout=60)
        path.parent.chmod(0o755)
        assert (out, process.returncode) == (b"8\n", 0), errors


READ_AS_ANOTHER = """
import os, sys
from pathlib import Path
from store.reader import Reader
if os.geteuid() == 0:
    os.setuid(65534)
print(Reader(Path(sys.argv[1])).last_seq("a"))
"""


def test_a_damaged_record_is_told_and_not_shown(path: Path) -> None:
    connection = sqlite3.connect(path)
    altered = line(2, "released", step="main").replace(b"main", b"pain")
    connection.execute("UPDATE record SET line = ? WHERE attempt = 'run-0-1' AND seq = 2", (altered,))
    connection.commit()
    connection.close()
    with Reader(path) as reader, pytest.raises(StoreError, match="seq 2 was altered"):
        reader.records("run-0-1")


def test_queries_of_facts_heartbeats_and_pages_use_their_index(path: Path) -> None:
    with Reader(path) as reader:
        asked: list[str] = []
        reader._connection.set_trace_callback(asked.append)
        reader.fact_records("pilot-1")
        reader.transcript_page("run-0-1", 0, 10)
        reader.transcript_count("run-0-1")
        reader.last_seqs()
        reader._connection.set_trace_callback(None)
        plans = [" ".join(str(row[3]) for row in reader._all(f"EXPLAIN QUERY PLAN {query}")) for query in asked]
        assert "record_fact" in plans[0]
        assert "record_heartbeat" in plans[0]
        assert "record_transcript" in plans[1]
        assert "record_transcript" in plans[2]
        assert not any("SCAN record" in plan for plan in plans)


@pytest.mark.slow
async def test_speed_of_a_hundred_thousand_records(tmp_path: Path) -> None:
    path = tmp_path / "agenttime.db"
    async with await Writer.open(path) as writer:
        await writer.add_campaign(CAMPAIGN, CELLS)
        await writer.add_attempt(attempt())
        batches = [lines(first, first + 499) for first in range(1, 100_001, 500)]
        began = time.perf_counter()
        for batch in batches:
            await writer.append_records("run-0-1", batch)
        wrote_s = time.perf_counter() - began
        began = time.perf_counter()
        while await writer.index_some():
            pass
        indexed_s = time.perf_counter() - began
    with Reader(path) as reader:
        began = time.perf_counter()
        reader.transcript_page("run-0-1", 50_000, 500)
        page_s = time.perf_counter() - began
        assert reader.transcript_count("run-0-1") == 100_000
    print(
        f"100k records written in {wrote_s:.2f} s ({1e5 / wrote_s:.0f}/s), indexed in {indexed_s:.2f} s, "
        f"page of 500 in {page_s * 1e3:.1f} ms"
    )


def test_the_newest_heartbeat_is_read_alone(path: Path) -> None:
    with Reader(path) as reader:
        beat = reader.newest_heartbeat("run-0-1")
        assert beat is not None
        assert (beat.seq, beat.data) == (6, {"load": 2})
        assert reader.newest_heartbeat("nobody") is None
