"""The tool servers that a task hands its agent, as Codex and Claude Code are told of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from agenttime_tui.errors import UserError
from agenttime_tui.harness.protocol import AgentLike, ServerLike, TaskLike, Turn

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
VARIABLE = re.compile(r"\$\{[^}]*\}")
WITH_SERVERS = ("native", "oracle")
"""Tools of a turn that the task's servers are among."""
START_TIMEOUT_S = 30


def handed(turn: Turn, task: TaskLike, taken: Iterable[str] = ()) -> tuple[ServerLike, ...]:
    """The servers that a turn has; UserError for one that cannot be told of. `taken` are names of other servers."""
    if turn.tools not in WITH_SERVERS:
        return ()
    known = {plain(name): name for name in taken}
    for server in turn.servers:
        where = f'task "{task.id}": tool server "{server.name}"'
        if not NAME.fullmatch(server.name):
            raise UserError(f"{where} needs a name of letters, digits, '.', '_' and '-' in task.toml", 2)
        if (other := known.get(plain(server.name))) is not None:
            raise UserError(
                f'{where} cannot be beside "{other}", which this agent has too: give it another name in task.toml',
                2,
            )
        known[plain(server.name)] = server.name
        for place, text in (("url", server.url), *((f"header {name}", value) for name, value in server.headers)):
            if found := VARIABLE.search(text):
                raise UserError(
                    f"{where} takes {found[0]} into its {place}, and no key enters a run: write the value, or leave it "
                    "out of task.toml",
                    2,
                )
    return turn.servers


def plain(name: str) -> str:
    """The name as the tools carry it, where nothing but letters, digits and _ is left of it."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def claude_table(server: ServerLike) -> dict[str, Any]:
    """Its entry in a file for `--mcp-config`."""
    if server.transport == "stdio":
        how: dict[str, Any] = {"command": server.command, "args": list(server.args)}
    else:
        how = {"url": server.url, **({"headers": dict(server.headers)} if server.headers else {})}
    return {"type": server.transport, **how, "alwaysLoad": True}


def codex_table(server: ServerLike, task: TaskLike, agent: AgentLike) -> dict[str, Any]:
    """Its entry below mcp_servers; UserError for the transport that Codex does not speak."""
    how: dict[str, Any]
    if server.transport == "sse":
        raise UserError(
            f'task "{task.id}": tool server "{server.name}" is reached by sse, which Codex (agent {agent.id}) does not '
            'speak: set transport = "streamable-http" in task.toml where the server speaks that too, or leave the '
            "task to another agent",
            2,
        )
    if server.transport == "stdio":
        how = {"command": server.command, "args": list(server.args)}
    else:
        how = {"url": server.url, **({"http_headers": dict(server.headers)} if server.headers else {})}
    return how | {"required": True, "startup_timeout_sec": START_TIMEOUT_S}


def left_out(turn: Turn) -> tuple[str, ...]:
    """The remark of an agent that is not told of the task's servers; none where it would not have them anyway."""
    if turn.tools not in WITH_SERVERS or not turn.servers:
        return ()
    names = ", ".join(server.name for server in turn.servers)
    return (f"The task's tool servers ({names}) are not handed to this agent.",)
