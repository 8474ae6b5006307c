"""Claude Code: `claude --print`, its prompt on standard input as published, its home made anew for every attempt.

How it was found to behave (2.1.332), and what follows from it:
- An empty `--tools` leaves nothing on the wire. With a tool server it adds a placeholder for deferred tools unless
  ENABLE_TOOL_SEARCH is false, so it is for the clock; the oracle's tool is always loaded beside the native ones.
- `--system-prompt-file` with an empty file leaves one sentence that names the product. An argument would do for a
  short text; a file does for any.
- `--resume` goes on in the same file; with `--fork-session` in a full copy under a new id. Both look for the session
  in `projects/` under the working directory, with every character but letters and digits turned into `-`.
- It refuses to skip permissions as root unless IS_SANDBOX is set.
- It starts itself again, by the path of the program that the kernel loaded, for the find and grep of its shell tool: it
  cannot be started by naming the loader of a glibc that came along (those two then fail). An image without glibc or
  bash gets them mounted where they belong.
- It records the system prompt of a session's first request and sends it with every later turn, so a first turn without
  tools must not record it.
- A refusal would make it ask again, and then go on with another model, unless both are turned off.
- A tool server of a task is waited for and its tools are seen at once, as it is marked to be always loaded; one that
  does not start is left out, and the session's first event says so. It is reached past the socket to the model.
- To stop it TERM is right: it ends its command, writes down what it cost, and says no last line. INT would end it
  with code 0.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from pathlib import PurePosixPath

from agenttime_tui.errors import UserError
from agenttime_tui.harness import mcp, task_servers
from agenttime_tui.harness.config_home import (
    HOME,
    PLACE,
    fits,
    inside,
    kept_path,
    programs,
    short_hash,
    tar_of,
)
from agenttime_tui.harness.protocol import (
    PLAIN,
    AgentLike,
    Answer,
    Launch,
    TaskLike,
    Turn,
    known_options,
    option_flag,
    option_table,
    option_text,
    option_texts,
)
from agenttime_tui.harness.routes import ENDPOINTS, TOKEN_VARIABLE, VARIABLES

PROJECTS = f"{HOME}/projects"
BEARER = "ANTHROPIC_AUTH_TOKEN"
OPTIONS = ("subagents", "tools", "settings", "env", "add_dir", "clock_server", "source")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
DELEGATION = "Task,Agent,Workflow,TeamCreate,TeamDelete,SendMessage"
RESERVED = ("workspace", "ide", "computer-use", "claude-in-chrome", "claude.ai")
"""Names of tool servers that it keeps for itself: one of a task would be left out without a word."""
SESSIONS = uuid.UUID("5a1c9f0e-64cb-5d1c-9a53-0f6f1f0c8f52")
"""Namespace of the session ids that are made of names."""
QUIET = {
    "IS_SANDBOX": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS": "0",
}
"""In every session: nothing to other hosts than the model's, no other model after a refusal, no end of the wait for
commands in the background."""


class ClaudeCode:
    """Runs Claude Code; options: subagents, tools, settings, env, add_dir, clock_server, source."""

    name = "claude-code"
    turns: tuple[str, ...] = ("resume", "fork", "none", "clock", "oracle", "system")

    def command(self, agent: AgentLike, prompt: bytes, task: TaskLike, turn: Turn = PLAIN) -> Launch:
        """The launch of one turn, prompt on stdin; UserError when an option or the account does not fit."""
        known_options(agent, OPTIONS)
        fits(agent, turn, self.turns)
        files, flags = _tools(agent, task, turn)
        env, secrets = _account(agent, turn)
        option_text(agent, "source", "")
        own = option_table(agent, "env")
        if not all(isinstance(value, str) for value in own.values()):
            raise UserError(f"agent {agent.id}: options.env must be a table of text values", 2)
        for folder in option_texts(agent, "add_dir"):
            flags += ["--add-dir", folder]
        if agent.effort and agent.effort not in EFFORTS:
            raise UserError(f"agent {agent.id}: effort {agent.effort} is unknown to Claude Code; known are "
                            f"{', '.join(EFFORTS)}", 2)  # fmt: skip
        effort = ["--effort", agent.effort] if agent.effort else []
        program = f"{turn.toolset}/bin/claude" if turn.toolset else "claude"
        return Launch(
            argv=(
                program, "--print", "--output-format", "stream-json", "--verbose", "--model", agent.model, *effort,
                *_session(turn), *flags,
            ),
            env={"CLAUDE_CONFIG_DIR": inside(HOME), **QUIET, **env, **own},
            secret_env=secrets,
            stdin=prompt,
            files=((tar_of(files, (HOME,)), "{root}/"),),
            result={"type": "result"},
            version_argv=(program, "--version"),
            keep=(PROJECTS,),
            answer=Answer({"type": "result"}, ("result",)),
            prompt_by="stdin",
            servers=tuple(one.name for one in task_servers.handed(turn, task)),
            remarks=_remarks(prompt),
        )  # fmt: skip

    def copy_of_session(self, kept: Mapping[str, bytes], turn: Turn, workdir: str) -> tuple[bytes, str]:
        """The session file where a session in `workdir` looks for it, and its id.

        `workdir` is the directory as the CLI will see it. The session is that of `turn.session` where it is named,
        else the only one.
        """
        found = {
            path.stem: data
            for name, data in kept.items()
            if (path := PurePosixPath(kept_path(name))).is_relative_to(PROJECTS)
            and path.suffix == ".jsonl"
            and len(path.relative_to(PROJECTS).parts) == 2
        }
        wanted = _session_id(turn.session) if turn.session else ""
        if wanted not in found and len(found) != 1:
            which = f"session {wanted}" if wanted else "one session"
            raise UserError(f"the kept files of this run do not hold {which} of Claude Code to go on with", 1)
        session = wanted if wanted in found else next(iter(found))
        folder = f"{PROJECTS}/{slug(workdir)}"
        return tar_of({f"{folder}/{session}.jsonl": found[session]}, (HOME, PROJECTS, folder), everyone=True), session


def _remarks(prompt: bytes) -> tuple[str, ...]:
    if re.match(rb"/[A-Za-z][\w:-]*(\s|$)", prompt):
        return ("The prompt begins as a command of Claude Code does: where it knows that command the model gets none.",)
    return ()


def slug(workdir: str) -> str:
    """The name of the directory below projects/ that the sessions of a working directory are in."""
    return re.sub(r"[^A-Za-z0-9]", "-", workdir)


def _session_id(name: str) -> str:
    """A session's id: the name itself where it is a UUID, else one made of it."""
    try:
        return str(uuid.UUID(name))
    except ValueError:
        return str(uuid.uuid5(SESSIONS, name))


