"""Codex: `codex exec`, its home made anew for every attempt, its prompt an argument as published.

How it was found to behave (0.171.0), and what follows from it:
- It appends a standard input that is no terminal to the prompt and waits for its end: there is none unless the prompt
  goes that way. From there a byte order mark at the beginning is lost; an argument arrives byte for byte.
- `resume` takes the first session of the home by its id, which `codex_start.sh` finds. `--last` would take the one
  last written to, which may be a sub-agent's.
- A fork is `resume` in a copy of the home, as published: `codex exec fork` too needs the rollout of its parent, and
  adds nothing once the copy is there. The rollout alone is enough; the databases beside it are made again.
- Without tools the published switches leave `apply_patch`, or code mode's `exec`, to models of its catalog; a catalog
  with them taken out leaves nothing. A model that the catalog does not know has nothing left without it; for a clock
  the catalog gets an entry for it, a copy of its first.
- A session in code mode carries the list of its tools in its history, where the model would still see them: a turn
  without tools takes those lines out of its copy first.
- Whether a session has sub-agents is settled by its first turn: one that begins without tools has none later on.
- A model that searches for its tools would not see those of a server, so with one it does not search. With a tool
  server come three tools of the CLI's own that list what servers have.
- A tool server that does not start is only seen where it is required: then the session does not begin.
- A login is refreshed by writing auth.json anew: its home is in memory then, and only `sessions` is a link out of it.
- Effort `ultra` goes out as `xhigh` and adds sub-agents; `max` is the highest effort of a single agent.
- To stop it TERM is enough, with the rest of its group killed after: it dies at once, without a last line, and leaves
  its running command behind. INT would be orderly, but lets the command and the model go on for as long as they like.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from agenttime_tui.errors import UserError
from agenttime_tui.harness import mcp, task_servers
from agenttime_tui.harness.codex_config import catalog_of, config, has_login, server_table
from agenttime_tui.harness.config_home import (
    HOME,
    PLACE,
    fits,
    inside,
    kept_path,
    programs,
    short_hash,
    tar_of,
    workdir_of,
)
from agenttime_tui.harness.protocol import (
    ARGUMENT_CAP_BYTES,
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
from agenttime_tui.harness.routes import LOGIN_ENDPOINT, LOGIN_FILE, VARIABLES, route_of

SESSIONS = f"{PLACE}/sessions"
START = "codex_start.sh"
OPTIONS = ("subagents", "tools", "config", "source")
EXEC = ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
FIRST_SESSION = "@session"
RESERVED = ("codex_apps",)
"""Names of tool servers that it keeps for itself: the tools of one of a task would not be there."""


class Codex:
    """Runs Codex; options: subagents, tools, config, source."""

    name = "codex"
    turns: tuple[str, ...] = ("resume", "fork", "none", "clock", "oracle", "system")

    def command(self, agent: AgentLike, prompt: bytes, task: TaskLike, turn: Turn = PLAIN) -> Launch:
        """The launch of one turn; UserError when an option does not fit."""
        known_options(agent, OPTIONS)
        fits(agent, turn, self.turns)
        servers = (mcp.oracle(turn),) if turn.tools == "oracle" else ()
        more = option_table(agent, "config")
        if _holds_none(more):
            raise UserError(f"agent {agent.id}: options.config holds a null, which TOML does not have", 2)
        option_text(agent, "source", "")
        option_texts(agent, "tools")
        subagents = option_flag(agent, "subagents", True)
        theirs = task_servers.handed(turn, task, (*RESERVED, *(one.name for one in servers), *_servers_of(more)))
        tables = {one.name: server_table(one) for one in servers}
        tables |= {one.name: task_servers.codex_table(one, task, agent) for one in theirs}
        text = config(agent.model, agent.effort, turn, _base_url(agent, turn), subagents, tables, more)
        name = f"{short_hash(text)}.toml"
        files = {f"{PLACE}/{name}": text, **dict(programs(START))}
        for server in servers:
            files |= programs(*server.files)
        said, by, remarks = _prompt(agent, prompt)
        program = f"{turn.toolset}/bin/codex" if turn.toolset else "codex"
        flags = ["-C", workdir_of(task), "-m", agent.model]
        flags += ["-c", f"model_reasoning_effort={agent.effort}"] if agent.effort else []
        session = {"": [], "resume": ["resume"], "fork": ["resume"]}[turn.continues]
        which = {"": [], "resume": [FIRST_SESSION], "fork": [turn.session]}[turn.continues]
        start = ["/bin/sh", inside(f"{PLACE}/{START}"), name, catalog_of(turn, tables), agent.model]
        login, key = has_login(turn), VARIABLES["codex"]
        dummy = turn.door.dummy_key if turn.door else ""
        return Launch(
            argv=(*start, program, *EXEC, *flags, *session, "--", *which, said or "-"),
            env={"CODEX_HOME": inside(HOME), **({key: dummy} if dummy else {})},
            secret_env=() if login or dummy else (key,),
            stdin=None if said else prompt,
            files=((tar_of(files, (HOME, SESSIONS)), "{root}/"),),
            result={"type": "turn.completed"},
            version_argv=(program, "--version"),
            tmpfs=(HOME,) if login else (),
            secret_files={LOGIN_FILE: f"{HOME}/auth.json"} if login else {},
            keep=(SESSIONS,),
            answer=Answer({"type": "item.completed", "item": {"type": "agent_message"}}, ("item", "text")),
            prompt_by=by,
            servers=tuple(one.name for one in theirs),
            remarks=(*remarks, *_remarks(agent, turn)),
        )

    def copy_of_session(self, kept: Mapping[str, bytes], turn: Turn, workdir: str) -> tuple[bytes, str]:
        """The rollouts where a new home looks for them, and the id of the first, which is the agent's own."""
        found = {path: data for name, data in kept.items() if _is_rollout(path := kept_path(name))}
        for path in sorted(found, key=lambda one: PurePosixPath(one).name):
            if (session := _session_id(found[path])) is not None:
                return tar_of(found, everyone=True), session
        raise UserError("the kept files of this run hold no Codex session that could be gone on with", 1)


