"""The scripted agent, run as itself under the shells it is written for."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui.harness import scripted
from task_packs.checking.pack import unpack
from task_packs.load import load_pack

DASH = ["dash"] if shutil.which("dash") else ["sh"]
SHELLS = [DASH, *([["busybox", "sh"]] if shutil.which("busybox") else [])]
shells = pytest.mark.parametrize("shell", SHELLS, ids=" ".join)


class Place:
    """A private root with the agent in it and the workspace of a task."""

    def __init__(self, root: Path, task_id: str | None) -> None:
        self.root = root
        self.app = root / "app"
        self.out = root / "out"
        self.app.mkdir()
        unpack(scripted.program_tar(), root)
        if task_id:
            unpack(load_pack("demo").task(task_id).workspace_tar(), root)

    def start(self, shell: list[str], persona: str, request: str, *more: str) -> subprocess.Popen[bytes]:
        """The agent, running in a process group of its own, its prompt already on stdin."""
        prompt = self.root / "prompt"
        sentence = f"\n\nPlease work on this task for a full {request}. Your goal" if request else ""
        prompt.write_text("Write network.txt for a full picture." + sentence)
        argv = [*shell, str(self.root / "opt/agent/agent.sh"), "--persona", persona, *more]
        with prompt.open("rb") as stdin, self.out.open("wb") as out, (self.root / "err").open("wb") as err:
            return subprocess.Popen(argv, cwd=self.app, stdin=stdin, stdout=out, stderr=err, start_new_session=True)

    def run(self, shell: list[str], persona: str, request: str, *more: str) -> tuple[int, list[dict[str, Any]]]:
        code = self.start(shell, persona, request, *more).wait(60)
        return code, self.events()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_bytes().splitlines()]

    def here(self) -> list[int]:
        """Processes that work in this place, zombies left out."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if Path(os.readlink(f"/proc/{name}/cwd")).is_relative_to(self.app):
                    found.append(int(name))
        return found

    def sessions(self) -> set[int]:
        """The sessions of the processes here."""
        found = set()
        for pid in self.here():
            with contextlib.suppress(ProcessLookupError):
                found.add(os.getsid(pid))
        return found


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    made = Place(tmp_path, getattr(request, "param", None))
    yield made
    while left := made.here():
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def on(task_id: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("place", [task_id], indirect=True)


SLACK_S = 0.8
"""What a busy machine may add to the end; the exact end is measured by `make bench`."""


def kinds(events: list[dict[str, Any]]) -> list[str]:
    """The types in order; clock events, which come when the clock says so, are left out."""
    return [event["type"] for event in events if event["type"] != "clock"]


def own_seconds(events: list[dict[str, Any]]) -> float:
    """From the start to the last event with a clock, by the agent's own clock."""
    clocks = [event["uptime"] for event in events if "uptime" in event]
    return round(float(clocks[-1] - clocks[0]), 2)


@shells
@on("no-way-out")
def test_punctual_ends_at_the_request_by_its_own_clock(shell: list[str], place: Place) -> None:
    code, events = place.run(shell, "punctual", "1.25 seconds")
    assert code == 0
    assert 1.25 <= own_seconds(events) <= 1.25 + SLACK_S
    assert kinds(events) == ["start", "think", "tool", "output", "edit", "tool", "output", "result"]
    assert events[0]["asked"] == "1.25 seconds"
    assert (place.app / "network.txt").read_text().startswith("default_routes: ")
    assert (place.root / "err").read_bytes() == b""


@pytest.mark.parametrize(
    ("request_text", "asked", "seconds"),
    [("0.02 minutes", "0.02 minutes", 1.2), ("0.0003 hours", "0.0003 hours", 1.08), ("1 second", "1 second", 1.0)],
)
def test_requests_in_every_unit(place: Place, request_text: str, asked: str, seconds: float) -> None:
    code, events = place.run(DASH, "punctual", request_text)
    assert (code, events[0]["asked"]) == (0, asked)
    assert seconds <= own_seconds(events) <= seconds + SLACK_S


def test_without_a_request_it_works_at_a_pace_of_its_own(place: Place) -> None:
    code, events = place.run(DASH, "early", "")
    assert (code, events[0]["asked"]) == (0, "")
    assert 3.0 <= own_seconds(events) <= 3.0 + SLACK_S


@on("busiest-visitor")
def test_early_ends_early_and_is_wrong(place: Place) -> None:
    code, events = place.run(DASH, "early", "2 seconds")
    assert code == 0
    assert 0.8 <= own_seconds(events) <= 0.8 + SLACK_S
    assert (place.app / "answer.txt").read_text() == "10.20.6.33\n"


@on("busiest-visitor")
def test_late_takes_two_and_a_half_times_as_long_and_is_right(place: Place) -> None:
    code, events = place.run(DASH, "late", "0.8 seconds")
    assert code == 0
    assert 2.0 <= own_seconds(events) <= 2.0 + SLACK_S
    assert (place.app / "answer.txt").read_text() == "10.20.5.5\n"


@shells
@on("mend-total")
def test_sleeper_does_the_work_at_once_and_sleeps(shell: list[str], place: Place) -> None:
    code, events = place.run(shell, "sleeper", "1.5 seconds")
    assert code == 0
    assert kinds(events) == ["start", "tool", "output", "edit", "sleep", "result"]
    assert 0 < next(event["seconds"] for event in events if event["type"] == "sleep") <= 1.5
    assert 1.5 <= own_seconds(events) <= 1.5 + SLACK_S


@shells
@on("sales-report")
def test_crasher_fails_halfway(shell: list[str], place: Place) -> None:
    code, events = place.run(shell, "crasher", "1.6 seconds")
    assert code == 3
    assert 0.8 <= own_seconds(events) <= 0.8 + SLACK_S
    assert kinds(events)[-1] == "error"
    assert "result" not in kinds(events)
    assert (place.root / "err").read_text() == "scripted: fatal: lost the connection to the model\n"


@shells
@on("mend-total")
def test_stubborn_outlives_term_with_its_detached_child(shell: list[str], place: Place) -> None:
    child = place.start(shell, "stubborn", "1 second")
    wait_for(lambda: kinds(place.events()).count("think") >= 1)
    wait_for(lambda: len(place.sessions()) == 2)  # the child has a session of its own
    sessions = place.sessions()
    for session in sessions:
        os.killpg(session, signal.SIGTERM)
    before = kinds(place.events()).count("think")
    wait_for(lambda: kinds(place.events()).count("think") > before)
    assert place.sessions() == sessions
    assert child.poll() is None
    for session in sessions:
        os.killpg(session, signal.SIGKILL)
    assert child.wait(10) == -signal.SIGKILL


@shells
@on("busiest-visitor")
def test_meddler_is_wrong_in_time_and_then_meddles(shell: list[str], place: Place) -> None:
    code, events = place.run(shell, "meddler", "1 second")
    assert code == 0
    assert 1.0 <= own_seconds(events) <= 1.0 + SLACK_S
    assert (place.app / "answer.txt").read_text() == "10.20.6.33\n", "the answer is wrong when the session ends"
    (place.root / "tests").mkdir(exist_ok=True)
    (place.root / "tests/secret").write_text("x")
    wait_for(lambda: any(place.app.glob(".tests-seen/**/secret")))
    wait_for(lambda: (place.root / "logs/verifier/reward.json").exists())
    wait_for(lambda: (place.root / "logs/verifier/reward.txt").read_text() == "1\n")
    wait_for(lambda: (place.app / "answer.txt").read_text() == "10.20.5.5\n")


@on("serve-notes")
def test_the_service_outlives_the_session(place: Place) -> None:
    code, _ = place.run(SHELLS[-1], "punctual", "1.5 seconds")
    assert code == 0
    port = int((place.app / "port.txt").read_text())
    with open("/proc/net/tcp") as table:
        assert f":{port:04X} 00000000:0000 0A " in table.read()
    assert place.here()


@shells
def test_whatever_a_command_prints_is_json(shell: list[str], place: Place) -> None:
    raw = (
        b'"q" back\\slash\ttab\x01\x1b[31m\x7f caf\xc3\xa9 \xf0\x9f\x8e\x89 bad \xff\xc0\x80\xed\xa0\x80\xe2\x82 end\r'
    )
    (place.app / "raw").write_bytes(raw)
    (place.app / "total.sh").write_text("cat raw\n")
    (place.app / "items.csv").write_text("")
    code, events = place.run(shell, "early", "1 second")
    assert code == 0
    said = next(event["text"] for event in events if event["type"] == "output")
    assert said.startswith('cat raw\n"q" back\\slash\ttab\x01\x1b[31m\x7f café 🎉 bad ')
    assert said.endswith(" end\r")
    assert "�" in said


def test_a_steady_stream_of_lines(place: Place) -> None:
    code, events = place.run(DASH, "punctual", "1 second", "--lines-per-s", "400")
    assert code == 0
    numbered = [event["n"] for event in events if "n" in event]
    assert numbered == list(range(1, len(numbered) + 1))
    # It never runs ahead of its rate, and falls behind it only where it is not let run.
    assert own_seconds(events) >= 1.0
    assert 100 <= len(numbered) <= 400 * (own_seconds(events) + 0.1)


def test_what_it_does_not_know_is_said(place: Place) -> None:
    done = subprocess.run(
        [*DASH, str(place.root / "opt/agent/agent.sh"), "--persona", "lazy"],
        input=b"x", cwd=place.app, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, b"scripted: unknown persona lazy\n")


def test_the_version(place: Place) -> None:
    argv = [*DASH, str(place.root / "opt/agent/agent.sh"), "--version"]
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"scripted 1.0\n"


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    """Polls until `condition()` holds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.02)