def _session(turn: Turn) -> list[str]:
    if turn.continues == "fork":
        return ["--resume", _session_id(turn.session), "--fork-session"]
    if turn.continues == "resume":
        return ["--resume", _session_id(turn.session)] if turn.session else ["--continue"]
    return ["--session-id", _session_id(turn.session)] if turn.session else []


def _tools(agent: AgentLike, task: TaskLike, turn: Turn) -> tuple[dict[str, bytes], list[str]]:
    """Files by their place, and flags, that give the session its tools and its system prompt."""
    files: dict[str, bytes] = {}

    def placed(name: str, data: bytes) -> str:
        place = f"{PLACE}/{short_hash(data)}-{name}"
        files[place] = data
        return inside(place)

    settings = dict(option_table(agent, "settings"))
    if turn.tools == "native" or turn.tools == "oracle":
        flags = ["--dangerously-skip-permissions", "--permission-prompts", "none"]
        if tools := option_texts(agent, "tools"):
            flags += ["--tools", ",".join(tools)]
        if not option_flag(agent, "subagents", True):
            flags += ["--disallowedTools", DELEGATION]
    else:
        flags = ["--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands", "--no-chrome"]
        settings |= {"disableAllHooks": True, "disableClaudeAiConnectors": True}
    if turn.tools == "none":
        flags += ["--tools", "", "--permission-mode", "dontAsk"]
        flags += [] if turn.continues else ["--system-prompt-snapshot", "off"]
    server = mcp.clock(agent) if turn.tools == "clock" else mcp.oracle(turn) if turn.tools == "oracle" else None
    theirs = task_servers.handed(turn, task, RESERVED if server is None else (*RESERVED, server.name))
    if server is not None or theirs:
        tables = {one.name: task_servers.claude_table(one) for one in theirs}
        tables |= {} if server is None else {server.name: _own_server(server)}
        flags += ["--mcp-config", placed("tools.json", _json({"mcpServers": tables}))]
    if server is not None:
        files |= programs(*server.files)
        tool = f"mcp__{server.name}__{server.tool}"
        flags += ["--allowedTools", tool]
        if turn.tools == "clock":
            flags += ["--tools", tool, "--restricted", "--permission-mode", "dontAsk"]
        else:
            flags += ["--strict-mcp-config"]
    if agent.effort:
        settings.setdefault("reasoning_effort", agent.effort)
    if settings:
        flags += ["--settings", placed("settings.json", _json(settings))]
    if turn.system or turn.tools == "clock":
        flags += ["--system-prompt-file", placed("system.txt", turn.system.encode())]
    return files, flags


def _own_server(server: mcp.ToolServer) -> dict[str, object]:
    """Its place is filled in by the CLI from a variable: a file cannot know the environment's root."""
    return {
        "type": "stdio",
        "command": "/bin/sh",
        "args": [f"${{CLAUDE_CONFIG_DIR}}/../{server.file}", *server.args],
        "env": dict(server.env),
        "alwaysLoad": True,
    }


def _json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def _account(agent: AgentLike, turn: Turn) -> tuple[dict[str, str], tuple[str, ...]]:
    """(variables, names of the secret ones) by which the model is reached."""
    if turn.account == "auth_file":
        raise UserError(
            f"agent {agent.id}: Claude Code takes no auth_file; give its account token_env, with what "
            "`claude setup-token` printed",
            2,
        )
    closed = turn.tools in ("none", "clock")
    env = {"FORCE_AUTO_BACKGROUND_TASKS": str(int(not closed)), "ENABLE_BACKGROUND_TASKS": str(int(not closed))}
    if turn.tools == "clock":
        env["ENABLE_TOOL_SEARCH"] = "false"
    if turn.continues == "fork":
        env["DISABLE_AUTO_COMPACT"] = "1"
    door = turn.door
    if door is not None:
        env["ANTHROPIC_BASE_URL"] = door.base_url
        if door.unix_socket:
            env["ANTHROPIC_UNIX_SOCKET"] = door.unix_socket
    elif agent.route != "direct":
        env["ANTHROPIC_BASE_URL"] = ENDPOINTS.get((agent.harness, agent.route), agent.route)
    name = TOKEN_VARIABLE if turn.account == "token_env" else VARIABLES["claude-code"]
    if name != TOKEN_VARIABLE:
        # One model for everything that the CLI asks by itself.
        env |= {
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": agent.model,
            "CLAUDE_CODE_SUBAGENT_MODEL": agent.model,
            "CLAUDE_CODE_SUBAGENT_MODEL_FORCE": "1",
        }
        if agent.route == "openrouter":
            env[name], name = "", BEARER
    if door is not None and door.dummy_key:
        return {**env, name: door.dummy_key}, ()
    return env, (name,)
