"""Judged runs are graded by the app that watches: once, from a verified copy, and later where the machine is away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.plan import parse_plan
from agenttime_tui.config import Settings, load_settings
from agenttime_tui.fleet import afterwards, judging
from agenttime_tui.fleet.afterwards import Afterwards
from agenttime_tui.fleet.client import Client
from agenttime_tui.library import load_campaign
from agenttime_tui.opening import Opening, open_plan
from agenttime_tui.panels.chrome import to_grade
from agenttime_tui.panels.verdict import grade_word
from remote_agent.wire import Stamp, encode_record
from store.reader import Reader
from store.rows import AttemptRow, OperatorRow
from store.writer import Writer
from tests.campaign.journal import Journal
from tests.cli.app import NO_ENGINE
from tests.machines.test_outputs import DATA, ITEM, Machine
from tests.packs.packfile import PACK, write_pack
from tests.packs.test_judge import served

JUDGED = PACK.replace("bounds =", 'judge = "m-7"\nbounds =').replace("[grade]", '[needs]\nkeys = ["A_KEY"]\n[grade]')
PLAN = """\
name = "copies"
studies = ["natural"]
[[agent]]
id = "good"
harness = "command"
options = { argv = ["true"] }
[[tasks]]
pack = "small"
"""
RUN = "f00d00000000a1b2"
KEY = "sk-small-secret-5"
NO_KEY = "the judge m-7 has no key: set A_KEY, then: agenttime grade f00d0000"
WITHIN_S = 30


class Watching:
    """The app's part that grades, over a real store, with one machine that may be away."""

    def __init__(self, settings: Settings, store: Writer, opening: Opening) -> None:
        self.store = store
        self.client: Machine | None = None
        self.hopeful = True
        self.said: list[str] = []
        self.tasks: list[asyncio.Task[Any]] = []
        with Reader(store.path) as reader:
            self.model: Campaign = load_campaign(reader, opening.row)
        self.after = Afterwards(
            settings, store, self.model, opening.plan, lambda attempt: opening.packs["small"].task("one"),
            lambda: 10**18, self._spawn, lambda keys: None, lambda name: cast(Client | None, self.client),
            lambda name: self.hopeful, self.said.append,
        )  # fmt: skip

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        self.tasks.append(asyncio.ensure_future(work))
        return self.tasks[-1]

    async def looked(self) -> None:
        """Looks, and waits for what came of it."""
        self.after.look(RUN)
        await self.settled()

    async def settled(self) -> None:
        async with asyncio.timeout(WITHIN_S):
            await self.after.settled()

    def grades(self) -> list[OperatorRow]:
        """What is kept."""
        with Reader(self.store.path) as reader:
            return [row for row in reader.operator_records(RUN) if row.action == "grade"]

    @property
    def backlog(self) -> int:
        """As the board counts it."""
        return to_grade(self.model.runs())


def opened(home: Path, pack: str = JUDGED) -> tuple[Settings, Opening]:
    write_pack(home / "packs" / "small", pack)
    return load_settings(home), open_plan(parse_plan(PLAN), PLAN, [home / "packs"], 1)


async def ran(settings: Settings, opening: Opening, whole: bool = True, closed: bool = True) -> None:
    """A run that ended: into the store, all of it, or without its last record, or with a hole."""
    journal = Journal().released().after(1).add("transcript", stream="out", offset=0, text="hi\n").exited()
    journal.add("collected", manifest=[{**ITEM, "path": "/app"}]).closed()
    lines = [
        encode_record(one.seq, one.kind, Stamp(one.boot_id, one.t_boot_ns, one.t_mono_ns, one.t_utc_ns), one.data)
        for one in journal.records
        if (whole or one.kind != "transcript") and (closed or one.kind != "ended")
    ]
    async with await Writer.open(settings.database) as store:
        await store.add_campaign(opening.row, opening.cell_rows())
        await store.add_attempt(AttemptRow(RUN, opening.cells[0].id, 1, "far", "process", "first", 1))
        await store.put_spec(RUN, '{"environment": {"workdir": "/app"}}')
        await store.append_records(RUN, lines)


