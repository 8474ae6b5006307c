"""The live model, the one kept up with the store and the one read from it whole are the same after every step."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from agenttime_tui import replica
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.library import apply_stored, load_campaign
from agenttime_tui.replica import Replica
from remote_agent.seal import seal
from remote_agent.wire import Stamp, encode_record
from store.reader import Reader
from store.rows import AttemptRow, CampaignRow, CellRow, OperatorRow
from store.writer import Writer

ROW = CampaignRow("pilot-1", "pilot", "hash-1", "", 1_000)
STUDIES = ("duration", "eta", "natural", "retrospection")
ASKED: dict[str, Any] = {"label": "ESTIMATE_MINUTES"}
SPEC = json.dumps({"steps": [{"name": "ask", "seal": ASKED}, {"name": "work"}]})
STEPS = 40
SAID: dict[str, dict[str, Any]] = {
    "count": {"counts": "no", "reason": "wrong prompt"},
    "label": {"label": "working"},
    "grade": {"status": "scored", "value": 0.3},
    "abandon": {"reason": "machine sold"},
    "note": {"text": "looks odd"},
    "observed": {"outcome": "refusal"},
}


def cell(number: int) -> CellRow:
    asks = STUDIES[number] == "duration"
    name, ms = ("shortest", 5000) if asks else (None, None)
    made = Cell(f"cell-{number}", STUDIES[number], "a", "p", "b", "t", name, ms, ms, 40_000, "task", position=number)
    return CellRow(campaign=ROW.id, **made.fields())


class Journal:
    """An invented run of two steps, the first of them sealed, now and then not as its output says."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.t_ns = chance, 0
        self.held: list[tuple[int, str, dict[str, Any]]] = []
        self.lines: list[bytes] = []
        self._talk(chance.randrange(2))
        self._add("opened", engine="process", adopted=False)
        self._add("released", step="ask", timed=False)
        self._talk(3)
        said = seal(ASKED, [SimpleNamespace(seq=n, data=d) for n, k, d in self.held if k == "transcript"])  # type: ignore[misc]
        altered = {"sha256": "00"} if chance.random() < 0.4 else {}
        self._add("exited", step="ask", code=0)
        self._add("sealed", step="ask", **said | altered)
        if chance.random() < 0.2:
            self._add("sealed", step="ask", **said | {"sha256": "11"})
        self._add("released", step="work", requested_ms=5000, cutoff_ms=40_000)
        for _ in range(chance.randrange(6)):
            self._talk(2)
            self._add("heartbeat", free_bytes=1, capture_bytes=5, load=1)
            if chance.random() < 0.3:
                self._add("gap", from_seq=3, to_seq=4)
        self._add("exited", step="work", code=chance.choice([0, 1]), basis="session", cause="own")
        for stream in ("out", "err"):
            self._add("captured", stream=stream, bytes=3, intact=True)
        self._add("graded", status="scored", value=0.5)
        self._add("ended")

    def _talk(self, times: int) -> None:
        for _ in range(times):
            self._add("transcript", stream="out", offset=0, text=self.chance.choice(["é\n", "ESTIMATE_MINUTES=5\n"]))

    def _add(self, kind: str, **data: Any) -> None:
        self.t_ns += self.chance.randrange(1, 10**9)
        self.held.append((len(self.held) + 1, kind, data))
        boot = self.chance.choice(["boot-a"] * 20 + ["boot-b"])
        stamp = Stamp(boot, self.t_ns, self.t_ns, 10**18 + self.t_ns)
        self.lines.append(encode_record(len(self.held), kind, stamp, data))

    def next(self) -> list[bytes]:
        """Some lines that did not come yet: the next ones, or any."""
        many = min(self.chance.randrange(1, 9), len(self.lines))
        batch = self.chance.sample(self.lines, many) if self.chance.random() < 0.3 else self.lines[:many]
        self.lines = [line for line in self.lines if line not in batch]
        return batch


async def step(chance: random.Random, number: int, path: Path, store: Writer, live: Campaign, left: Any) -> None:
    """One thing happens: it is committed, then the live model has it."""
    what = chance.random()
    if what < 0.15 or not left:
        at = chance.randrange(len(STUDIES))
        ordinal = len(live.attempts_of(f"cell-{at}")) + 1
        row = AttemptRow(f"run-{at}-{ordinal}", f"cell-{at}", ordinal, "local", "process", "first", 2_000)
        await store.add_attempt(row)
        await store.put_spec(row.id, SPEC)
        live.add_attempt(row)
        left[row.id] = Journal(chance)
        return
    target = chance.choice(list(left))
    if what < 0.3:
        action = chance.choice(list(SAID))
        name = f"{chance.randrange(10**9)}-{number}"
        said = OperatorRow(name, chance.randrange(1, 6), "ada", action, target, SAID[action])
        await store.add_operator(said)
        live.decide(target, said)
        return
    result = await store.append_records(target, left[target].next())
    if result.rows:
        apply_stored(path, live, target, result.rows)


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_comes_in_whatever_order_every_model_is_the_same(tmp_path: Path, seed: int) -> None:
    chance, path, left = random.Random(seed), tmp_path / "agenttime.db", dict[str, Journal]()
    async with await Writer.open(path) as store:
        await store.add_campaign(ROW, [cell(number) for number in range(len(STUDIES))])
        with Reader(path) as reader, patch.object(replica, "PAGE", chance.choice([1, 3, 10, 20_000])):
            live, kept = load_campaign(reader, ROW), Replica(reader, ROW)
            for number in range(STEPS):
                await step(chance, number, path, store, live, left)
                if chance.random() < 0.5:
                    more = True
                    while more:
                        news = kept.read()
                        kept.take(news)
                        more = news.more
                    whole = load_campaign(reader, ROW).runs()
                    assert kept.model.runs() == whole
                    assert live.runs() == whole
