"""How a session gets to its CLI and its model on one machine: mounts, the way out, and what stands for the key."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from agenttime_tui.campaign.plan import AccountConfig, AgentConfig
from agenttime_tui.harness.protocol import Door, Turn
from agenttime_tui.harness.routes import LOGIN_FILE, route_of
from task_packs.task import Task

NETWORKS = {"none": "none", "model-only": "none", "allowlist": "none", "public": "bridge"}
"""Policy -> the engine's network. The way to a model, where a CLI needs one, is a door of its own."""

OWN = "own"
"""A network of the run's own, without a route out: the verifier's container is on it too."""

OWN_PUBLIC = "own-public"
"""The same with a route out, for a task with a public network that brings services."""

TOOL_DIR = {"codex": "/opt/codex", "claude-code": "/opt/claude"}
SOCKET_DIR = "/run/model"
SOCKET = f"{SOCKET_DIR}/model.sock"
PORT = 8081
PORTS = (20_000, 40_000)
"""Where the machine itself is the environment, its runs share one loopback."""

DUMMY = "sk-none"
"""What stands for a key inside; a listener outside puts the real one in its place."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a machine puts around the sessions of one attempt."""

    door: dict[str, Any] | None = None
    """environment.door of the spec."""
    inside: Door | None = None
    """The same, as the CLI sees it."""
    mounts: tuple[Mapping[str, str], ...] = ()
    toolset: str = ""
    account: str = "key_env"
    session: str = ""
    """Id of the session that is forked."""
    env: Mapping[str, str] = field(default_factory=dict)
    """environment.env of the spec: the proxy for the hosts that the task may reach."""

    def turn_fields(self) -> dict[str, Any]:
        """What of it each turn of the session is told."""
        fields: dict[str, Any] = {"door": self.inside, "toolset": self.toolset, "account": self.account}
        return fields | ({"session": self.session} if self.session else {})


def plain(agent: AgentConfig, account: AccountConfig | None = None) -> Access:
    """Access as it is on any machine: what a preview shows before one is chosen."""
    return Access(account=account_kind(account), toolset=TOOL_DIR.get(agent.harness, ""))


def account_kind(account: AccountConfig | None) -> str:
    """key_env, token_env or auth_file: what the account gives."""
    if account is None:
        return "key_env"
    return "auth_file" if account.auth_file else "token_env" if account.token_env else "key_env"


def turn(access: Access) -> Turn:
    """The plain turn with this access."""
    return Turn(continues="fork", **access.turn_fields())


def access_for(
    agent: AgentConfig,
    account: AccountConfig | None,
    engine: str,
    attempt: str,
    tools: str = "",
    mounts: Sequence[Mapping[str, str]] = (),
    hosts: Sequence[str] = (),
) -> Access:
    """The access of an attempt on a machine that holds the CLI's files at `tools` (empty: on PATH).

    `mounts` is what of them is bound into a container. `hosts` are those that the task may reach from one.
    """
    kind = account_kind(account)
    contained = engine == "docker"
    toolset = (TOOL_DIR.get(agent.harness, "") if contained else tools) if tools else ""
    route = route_of(agent, kind)
    hosts = hosts if contained else ()
    proxy = proxied(f"http://127.0.0.1:{PORT}") if hosts else {}
    if route is None:
        listed = {"allow": list(hosts), "port": PORT} if hosts else None
        return Access(listed, None, tuple(mounts), toolset, kind, env=proxy)
    port = PORT if contained else _port(attempt)
    socket = contained and agent.harness == "claude-code"
    door: dict[str, Any] = {"upstream": route.upstream, "port": 0 if socket and not hosts else port}
    door |= {"allow": list(hosts)} if hosts else {}
    door |= {"socket_dir": SOCKET_DIR} if socket else {}
    door |= {"secret": route.secret, "header": route.header} if route.header else {}
    inside = Door(f"http://127.0.0.1:{port}", SOCKET if socket else "", "" if route.secret == LOGIN_FILE else DUMMY)
    return Access(door, inside, tuple(mounts), toolset, kind, env=proxy)


def hosts_of(task: Task) -> tuple[str, ...]:
    """The hosts that a task's policy lets the agent reach; none where it has no list."""
    return task.allowed_hosts if task.network == "allowlist" else ()


def proxied(url: str) -> dict[str, str]:
    """What programs read to know of a proxy; what they reach on the loopback goes past it."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
    values = dict(zip(names, (url, url, "127.0.0.1,localhost,::1"), strict=True))
    return values | {name.lower(): value for name, value in values.items()}


def past_proxy(env: Mapping[str, str], task: Task) -> dict[str, str]:
    """`env` where the task's services, and what serves its tools beside the agent, are reached without the proxy, as
    they are no hosts of its list."""
    services = [service.name for service in task.composed.services]
    named = [*services] + [urlsplit(server.url).hostname for server in task.harbor.mcp_servers]
    listed = {urlsplit(f"//{host}").hostname for host in task.allowed_hosts}
    beside = [host for host in dict.fromkeys(named) if host and host not in listed]
    return {name: ",".join((value, *beside)) if name.lower() == "no_proxy" else value for name, value in env.items()}


def engine_network(task: Task, verified: bool, services: bool = True) -> str:
    """The engine's network for a task's policy; `services`: whether those that it brings are there."""
    network = NETWORKS.get(task.network, "none")
    if services and task.composed.services:
        return OWN_PUBLIC if network == "bridge" else OWN
    return OWN if verified and network == "none" else network


def _port(attempt: str) -> int:
    low, high = PORTS
    return low + int.from_bytes(hashlib.sha256(attempt.encode()).digest()[:4], "big") % (high - low)