@asynccontextmanager
async def watching(settings: Settings, opening: Opening) -> AsyncIterator[Watching]:
    async with await Writer.open(settings.database) as store:
        app = Watching(settings, store, opening)
        yield app
        for task in app.tasks:
            task.cancel()
        await asyncio.gather(*app.tasks, return_exceptions=True)


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)
    monkeypatch.delenv("A_KEY", raising=False)


@pytest.fixture
def with_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


async def test_without_its_key_a_run_is_not_graded_once_and_the_remedy_is_said_once(tmp_path: Path) -> None:
    settings, opening = opened(tmp_path)
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        assert (app.model.run(RUN).grade.status, app.backlog, grade_word(app.model.run(RUN))) == (
            "pending", 1, "grading",
        )  # fmt: skip
        app.after.look(RUN)
        app.after.look(RUN)
        await app.settled()
        await app.looked()
        run = app.model.run(RUN)
        assert (run.grade.status, run.grade.flags, run.extra["grade_detail"]) == ("not_graded", (), NO_KEY)
        assert app.said == ["not graded: the judge m-7 has no key: set A_KEY, then: agenttime grade copies --missing"]
        assert (len(app.grades()), app.backlog) == (1, 0)
    async with watching(settings, opening) as again:
        await again.looked()
        assert (len(again.grades()), again.said) == (1, [])
    assert not (settings.home / "outputs").exists()


async def test_with_its_key_what_it_left_is_brought_here_and_goes_to_the_grader(tmp_path: Path, with_key: None) -> None:
    settings, opening = opened(tmp_path)
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        app.client = Machine(DATA)
        await app.looked()
        (row,) = app.grades()
        assert (settings.home / "outputs" / RUN / "0.tar").read_bytes() == DATA
        assert row.data["status"] == "not_graded"
        assert row.data["detail"] == (
            "task one of pack small is graded over a copy on this side; to grade its copy here, a container engine "
            "must answer (DOCKER_HOST); then: agenttime grade f00d0000"
        )
        assert KEY not in str(row)


