"""A check of a pack that is told to end takes what it made off the engine first."""

from __future__ import annotations

import signal
from argparse import Namespace
from pathlib import Path

import pytest

from agenttime_tui.verbs import packs
from agenttime_tui.verbs.context import Context
from task_packs.load import load_pack
from tests.packs.packfile import write_pack


class Engine:
    """A client that is closed when all is tidied up; who tells the program again meanwhile is not heard."""

    closed = 0

    def close(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        self.closed += 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_goes_by_way_of_the_tidying_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    engine, before = Engine(), signal.getsignal(number)
    monkeypatch.setattr(packs, "engine_here", lambda: engine)
    context = Context(Namespace(home=tmp_path / "home", json=False))
    with pytest.raises(SystemExit) as ended, packs._grader(context, load_pack(write_pack(tmp_path)), print):
        signal.raise_signal(number)
    assert (ended.value.code, engine.closed) == (128 + number, 1)
    assert signal.getsignal(number) == before
