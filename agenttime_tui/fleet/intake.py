"""From event frames to the store and the model: disk before screen, one path for every machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from store.errors import StoreError
from store.rows import RecordRow
from store.writer import Writer

BATCH_S = 0.1
RETRY_S = 5.0
PIECE_BYTES = 128 * 1024
"""A backlog is decoded and committed in pieces, between which the screen has its turn."""


class Intake:
    """Commits journal lines as they arrive, then tells what is new. Redelivery is harmless."""

    def __init__(
        self,
        store: Writer,
        committed: Callable[[str, Sequence[RecordRow]], None],
        again: Callable[[str, str], None],
        retry_s: float = RETRY_S,
    ) -> None:
        self._store = store
        self._committed = committed
        self._again = again
        """Called with (attempt, why) when lines came damaged or with a hole: subscribe again from the store."""
        self._retry_s = retry_s
        self._due: dict[str, asyncio.TimerHandle] = {}
        self._arrived: dict[str, list[bytes]] = {}
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def take(self, attempt: str, body: bytes) -> None:
        """Whole journal lines of one attempt, from a client's event frame."""
        self._arrived.setdefault(attempt, []).append(body)
        self._idle.clear()
        self._wake.set()

    async def settled(self) -> None:
        """Waits until everything taken so far is committed and told."""
        await self._idle.wait()

    async def run(self) -> None:
        """Until cancelled. What was taken but not committed comes again from the journal at the next subscribe."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            arrived, self._arrived = self._arrived, {}
            for attempt, bodies in arrived.items():
                for piece in _pieces(bodies):
                    await self._commit(attempt, piece)
            if not self._arrived:
                self._idle.set()
            await asyncio.sleep(BATCH_S)

    def _later(self, attempt: str, why: str) -> None:
        """A full disk, say: what came is dropped here, since the machine has it, and asked for again in a while."""
        if attempt not in self._due:
            loop = asyncio.get_running_loop()
            self._due[attempt] = loop.call_later(self._retry_s, self._ask_again, attempt, why)

    def _ask_again(self, attempt: str, why: str) -> None:
        del self._due[attempt]
        self._again(attempt, why)

    async def _commit(self, attempt: str, body: bytes) -> None:
        if attempt in self._due:
            return  # what follows a part that was dropped would leave a hole
        try:
            result = await self._store.append_records(attempt, body.splitlines(keepends=True))
        except StoreError as error:
            self._later(attempt, str(error))
            return
        if result.rows:
            self._committed(attempt, result.rows)
        for sentence in result.bad:
            self._again(attempt, sentence)
        if result.gap:
            self._again(attempt, f"records {result.gap[0]} to {result.gap[1]} did not arrive")


def _pieces(bodies: list[bytes]) -> Iterator[bytes]:
    """The frames of one attempt joined up to about `PIECE_BYTES`; a frame is not cut. Empties the list."""
    bodies.reverse()
    while bodies:
        piece = [bodies.pop()]
        size = len(piece[0])
        while bodies and size + len(bodies[-1]) <= PIECE_BYTES:
            piece.append(bodies.pop())
            size += len(piece[-1])
        yield b"".join(piece)