async def test_a_machine_that_is_away_leaves_nothing_written_until_it_is_back(
    tmp_path: Path, with_key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded = told(monkeypatch)
    settings, opening = opened(tmp_path)
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        app.hopeful = False
        await app.looked()
        assert (app.grades(), app.backlog, graded) == ([], 1, [])
        assert app.said == ["a run waits to be graded until far is back; agenttime grade copies --missing does it"]
        app.after.machine_moved("far")
        assert app.backlog == 1
        app.client = Machine(DATA, cut=3)
        app.after.machine_moved("far")
        await app.settled()
        assert (app.grades(), graded) == ([], [])
        assert "is graded once its machine is back: far: the link was lost" in app.said[1]
        second = app.client = Machine(DATA)
        app.hopeful = True
        waiting = asyncio.create_task(app.settled())
        app.after.machine_moved("another")
        app.after.machine_moved("far")
        await waiting
        assert (second.offsets[0], graded, len(app.grades())) == (3000, [RUN], 1)
        assert app.model.run(RUN).grade.percent == 100.0


async def test_the_end_of_a_campaign_waits_no_longer_than_it_said_for_a_machine(
    tmp_path: Path, with_key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(afterwards, "PATIENCE_S", 0.05)
    settings, opening = opened(tmp_path)
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        await app.looked()
        assert (app.grades(), len(app.said)) == ([], 1)


async def test_an_end_in_between_leaves_no_grade_and_the_next_app_grades_once(
    tmp_path: Path, with_key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = asyncio.Event()
    graded = told(monkeypatch, never)
    settings, opening = opened(tmp_path)
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        app.client = Machine(DATA)
        app.after.look(RUN)
        async with asyncio.timeout(WITHIN_S):
            while not graded:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        app.after.look(RUN)
    never.set()
    async with watching(settings, opening) as next_app:
        assert next_app.grades() == []
        await next_app.looked()  # the copy is here already: no machine is needed
        assert [row.data["code"] for row in next_app.grades()] == [0]
    assert graded == [RUN, RUN]


async def test_two_apps_over_one_run_keep_one_grade(tmp_path: Path) -> None:
    settings, opening = opened(tmp_path)
    await ran(settings, opening)
    async with watching(settings, opening) as first:
        second = Watching(settings, first.store, opening)
        first.after.look(RUN)
        second.after.look(RUN)
        await first.settled()
        await second.settled()
        assert len(first.grades()) == 1


async def test_a_grade_by_hand_is_not_followed_by_one_that_was_on_its_way(
    tmp_path: Path, with_key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = asyncio.Event()
    graded = told(monkeypatch, go)
    settings, opening = opened(tmp_path)
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        app.client = Machine(DATA)
        app.after.look(RUN)
        async with asyncio.timeout(WITHIN_S):
            while not graded:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        by_hand = OperatorRow("by-hand", 2, "ada", "grade", RUN, {"status": "scored", "value": 0.0, "passed": False})
        await app.store.add_operator(by_hand)
        app.model.decide(RUN, by_hand)
        go.set()
        await app.settled()
        assert [row.id for row in app.grades()] == ["by-hand"]


@pytest.mark.parametrize("state", [{"whole": False}, {"closed": False}])
async def test_a_run_that_is_not_here_whole_is_not_graded_yet(tmp_path: Path, state: dict[str, bool]) -> None:
    settings, opening = opened(tmp_path)
    await ran(settings, opening, **state)
    async with watching(settings, opening) as app:
        assert app.model.run(RUN).execution == "ended"
        await app.looked()
        assert (app.grades(), app.backlog) == ([], 1)


async def test_what_cannot_be_graded_from_a_copy_says_so(tmp_path: Path, with_key: None) -> None:
    settings, opening = opened(tmp_path, JUDGED.replace('title = "Small"', 'title = "Small"\nsettle = "keep"'))
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        await app.looked()
        (row,) = app.grades()
        assert row.data["status"] == "not_graded"
        assert "by what its session left running, and that is gone" in row.data["detail"]


async def test_an_answer_goes_to_the_judge_and_the_key_nowhere_else(
    tmp_path: Path, with_key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, opening = opened(tmp_path)
    answer = {"kind": "hle", "question": "Which?", "correct": "B"}
    (settings.home / "packs/small/tasks/one/tests/answer.json").write_text(json.dumps(answer))
    await ran(settings, opening)
    with served() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        endpoint.reply = '{"correct": "yes", "extracted_final_answer": "B"}'
        async with watching(settings, opening) as app:
            await app.looked()
            assert app.model.run(RUN).grade.passed is True
            assert (len(endpoint.asked), endpoint.asked[0][1]) == (1, f"Bearer {KEY}")
    assert not any(KEY.encode() in file.read_bytes() for file in settings.home.rglob("*") if file.is_file())


async def test_a_question_asked_of_a_run_is_not_taken_for_its_work(tmp_path: Path) -> None:
    settings, opening = opened(tmp_path)
    asked = replace(opening.row, id="asked"), [replace(one, id="other", study="forecast") for one in opening.cells]
    opening = replace(opening, row=asked[0], cells=asked[1])
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        await app.looked()
        assert (app.grades(), app.backlog, app.model.run(RUN).grade.status) == ([], 0, "not_graded")


async def test_a_grader_that_does_not_end_is_ended(
    tmp_path: Path, with_key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "IMAGES_S", -1e9)
    settings, opening = opened(tmp_path)
    await ran(settings, opening)
    async with watching(settings, opening) as app:
        app.client = Machine(DATA)
        await app.looked()
        (row,) = app.grades()
        assert (row.data["status"], row.data["detail"][:30]) == ("grader_error", "the grader did not end within ")


def told(monkeypatch: pytest.MonkeyPatch, go: asyncio.Event | None = None) -> list[str]:
    """Puts a grader that needs no engine in the place of the process; the runs it was asked about."""
    asked: list[str] = []

    async def graded(database: Path, settings: Settings, copy: Any, env: Any) -> dict[str, Any]:
        asked.append(copy.run)
        assert copy.here
        if go is not None:
            await go.wait()
        return {**copy.base, "code": 0, "reward": {"name": "reward.txt", "text": "1"}, "stdout": ""}

    monkeypatch.setattr(judging, "_graded", graded)
    return asked
