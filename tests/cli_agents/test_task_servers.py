"""A task's tool servers with Codex and Claude Code themselves: the model calls them, and their answer comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui.harness import harness
from agenttime_tui.harness.decoders import decoder
from agenttime_tui.harness.protocol import Door, Launch, Turn
from task_packs.harbor.parts import McpServer
from tests.cli_agents.place import Done, Place
from tests.cli_agents.tool_servers import FOUND, GUESTS, GUESTS_TOOL, TOOL, HttpServer, shell_server
from tests.clis import toolset
from tests.harness.launches import Agent, Task
from tests.model_server import SCENARIOS, Request, Server

pytestmark = [pytest.mark.slow, pytest.mark.cli, pytest.mark.timeout(900), pytest.mark.xdist_group("clis")]

DUMMY, SHELF, DESK, EVENTS = "sk-none", "shelf", "front-desk", "events"
CODEX = ("gpt-6-sol", "gpt-5.5", "owner/some-model")
CLAUDE = "claude-opus-5-5"
ASKED: list[list[dict[str, Any]]] = [
    [{"mcp": [SHELF, TOOL]}, {"mcp": [DESK, GUESTS_TOOL]}, {"final": "Both say so."}],
    [{"final": "minutes = 3"}],
]
SCRIPTS = dict(SCENARIOS) | {
    "asked": ASKED,
    "sealed": [[{"final": "minutes = 9"}], ASKED[0]],
    "streamed": [[{"mcp": [EVENTS, GUESTS_TOOL]}, {"final": "It says so."}]],
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(SCRIPTS, unix=tmp_path / "model.sock") as playing:
        yield playing


@pytest.fixture
def desk() -> Iterator[HttpServer]:
    with HttpServer() as answering:
        yield answering


def shelf(folder: Path, *args: str) -> McpServer:
    return McpServer(SHELF, "stdio", command="/bin/sh", args=(str(shell_server(folder)), *args))


def both(tmp_path: Path, desk: HttpServer) -> tuple[McpServer, ...]:
    """One of each manner that both CLIs know."""
    return shelf(tmp_path / "srv", ", 'all' of $HOME"), McpServer(
        DESK, "http", desk.url("/mcp"), headers=(("X-Room", "7"),)
    )


def launch(server: Server, scenario: str, model: str, prompt: bytes = b"Do it.", **turn: Any) -> Launch:
    name = "claude-code" if model == CLAUDE else "codex"
    door = Door(server.url(scenario, v1=name == "codex"), str(server.unix) if name == "claude-code" else "", DUMMY)
    options = {"tools": ["Bash"]} if name == "claude-code" else {}
    told = Turn(door=door, toolset=str(toolset(name).root), **turn)
    return harness(name).command(Agent(harness=name, model=model, options=options), prompt, Task(), told)


def went(server: Server, place: Place, made: Launch) -> tuple[Done, list[Request]]:
    before = len(server.requests)
    done = place.run(made)
    assert done.code == 0, done.stderr
    assert done.finished(made)
    return done, server.requests[before:]


def heard(request: Request) -> str:
    """The whole conversation as the model gets it, without the escapes of JSON in JSON."""
    assert request.body is not None
    return json.dumps(request.body.get("messages") or request.body.get("input")).replace("\\", "")


def told(harness_name: str, done: Done) -> dict[str, str] | None:
    """What the decoder makes of a session's word on its servers."""
    reader = decoder(harness_name)
    for at, event in enumerate(done.events):
        reader.feed(at, float(at), "out", json.dumps(event).encode() + b"\n")
    for line in done.stderr.splitlines():
        reader.feed(len(done.events), None, "err", line.encode() + b"\n")
    return reader.facts.servers


@pytest.mark.parametrize("model", [*CODEX, CLAUDE])
def test_the_model_calls_them_and_a_fork_without_tools_still_answers(
    server: Server, desk: HttpServer, tmp_path: Path, model: str
) -> None:
    place, session = Place(tmp_path / "root"), "a-run"
    made = launch(server, "asked", model, session=session, servers=both(tmp_path, desk))
    done, requests = went(server, place, made)
    assert done.answer(made) == "Both say so."
    assert f"{FOUND}, 'all' of $HOME" in heard(requests[1])
    assert GUESTS in heard(requests[2])
    assert desk.methods.count("tools/call") == 1
    assert {one["x-room"] for one in desk.headers_seen} == {"7"}
    if model == CLAUDE:
        assert told("claude-code", done) == {SHELF: "connected", DESK: "connected"}
        assert {f"mcp__{SHELF}__{TOOL}", f"mcp__{DESK}__{GUESTS_TOOL}", "Bash"} <= set(requests[0].tools)
    name = "claude-code" if model == CLAUDE else "codex"
    fork = Place(tmp_path / "fork")
    tar, copied = harness(name).copy_of_session(place.kept(made), Turn(session=session), str(fork.root / "app"))
    fork.put(tar)
    asked = launch(server, "asked", model, b"How long?", continues="fork", session=copied, tools="none")
    done, requests = went(server, fork, asked)
    assert done.answer(asked) == "minutes = 3"
    assert [one.tools for one in requests] == [[]]


def test_an_estimate_without_them_is_followed_by_work_with_them(
    server: Server, desk: HttpServer, tmp_path: Path
) -> None:
    for number, model in enumerate((*CODEX, CLAUDE)):
        place, servers = Place(tmp_path / f"root{number}"), both(tmp_path / f"{number}", desk)
        estimate = launch(server, "sealed", model, session="a-run", tools="none", servers=servers)
        done, requests = went(server, place, estimate)
        assert (done.answer(estimate), [one.tools for one in requests]) == ("minutes = 9", [[]])
        work = launch(server, "sealed", model, b"Begin.", session="a-run", continues="resume", servers=servers)
        done, requests = went(server, place, work)
        assert done.answer(work) == "Both say so."
        assert {FOUND in heard(requests[2]), GUESTS in heard(requests[2])} == {True}


def test_claude_code_speaks_the_older_manner_too_and_says_which_did_not_start(
    server: Server, desk: HttpServer, tmp_path: Path
) -> None:
    servers = (
        McpServer(EVENTS, "sse", desk.url("/sse")), McpServer("gone", "http", "http://127.0.0.1:1/mcp"),
        McpServer("broken", "stdio", command="/bin/false"),
    )  # fmt: skip
    done, requests = went(server, Place(tmp_path / "root"), launch(server, "streamed", CLAUDE, servers=servers))
    assert GUESTS in heard(requests[1])
    assert told("claude-code", done) == {EVENTS: "connected", "gone": "failed", "broken": "failed"}


@pytest.mark.parametrize("model", CODEX[:2])
def test_codex_does_not_begin_without_one_and_says_which(
    server: Server, desk: HttpServer, tmp_path: Path, model: str
) -> None:
    servers = (*both(tmp_path, desk), McpServer("gone", "http", "http://127.0.0.1:1/mcp"),
               McpServer("broken.one", "stdio", command="/bin/false"))  # fmt: skip
    done = Place(tmp_path / "root").run(launch(server, "asked", model, servers=servers))
    assert (done.code, server.requests) == (1, [])
    assert told("codex", done) == {"gone": "failed", "broken.one": "failed"}