def _base_url(agent: AgentLike, turn: Turn) -> str:
    """The endpoint to be written down; empty where the CLI's own is right, as it is for a login without a listener."""
    route = route_of(agent, turn.account)
    url = turn.door.base_url if turn.door is not None else route.upstream if route is not None else ""
    return "" if url == LOGIN_ENDPOINT else url


def _servers_of(more: Mapping[str, Any]) -> Iterator[str]:
    """Names of the tool servers that the operator's own keys bring."""
    found = more.get("mcp_servers")
    yield from map(str, found) if isinstance(found, Mapping) else ()


def _is_rollout(path: str) -> bool:
    name = PurePosixPath(path)
    return name.is_relative_to(SESSIONS) and name.name.startswith("rollout-") and name.suffix == ".jsonl"


def _session_id(rollout: bytes) -> str | None:
    """The id that a rollout's first line gives, None for a sub-agent's or what is none."""
    try:
        first = json.loads(rollout.partition(b"\n")[0])
        meta: dict[str, Any] = first["payload"]
        if first["type"] != "session_meta" or isinstance(meta.get("source"), dict):
            return None
        return str(meta["id"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _prompt(agent: AgentLike, prompt: bytes) -> tuple[str, str, tuple[str, ...]]:
    """(the argument, empty where the prompt goes to stdin; how it goes; why)."""
    lost = " A byte order mark at its beginning is lost that way." if prompt.startswith(b"\xef\xbb\xbf") else ""
    if len(prompt) > ARGUMENT_CAP_BYTES:
        why = f"The prompt went by standard input: its {len(prompt)} bytes are more than one argument may have.{lost}"
        return "", "stdin-file", (why,)
    try:
        text = prompt.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"agent {agent.id}: Codex takes no prompt that is not UTF-8", 2) from None
    if "\0" in text or text in ("", "-") or "{root}" in text or text == FIRST_SESSION:
        return "", "stdin", (f"The prompt went by standard input: it is one that no argument can be.{lost}",)
    return text, "argument", ()


def _holds_none(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_none, value.values()))
    return any(map(_holds_none, value)) if isinstance(value, list | tuple) else value is None


def _remarks(agent: AgentLike, turn: Turn) -> Iterator[str]:
    if agent.effort == "ultra":
        yield "Effort ultra goes to the model as xhigh, with sub-agents: max is the highest effort of one agent."
    if turn.tools == "none" and not turn.continues:
        yield "Codex keeps from a first turn without tools that the session has no sub-agents."
