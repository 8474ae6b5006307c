"""What every agent CLI has to say about itself before it can be launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agenttime_tui.errors import UserError


class AgentLike(Protocol):
    """The part of an agent configuration that a harness reads."""

    @property
    def id(self) -> str:
        """Name of the configuration."""

    @property
    def harness(self) -> str:
        """Which harness it is."""

    @property
    def model(self) -> str:
        """Model name, empty where the CLI has its own."""

    @property
    def effort(self) -> str:
        """Effort level, empty where the CLI has its own."""

    @property
    def version(self) -> str:
        """Pinned version of the CLI, empty where any will do."""

    @property
    def route(self) -> str:
        """direct, openrouter or a base URL."""

    @property
    def options(self) -> Mapping[str, Any]:
        """What only this harness knows."""


class TaskLike(Protocol):
    """The part of a task that a harness reads."""

    @property
    def id(self) -> str:
        """The task's id."""

    @property
    def workdir(self) -> str:
        """Where the agent works, absolute inside the environment."""


class ServerLike(Protocol):
    """A tool server (MCP) that a task hands its agent, as a harness reads it."""

    @property
    def name(self) -> str:
        """What its tools are known by."""

    @property
    def transport(self) -> str:
        """stdio, http (the streamable one) or sse."""

    @property
    def url(self) -> str:
        """Of http and sse."""

    @property
    def command(self) -> str:
        """Of stdio: a program inside the environment."""

    @property
    def args(self) -> Sequence[str]:
        """Of stdio."""

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """Of http and sse."""


@dataclass(frozen=True, slots=True)
class Door:
    """How a session reaches its model, as its CLI sees it."""

    base_url: str
    """With a listener of ours it begins with http://127.0.0.1; else the endpoint itself."""
    unix_socket: str = ""
    """Socket inside the environment that takes the place of the host of `base_url`, where the CLI supports one."""
    dummy_key: str = ""
    """What stands for the key where a listener adds the real one; empty: the real key enters by `secret_env`."""


TOOLS = ("native", "none", "clock", "oracle")


@dataclass(frozen=True, slots=True)
class Turn:
    """Which turn of which session is started, and what the agent may use in it."""

    continues: str = ""
    """Empty: a new session; resume: the one session of this environment goes on; fork: a copy of `session`."""
    session: str = ""
    """Id of the session: to be given to a new one where the CLI takes one, or that of the one to be forked."""
    tools: str = "native"
    """native, none, clock (nothing but a clock) or oracle (the native ones and the oracle's)."""
    system: str = ""
    """The task's own system prompt."""
    elapsed_s: str = ""
    """What the oracle tells, a plain decimal."""
    servers: tuple[ServerLike, ...] = ()
    """Tool servers of the task: they belong to the native tools, and are not there where those are not."""
    door: Door | None = None
    """None: the CLI's own endpoint."""
    toolset: str = ""
    """Where the CLI's files lie inside the environment; empty: it is found on PATH."""
    account: str = "key_env"
    """What the account gives: key_env, token_env or auth_file."""


PLAIN = Turn()


@dataclass(frozen=True, slots=True)
class Answer:
    """Where the last message of a session stands in its output: the last JSON line that matches, and a path in it."""

    match: dict[str, Any]
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """How one session of a CLI is started. In `argv`, `env` and `dest` the text {root} is the environment's root."""

    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    secret_env: tuple[str, ...] = ()
    """Names of variables whose values never stand in a spec."""
    stdin: bytes | None = None
    """The prompt, where it goes there."""
    files: tuple[tuple[bytes, str], ...] = ()
    """(tar, directory it is extracted in) put into the environment before anything runs."""
    result: dict[str, Any] | None = None
    """Top-level keys and values of the JSON line by which the CLI says that it is done."""
    version_argv: tuple[str, ...] | None = None
    """Prints the version inside the environment."""
    tmpfs: tuple[str, ...] = ()
    """Memory-backed directories it needs, absolute inside the environment."""
    secret_files: dict[str, str] = field(default_factory=dict)
    """Name of a secret -> place of the file that holds it, below one of `tmpfs`."""
    keep: tuple[str, ...] = ()
    """Places of its session files: collected after the session, never with the login."""
    answer: Answer | None = None
    """How its last message is found."""
    prompt_by: str = "argument"
    """argument, stdin, or stdin-file where it is longer than an argument may be."""
    servers: tuple[str, ...] = ()
    """Names of the task's tool servers that the session is told of."""
    remarks: tuple[str, ...] = ()
    """What the run has to say about how it was started, in plain sentences."""


