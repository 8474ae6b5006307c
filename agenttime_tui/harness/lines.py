"""What the decoders share: whole lines out of pieces, numbering, pairing of calls with results, counting."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from datetime import datetime
from typing import Any

from agenttime_tui.harness.shell import Purpose, purpose
from agenttime_tui.harness.view import CONNECTED, NO_RESULT, Facts, Item
from remote_agent.wire import LINE_CAP_BYTES

TEXT_CAP = 200_000
"""Characters of one item that are kept; the capture has the rest."""
HELD_CAP_BYTES = 64 * 1024 * 1024
"""A line longer than this is not put together: its pieces stay raw."""
ANSWER_CAP = 200
"""A clock's answer up to this length is shown beside the call."""

MODELS_AT_MOST = 50
SERVERS_AT_MOST = 50
ERRORS_KEPT = 10
PROGRESS = frozenset(("think", "say", "tool", "out", "edit", "clock", "sleep", "wait"))
"""Kinds that show the model at work: they end a stall."""
EARLIER_S = -2.0
"""How much older than the release a line of a session file may be: the clocks of the two may differ a little."""

BROKEN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What reading an event of a strange shape may raise."""


class Lines:
    """Reads lines as they are; the decoder of a command line says what an event means."""

    version = "3"

    def __init__(self, released_utc_s: float | None = None) -> None:
        self.facts = Facts()
        self.released_utc_s = released_utc_s
        """When the prompt was released, by the machine's clock: places the lines of a session file in the run."""
        self.earlier_s = EARLIER_S
        """Lines of a session file from before this are a parent's."""
        self._count = 0
        self._open: dict[str, tuple[int, Item]] = {}
        self._news: list[tuple[int, Item]] = []
        self._held: dict[str, tuple[int, bytearray]] = {}

    def feed(self, seq: int, at_s: float | None, stream: str, data: bytes) -> list[tuple[int, Item]]:
        """Reads one line; what is no JSON object of this command line stays raw."""
        self._news = []
        piece = len(data) >= LINE_CAP_BYTES and not data.endswith(b"\n")
        if piece or stream in self._held:
            first, held = self._held.setdefault(stream, (seq, bytearray()))
            held += data
            if piece and len(held) < HELD_CAP_BYTES:
                return []
            del self._held[stream]
            self._line(first, at_s, stream, bytes(held))
        else:
            self._line(seq, at_s, stream, data)
        return self._news

    def close(self, at_s: float | None) -> list[tuple[int, Item]]:
        """Gives what was held back and says of open calls that they have no result."""
        self._news = []
        for stream, (first, held) in self._held.items():
            self._line(first, at_s, stream, bytes(held))
        self._held.clear()
        for index, item in self._open.values():
            self._news.append((index, replace(item, running=False, note=item.note or NO_RESULT)))
        self._open.clear()
        self.facts.calls_open = 0
        return self._news

    def read(self, event: dict[str, Any], seq: int, at_s: float | None) -> bool:
        """Puts the items of one event of the output; False for an event that it does not know."""
        return False

    def read_session(self, event: dict[str, Any], seq: int, at_s: float | None) -> bool:
        """Takes in one line of the command line's own session file; False for a line that it does not know."""
        return False

    def since_release(self, timestamp: Any) -> float | None:
        """Seconds from the release to a time stamp of the session file; None where either is unknown."""
        if self.released_utc_s is None or not isinstance(timestamp, str):
            return None
        try:
            return datetime.fromisoformat(timestamp).timestamp() - self.released_utc_s
        except (ValueError, OverflowError):
            return None

    def remark(self, text: str, seq: int, at_s: float | None) -> None:
        """Takes in a line of the error output."""
        self.put(Item("error", text, at_s, seq))

    def _line(self, seq: int, at_s: float | None, stream: str, data: bytes) -> None:
        if at_s is not None and stream != "session":
            self.facts.last_at_s = at_s
        text = data.decode("utf-8", "replace").rstrip("\r\n")
        if stream == "err":
            if text:
                self.remark(text, seq, at_s)
            return
        event = json_object(text)
        if stream == "session" and event is not None and at_s is None:
            at_s = self.since_release(event.get("timestamp"))
        try:
            known = event is not None and (self.read_session if stream == "session" else self.read)(event, seq, at_s)
        except BROKEN:
            known = False
        if not known and not self._news and text and stream != "session":
            self.put(Item("raw", text, at_s, seq))

    def put(self, item: Item) -> int:
        """The next item; its index."""
        index = self._count
        self._count += 1
        text = item.text
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode("utf-8")
        if len(text) > TEXT_CAP:
            item = replace(item, note=item.note or f"{len(text):,} characters", text=text[:TEXT_CAP])
        elif text is not item.text:
            item = replace(item, text=text)
        self._news.append((index, item))
        self._count_in(item)
        return index

    def _count_in(self, item: Item) -> None:
        facts = self.facts
        if item.kind in PROGRESS:
            if facts.stalled_since_s is not None and item.at_s is not None:
                facts.stall_s += max(0.0, item.at_s - facts.stalled_since_s)
            facts.stalled_since_s = None
        if item.kind == "retry":
            facts.retries += 1
            if facts.stalled_since_s is None:
                facts.stalled_since_s = item.at_s
        elif item.kind == "say":
            facts.said = item.text
        elif item.kind in ("error", "limit", "refusal") and not item.call:
            facts.errors = [*facts.errors[1 - ERRORS_KEPT :], item.text]
        if facts.clock_reads and item.kind in ("tool", "edit"):
            facts.calls_after_clock += 1
        if item.clock and not facts.clock_reads:
            facts.first_clock_s = item.at_s
        facts.clock_reads += item.clock
        facts.sleeps += item.kind == "sleep"
        facts.waits += item.kind == "wait"

    def stall_ends(self, at_s: float | None) -> None:
        """The session ended or failed for good: it is no longer being retried."""
        facts = self.facts
        if facts.stalled_since_s is not None and at_s is not None:
            facts.stall_s += max(0.0, at_s - facts.stalled_since_s)
        facts.stalled_since_s = None

    def call(
        self, call: str, command: str, seq: int, at_s: float | None, tool: str = "", why: Purpose | None = None,
        note: str = "", writes_sleep: bool = False,
    ) -> None:  # fmt: skip
        """A call that waits for the result of this id. `why` is what it is for; by default as a shell command says."""
        why = why or purpose(command)
        self.facts.tool_calls += 1
        item = Item(why.kind, command, at_s, seq, running=True, note=note, call=call, tool=tool, clock=why.clock,
                    sleep_s=why.sleep_s, writes_sleep=writes_sleep)  # fmt: skip
        self._open[call] = (self.put(item), item)
        self.facts.calls_open = len(self._open)

    def answer(
        self, call: str, text: str, failed: bool, seq: int, at_s: float | None, own_s: float | None = None,
        note: str = "",
    ) -> None:  # fmt: skip
        """The result of a call: completes the call with its duration and shows what came back.

        `own_s` is the duration that the command line gives; it stands in where there are no stamps.
        """
        found = self._open.pop(call, None)
        self.facts.calls_open = len(self._open)
        quiet = False
        if found is not None:
            index, item = found
            took_s = own_s if at_s is None or item.at_s is None else max(0.0, at_s - item.at_s)
            self._spent(item, took_s)
            shown = item.text
            if item.kind == "clock" and text.strip() and len(text) < ANSWER_CAP:
                shown, quiet = f"{item.text}  →  {text.strip()}", True
            quiet = quiet or (item.kind == "edit" and not failed)
            self._news.append((index, replace(item, text=shown, took_s=took_s, running=False, note=note or item.note)))
        if text.strip() and not quiet:
            self.put(Item("error" if failed else "out", text.rstrip("\n"), at_s, seq, call=call or "?"))

    def _spent(self, item: Item, took_s: float | None) -> None:
        named = item.sleep_s if item.sleep_s is not None else took_s
        if item.kind == "wait":
            self.facts.waited_s += took_s or 0.0
        elif item.kind == "sleep":
            self.facts.slept_s += (took_s if took_s is not None else named) or 0.0
        elif item.sleep_s is not None:
            self.facts.slept_s += min(item.sleep_s, took_s) if took_s is not None else item.sleep_s

    def prompted(self, text: str) -> None:
        """Takes note of a prompt as the command line took it."""
        self.facts.prompts += 1
        if self.facts.prompt_sha256 is None:
            self.facts.prompt_sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def server(self, name: str, status: str) -> None:
        """Takes note of what the command line says of a tool server."""
        known = self.facts.servers or {}
        if known.get(name, CONNECTED) == CONNECTED and (name in known or len(known) < SERVERS_AT_MOST):
            self.facts.servers = known | {name: status}

    def answered_by(self, model: Any, seq: int, at_s: float | None) -> None:
        """Takes note of the model that answers, and shows it where it is another one than before."""
        facts = self.facts
        if not isinstance(model, str) or not model:
            return
        if facts.model not in (None, model):
            self.put(Item("model", f"{facts.model} → {model}", at_s, seq))
        facts.model = model
        if model not in facts.models and len(facts.models) < MODELS_AT_MOST:
            facts.models = (*facts.models, model)


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object of a line, or None."""
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def table(value: Any) -> dict[str, Any]:
    """The object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def number(value: Any) -> float | None:
    """The finite number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def word(value: Any) -> str | None:
    """The text that is not empty, or None for anything else."""
    return value if isinstance(value, str) and value else None


def whole(value: Any) -> int | None:
    """The whole number, or None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
