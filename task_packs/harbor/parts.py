"""The parts of a Harbor task.toml that are tables of their own: MCP servers, health check, artifacts, hooks, grader."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import PurePosixPath
from typing import Literal, cast
from urllib.parse import urlsplit

from task_packs.harbor.toml import Section
from task_packs.manifest import memory_bytes

MAIN = "main"
"""The service that is the agent's own container."""
NETWORKS = {"no-network": "none", "public": "public", "allowlist": "allowlist"}
TRANSPORTS = {"stdio": "stdio", "sse": "sse", "http": "http", "streamable-http": "http"}
MCP_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
SERVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
HOST = re.compile(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?")
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\$?(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?")
COLLECT_S = 60.0

Transport = Literal["stdio", "sse", "http"]


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of tools that the task hands to the agent."""

    name: str
    transport: Transport
    """`http` is what Harbor calls streamable-http as well."""
    url: str = ""
    """Of sse and http."""
    command: str = ""
    """Of stdio: a program inside the environment."""
    args: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    """Of sse and http; no key is ever filled in."""


@dataclass(frozen=True, slots=True)
class Healthcheck:
    """What must succeed in the environment before the session begins."""

    command: str
    interval_s: float = 5.0
    timeout_s: float = 30.0
    start_period_s: float = 0.0
    """Failures in this time do not count."""
    start_interval_s: float = 5.0
    retries: int = 3


@dataclass(frozen=True, slots=True)
class Artifact:
    """A path that a separate grader gets."""

    path: str
    """Absolute, in the service's container and in the grader's alike."""
    service: str = MAIN
    exclude: tuple[str, ...] = ()
    """Patterns of names that are left out of a directory."""

    def below(self, top: str) -> bool:
        """Whether it comes with `top` of the same container."""
        return self.service == MAIN and self.path.startswith(f"{top}/")


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that runs after the session so that artifacts exist."""

    command: str
    service: str = MAIN
    timeout_s: float = COLLECT_S
    user: str | None = None


@dataclass(frozen=True, slots=True)
class GraderPlace:
    """The environment of a separate grader, where task.toml describes one."""

    image: str | None = None
    workdir: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    network: str | None = None
    """none, public or allowlist; None where it says nothing."""
    os: str = "linux"
    cpus: float = 0.0
    memory_bytes: int = 0
    gpus: int = 0
    healthcheck: bool = False
    tpu: bool = False


def mcp_server(section: Section) -> McpServer:
    """One of environment.mcp_servers."""
    name = section.needed("name")
    if not MCP_NAME.fullmatch(name):
        raise section.wrong("name", f"{name!r} is not a name of letters, digits, '.', '_' and '-'")
    transport = TRANSPORTS.get(section.text("transport") or "sse")
    if transport is None:
        raise section.wrong("transport", f"{section.raw['transport']!r} is not one of {', '.join(TRANSPORTS)}")
    url, command, headers = section.text("url") or "", section.text("command") or "", section.strings("headers")
    if transport == "stdio":
        command = section.needed("command")
        if headers:
            raise section.wrong("headers", "are only for servers with a url")
    elif not (url := section.needed("url")).startswith(("http://", "https://")):
        raise section.wrong("url", f"{url!r} does not begin with http:// or https://")
    elif not _reached(url):
        raise section.wrong("url", f"{url!r} names no host that can be reached")
    for header, value in headers:
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", header) or "\n" in value or "\r" in value:
            raise section.wrong("headers", f"{header!r} is not a header of one line")
    return McpServer(name, cast(Transport, transport), url, command, section.texts("args"), headers)


def _reached(url: str) -> bool:
    """Whether a URL is of one word, with a host, and with a port that there can be."""
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and not re.search(r"[\s\x00-\x1f\x7f]", url)
    except ValueError:
        return False


def healthcheck(section: Section) -> Healthcheck:
    """environment.healthcheck."""

    def seconds(key: str, usual: float) -> float:
        value = section.number(key)
        return usual if value is None else value

    retries = seconds("retries", 3)
    return Healthcheck(
        section.needed("command"),
        seconds("interval_sec", 5.0),
        seconds("timeout_sec", 30.0),
        seconds("start_period_sec", 0.0),
        seconds("start_interval_sec", 5.0),
        max(1, int(retries)),
    )


def artifact(section: Section) -> Artifact:
    """One of artifacts; its place on Harbor's own host is of no meaning here."""
    source = section.needed("source")
    if ".." in PurePosixPath(source).parts:
        raise section.wrong("source", f"{source!r} must not go up by '..'")
    service = _service(section)
    if service != MAIN and not source.startswith("/"):
        raise section.wrong("source", f"{source!r} of service {service!r} must be an absolute path")
    path = posixpath.normpath("/" + source.strip("/"))
    if path == "/":
        raise section.wrong("source", f"{source!r} is all of a container")
    return Artifact(path, service, section.texts("exclude"))


def hook(section: Section) -> Hook:
    """One of verifier.collect."""
    timeout_s = section.number("timeout_sec")
    limit_s = COLLECT_S if timeout_s is None else timeout_s
    return Hook(section.needed("command"), _service(section), limit_s, section.text("user"))


def grader_place(section: Section) -> GraderPlace:
    """verifier.environment."""
    return GraderPlace(
        section.text("docker_image"),
        workdir(section),
        section.strings("env"),
        network_mode(section) if "network_mode" in section or "allow_internet" in section else None,
        (section.text("os") or "linux").lower(),
        section.number("cpus") or 0.0,
        memory(section),
        int(section.number("gpus") or 0),
        bool(section.table("healthcheck").raw),
        "tpu" in section,
    )


def network_mode(section: Section) -> str:
    """none, public or allowlist; by the old key allow_internet where there is no mode."""
    mode = section.raw.get("network_mode")
    if mode is None:
        allowed = section.raw.get("allow_internet", True)
        if not isinstance(allowed, bool):
            raise section.wrong("allow_internet", f"{allowed!r} is neither true nor false")
        return "public" if allowed else "none"
    if not isinstance(mode, str) or mode not in NETWORKS:
        raise section.wrong("network_mode", f"{mode!r} is not one of {', '.join(NETWORKS)}")
    return NETWORKS[mode]


def allowed_hosts(section: Section) -> tuple[str, ...]:
    """The hosts that a table lets through, which only an allowlist does."""
    hosts = section.texts("allowed_hosts")
    if hosts and network_mode(section) != "allowlist":
        raise section.wrong("allowed_hosts", 'stands beside no network_mode = "allowlist"')
    if bad := [host for host in hosts if not HOST.fullmatch(host) and not _addressed(host)]:
        raise section.wrong("allowed_hosts", f"{bad[0]!r} is neither the name of a host nor an address")
    return hosts


def _addressed(text: str) -> bool:
    """Whether it is an address or a range of them."""
    try:
        return bool(ip_network(text))
    except ValueError:
        return False


def user(section: Section) -> str | None:
    """A user by name or number, and the group where one is said."""
    name = section.text("user")
    if name and not USER.fullmatch(name):
        raise section.wrong("user", f"{name!r} is not the name or number of a user")
    return name


def workdir(section: Section) -> str | None:
    """The absolute path of the directory where work is done."""
    place = section.text("workdir")
    if place and (not place.startswith("/") or ".." in PurePosixPath(place).parts):
        raise section.wrong("workdir", f"{place!r} is not the absolute path of a place in a container")
    return place


def memory(section: Section) -> int:
    """Bytes, by memory_mb or the old key memory; 0 where there is neither."""
    megabytes, legacy = section.number("memory_mb"), section.raw.get("memory")
    if megabytes is None and legacy is not None:
        try:
            return memory_bytes(str(legacy))
        except ValueError as error:
            raise section.wrong("memory", str(error)) from None
    return int((megabytes or 0) * 1024**2)


def _service(section: Section) -> str:
    name = (section.text("service") or MAIN).strip()
    if not SERVICE.fullmatch(name):
        raise section.wrong("service", f"{name!r} is not the name of a service")
    return name