class Harness(Protocol):
    """One agent CLI."""

    @property
    def name(self) -> str:
        """Its name in plan files."""

    @property
    def turns(self) -> tuple[str, ...]:
        """What it can do beyond a plain run: resume, fork, none, clock, oracle, system."""

    def command(self, agent: AgentLike, prompt: bytes, task: TaskLike, turn: Turn = PLAIN) -> Launch:
        """How `agent` is run on `prompt`; UserError when its options do not fit or the turn is beyond it."""

    def copy_of_session(self, kept: Mapping[str, bytes], turn: Turn, workdir: str) -> tuple[bytes, str]:
        """A tar (to be extracted at {root}/) that holds a copy of a kept session, and its id.

        `kept` holds the files that `Launch.keep` brought, by their path inside the environment. UserError when there
        is no session in them.
        """


ARGUMENT_CAP_BYTES = 128 * 1024 - 1
"""Linux takes no longer single argument."""


def prompt_argument(agent: AgentLike, prompt: bytes) -> str:
    """The prompt as one argument of a command line; UserError where that would alter or refuse it."""
    remedy = f"agent {agent.id}: deliver the prompt on stdin"
    try:
        text = prompt.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{remedy}, because it is not UTF-8", 2) from None
    if "\0" in text:
        raise UserError(f"{remedy}, because it holds a NUL byte", 2)
    if len(prompt) > ARGUMENT_CAP_BYTES:
        raise UserError(f"{remedy}, because its {len(prompt)} bytes are more than one argument may have", 2)
    if "{root}" in text:
        raise UserError(f"{remedy}, because it holds the text {{root}}, which stands for a directory in arguments", 2)
    return text


def option_text(agent: AgentLike, key: str, default: str) -> str:
    """The text option `key` of an agent; UserError when it is of another kind."""
    value = agent.options.get(key, default)
    if not isinstance(value, str):
        raise UserError(f"agent {agent.id}: options.{key} must be text, not {value!r}", 2)
    return value


def option_flag(agent: AgentLike, key: str, default: bool) -> bool:
    """The yes or no of option `key`; UserError when it is something else."""
    value = agent.options.get(key, default)
    if not isinstance(value, bool):
        raise UserError(f"agent {agent.id}: options.{key} must be true or false, not {value!r}", 2)
    return value


def option_texts(agent: AgentLike, key: str) -> tuple[str, ...]:
    """The list of texts of option `key`, empty where it is not given; UserError when it is something else."""
    value = agent.options.get(key, ())
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise UserError(f"agent {agent.id}: options.{key} must be a list of texts", 2)
    return tuple(value)


def option_table(agent: AgentLike, key: str) -> Mapping[str, Any]:
    """The table of option `key`, empty where it is not given; UserError when it is something else."""
    value = agent.options.get(key, {})
    if not isinstance(value, Mapping):
        raise UserError(f"agent {agent.id}: options.{key} must be a table", 2)
    return value


def known_options(agent: AgentLike, known: tuple[str, ...]) -> None:
    """UserError when the agent has an option that its harness does not know."""
    for key in agent.options:
        if key not in known:
            raise UserError(
                f"agent {agent.id}: options.{key} is unknown to harness {agent.harness}; known are {', '.join(known)}",
                2,
            )


def plain_only(agent: AgentLike, turn: Turn) -> None:
    """UserError when a harness that only runs plain sessions is asked for another kind of turn."""
    if turn.continues or turn.tools != "native" or turn.system:
        raise UserError(f"agent {agent.id}: harness {agent.harness} can only run a whole task in one session", 2)
