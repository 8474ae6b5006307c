"""What every verb is given: its arguments, the settings, the store, and one way to answer."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from agenttime_tui.config import Settings, load_settings
from store.reader import Reader

SCHEMA = 1


class Context:
    """One call of the command line."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args

    @cached_property
    def settings(self) -> Settings:
        """Settings by flag, environment, config file, default."""
        return load_settings(getattr(self.args, "home", None))

    @property
    def json(self) -> bool:
        """Whether the answer is to be JSON."""
        return bool(getattr(self.args, "json", False))

    @property
    def pack_dirs(self) -> list[Path]:
        """Where the operator's own packs lie."""
        return [self.settings.home / "packs"]

    def now_utc_ns(self) -> int:
        """This computer's clock; it stamps what people do, never a runtime."""
        return time.time_ns()

    @property
    def stored(self) -> bool:
        """Whether there is a store at all."""
        return self.settings.database.exists()

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """The store, read-only."""
        with Reader(self.settings.database) as reader:
            yield reader

    def answer(self, payload: dict[str, Any]) -> None:
        """Prints a JSON answer; all but printable ASCII is escaped, so that nothing in it acts on a terminal."""
        whole = {"schema": SCHEMA, "as_of": utc_text(self.now_utc_ns()), **payload}
        print(json.dumps(whole, indent=1, allow_nan=False).replace("\x7f", "\\u007f"))

    def say(self, line: str = "") -> None:
        """Prints a line for people at once."""
        print(line, flush=True)

    def tell(self, line: str) -> None:
        """Prints a remark beside the answer."""
        print(line, file=sys.stderr, flush=True)


def utc_text(at_utc_ns: int) -> str:
    """2026-10-01T08:15:02.123Z."""
    at = datetime.fromtimestamp(at_utc_ns / 1e9, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def table(rows: list[list[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Rows as aligned columns; the columns in `right` are right-aligned."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))] if rows else []
    return [
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
