"""A task's tool servers on their way to each agent, and what a run says of them afterwards."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui.errors import UserError
from agenttime_tui.harness import harness
from agenttime_tui.harness.checks import expected_of
from agenttime_tui.harness.decoders import decoder
from agenttime_tui.harness.observe import observe
from agenttime_tui.harness.protocol import Launch, Turn
from remote_agent.capture import body
from remote_agent.wire import Record
from task_packs.harbor.parts import McpServer
from task_packs.harbor.task import read_task_toml
from tests.harness.launches import Agent, Task, shipped

ID = "01a22b75-6a4c-7131-b385-ed9d0312a294"
SHELF = McpServer("shelf", "stdio", command="/srv/shelf", args=("--all", 'a "b" ${HOME}'))
BROWSER = McpServer("web-browser", "http", "http://browser:8000/mcp", headers=(("X-Room", "7"),))
EVENTS = McpServer("events", "sse", "http://events:9/sse")
BOTH = Turn(servers=(SHELF, BROWSER))


def launch(name: str, turn: Turn = BOTH, **options: Any) -> Launch:
    options |= {"argv": ["tool"]} if name == "command" else {}
    return harness(name).command(Agent(harness=name, options=options), b"Do it.", Task(), turn)


def codex_servers(made: Launch) -> Any:
    return tomllib.loads(shipped(made)[f"/opt/agent/{made.argv[2]}"].decode()).get("mcp_servers")


def claude_servers(made: Launch) -> Any:
    place = made.argv[made.argv.index("--mcp-config") + 1].removeprefix("{root}")
    return json.loads(shipped(made)[place])["mcpServers"]


def test_codex_requires_each_and_shows_its_tools_at_once() -> None:
    made = launch("codex")
    started = {"required": True, "startup_timeout_sec": 30}
    assert codex_servers(made) == {
        "shelf": {"command": "/srv/shelf", "args": ["--all", 'a "b" ${HOME}'], **started},
        "web-browser": {"url": "http://browser:8000/mcp", "http_headers": {"X-Room": "7"}, **started},
    }
    assert made.argv[3] == "servers"
    assert made.servers == ("shelf", "web-browser")
    assert made.remarks == ()


def test_claude_code_has_each_loaded_from_the_start() -> None:
    made = launch("claude-code", Turn(servers=(SHELF, BROWSER, EVENTS)))
    assert claude_servers(made) == {
        "shelf": {"type": "stdio", "command": "/srv/shelf", "args": ["--all", 'a "b" ${HOME}'], "alwaysLoad": True},
        "web-browser": {
            "type": "http", "url": "http://browser:8000/mcp", "headers": {"X-Room": "7"}, "alwaysLoad": True,
        },
        "events": {"type": "sse", "url": "http://events:9/sse", "alwaysLoad": True},
    }  # fmt: skip
    assert "--strict-mcp-config" not in made.argv
    assert "--tools" not in made.argv
    assert made.servers == ("shelf", "web-browser", "events")


@pytest.mark.parametrize("name", ["codex", "claude-code"])
def test_nothing_is_told_where_a_task_has_none(name: str) -> None:
    assert launch(name) != launch(name, Turn())
    assert launch(name, Turn()).servers == ()
    assert not any(
        b"mcp" in data.lower() for place, data in shipped(launch(name, Turn())).items() if "start" not in place
    )


@pytest.mark.parametrize("name", ["codex", "claude-code"])
@pytest.mark.parametrize("tools", ["none", "clock"])
def test_they_are_gone_with_the_native_tools(name: str, tools: str) -> None:
    made = launch(name, Turn(tools=tools, servers=(SHELF, BROWSER)))
    assert made == launch(name, Turn(tools=tools))
    assert not any(b"shelf" in data for data in shipped(made).values())


@pytest.mark.parametrize("continues", ["resume", "fork"])
def test_a_session_that_goes_on_with_its_native_tools_keeps_them(continues: str) -> None:
    turn = Turn(continues=continues, session=ID, servers=(SHELF,))
    assert list(codex_servers(launch("codex", turn))) == ["shelf"]
    assert list(claude_servers(launch("claude-code", turn))) == ["shelf"]


def test_the_oracle_stands_beside_them() -> None:
    turn = Turn(tools="oracle", elapsed_s="930", servers=(SHELF,))
    assert list(codex_servers(launch("codex", turn))) == ["elapsed", "shelf"]
    assert sorted(claude_servers(launch("claude-code", turn))) == ["elapsed", "shelf"]


@pytest.mark.parametrize("name", ["scripted", "command"])
def test_an_agent_that_is_not_told_of_them_says_so(name: str) -> None:
    said = "The task's tool servers (shelf, web-browser) are not handed to this agent."
    assert said in launch(name).remarks
    assert launch(name).servers == ()
    assert launch(name).argv == launch(name, Turn()).argv
    assert said not in launch(name, Turn(tools="clock", servers=(SHELF,))).remarks


def server(name: str = "shelf", **more: Any) -> McpServer:
    return McpServer(name, **({"transport": "http", "url": "http://a/mcp"} | more))


@pytest.mark.parametrize("name", ["codex", "claude-code"])
@pytest.mark.parametrize(
    ("servers", "said"),
    [
        ((server(headers=(("Authorization", "Bearer ${TOKEN}"),)),), "takes ${TOKEN} into its header Authorization"),
        ((server(url="http://a/mcp?key=${KEY:-x}"),), "takes ${KEY:-x} into its url, and no key enters a run"),
        ((server(), server()), 'cannot be beside "shelf", which this agent has too'),
        ((server("a-shelf"), server("a.shelf")), 'tool server "a.shelf" cannot be beside "a-shelf"'),
        ((server("a shelf"),), "needs a name of letters, digits, '.', '_' and '-'"),
    ],
)  # fmt: skip
def test_what_cannot_be_handed_over_is_one_sentence(name: str, servers: tuple[McpServer, ...], said: str) -> None:
    with pytest.raises(UserError) as caught:
        launch(name, Turn(servers=servers))
    assert str(caught.value).startswith('task "t": tool server "')
    assert said in str(caught.value)
    assert caught.value.code == 2


def test_codex_does_not_speak_sse_and_says_what_to_do() -> None:
    with pytest.raises(UserError) as caught:
        launch("codex", Turn(servers=(EVENTS,)))
    assert str(caught.value) == (
        'task "t": tool server "events" is reached by sse, which Codex (agent quick) does not speak: set transport = '
        '"streamable-http" in task.toml where the server speaks that too, or leave the task to another agent'
    )


@pytest.mark.parametrize(
    ("name", "taken", "turn", "options"),
    [
        ("codex", "elapsed", Turn(tools="oracle", elapsed_s="3"), {}),
        ("claude-code", "elapsed", Turn(tools="oracle", elapsed_s="3"), {}),
        ("codex", "mine", Turn(), {"config": {"mcp_servers": {"mine": {"command": "x"}}}}),
        ("claude-code", "computer-use", Turn(), {}),
        ("claude-code", "workspace", Turn(), {}),
        ("claude-code", "claude.ai", Turn(), {}),
        ("codex", "codex_apps", Turn(), {}),
    ],
)  # fmt: skip
def test_a_name_that_is_taken_is_refused(name: str, taken: str, turn: Turn, options: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=rf'tool server "{taken}" cannot be beside "{taken}", which this agent has too'):
        launch(name, replace(turn, servers=(server(taken),)), **options)


def test_the_operator_s_own_servers_stay_beside_them() -> None:
    made = launch("codex", config={"mcp_servers": {"mine": {"command": "x"}}})
    assert list(codex_servers(made)) == ["shelf", "web-browser", "mine"]


def test_what_a_task_toml_declares_is_what_is_handed_over(tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_text(
        '[[environment.mcp_servers]]\nname = "desk"\ntransport = "streamable-http"\nurl = "http://desk:8000/mcp"\n'
    )
    turn = Turn(servers=read_task_toml(tmp_path / "task.toml").mcp_servers)
    assert codex_servers(launch("codex", turn))["desk"]["url"] == "http://desk:8000/mcp"
    assert claude_servers(launch("claude-code", turn))["desk"]["type"] == "http"


def told(name: str, stream: str, *lines: str | Mapping[str, Any]) -> Any:
    reader = decoder(name)
    for at, line in enumerate(lines):
        text = line if isinstance(line, str) else json.dumps(line)
        reader.feed(at + 1, float(at), stream, text.encode() + b"\n")
    return reader.facts.servers


def init(**servers: str) -> dict[str, Any]:
    listed = [{"name": name, "status": status, "source": "dynamic"} for name, status in servers.items()]
    return {"type": "system", "subtype": "init", "session_id": ID, "tools": [], "mcp_servers": listed}


def test_claude_code_says_of_each_whether_it_is_connected() -> None:
    assert told("claude-code", "out", {"type": "system", "subtype": "init", "session_id": ID}) is None
    assert told("claude-code", "out", init(shelf="failed", desk="connected")) == {
        "shelf": "failed", "desk": "connected",
    }  # fmt: skip
    odd = init() | {"mcp_servers": ["shelf", {"status": "failed"}, {"name": "desk", "status": None}]}
    assert told("claude-code", "out", odd) == {"desk": "None"}
    again = [init(), init(shelf="connected", desk="failed"), init(shelf="failed", desk="connected")]
    assert told("claude-code", "out", *again) == {"shelf": "failed", "desk": "failed"}


def test_codex_says_which_it_did_not_begin_without() -> None:
    error = (
        "Error: thread/start: thread/start failed: error creating thread: Fatal error: Failed to initialize session: "
        "required MCP servers failed to initialize: web-browser: handshaking with MCP server failed: Send message "
        "error: Client error, when send initialize request; shelf: handshaking with MCP server failed"
    )
    assert told("codex", "err", "Reading additional input from stdin...", error) == {
        "web-browser": "failed", "shelf": "failed",
    }  # fmt: skip
    assert told("codex", "out", {"type": "item.completed", "item": {"type": "agent_message", "text": error}}) is None


def test_a_run_is_held_to_the_servers_that_its_spec_names() -> None:
    assert expected_of({"origin": {"servers": ["shelf"]}}).servers == ("shelf",)
    assert expected_of({"origin": {}}).servers == ()


def test_a_run_that_did_not_begin_for_want_of_one_fails_that_check() -> None:
    said = b"Error: thread/start: required MCP servers failed to initialize: shelf: connection closed\n"
    spec = {"origin": {"agent": {"harness": "codex"}, "servers": ["shelf", "desk"]}}
    records = [
        Record(1, "released", "boot", 1, 1, 1, {"step": "session"}),
        Record(2, "transcript", "boot", 2, 2, 2, {"stream": "err", "offset": 0, **body(said)}),
        Record(3, "exited", "boot", 3, 3, 3, {"step": "session", "code": 1, "cause": "own"}),
        *(
            Record(4 + at, "captured", "boot", 4, 4, 4, {"stream": name, "intact": True})
            for at, name in enumerate(("out", "err"))
        ),
    ]
    found = observe(spec, records, 1.0)
    assert (found.outcome, found.failed) == ("error", ("servers",))
    assert [check.detail for check in found.checks if check.passed is False] == ["shelf failed"]
    assert json.loads(json.dumps(found.as_data()))["facts"]["servers"] == {"shelf": "failed"}
