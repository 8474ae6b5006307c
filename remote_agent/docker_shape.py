"""What a run's container looks like: neutral from inside, idle, bounded."""

from __future__ import annotations

from remote_agent import door_place
from remote_agent.engine import EngineError
from remote_agent.spec import OWN
from remote_agent.spec_parts import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.engine import Capture
    from remote_agent.spec import Environment, RunSpec
    from remote_agent.spec_parts import Service

LABEL = "x.id"
"""Label that finds a run's container and image again; its value is the attempt id."""

DOOR = "-d"
"""After the attempt id: label and name of the container that shares the session's network for its door."""

OUT, ERR = "/var/lib/x/o", "/var/lib/x/e"
"""Where the two capture files are bound."""

IDLE = ["sleep", "2147483647"]
"""Old busybox has no `sleep infinity`."""

NETWORKS = ("none", "host", "bridge", *OWN)


def body(
    spec: RunSpec, image: str, label: str, capture: Capture | None, memory: dict[str, str] | None = None,
    network: str = "", shared: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The create request; without `capture` it is the copy that grades: netless, default capabilities.

    `memory` are the memory-backed directories with their mount options, `network` the name of the run's own network,
    `shared` the mounts of volumes.
    """
    environment = spec.environment
    if environment.network not in NETWORKS:
        raise EngineError(f"environment.network {environment.network!r} is not one of {', '.join(NETWORKS)}")
    mounts = [
        {"Type": "bind", "Source": item["source"], "Target": item["target"], "ReadOnly": True}
        for item in environment.mounts
    ]
    host: dict[str, Any] = {
        "Init": True,
        "NetworkMode": network or environment.network if capture else "none",
        "RestartPolicy": {"Name": "no"},
        "Mounts": mounts,
        **bounds(environment),
    }
    if capture:
        mounts += [
            {"Type": "bind", "Source": capture.out, "Target": OUT},
            {"Type": "bind", "Source": capture.err, "Target": ERR},
            *door_place.mounts(environment.door, capture),
            *(shared or ()),
        ]
        host["Tmpfs"] = memory or {}
        host["CapDrop"] = environment.cap_drop
        host["SecurityOpt"] = ["no-new-privileges:true"] if environment.no_new_privileges else []
    return {
        **(named(host, network, environment.network, MAIN) if network else {}),
        "Image": image,
        "Entrypoint": IDLE,
        "Cmd": [],
        "User": "0:0",
        "WorkingDir": "/",
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {LABEL: label},
        "HostConfig": host,
    }


def limits(environment: Environment) -> dict[str, Any]:
    """The limits as the record of the run has them; None where there is none."""
    return {
        "cpus": environment.cpus or None,
        "memory_bytes": environment.memory_bytes or None,
        "pids": environment.pids or None,
    }


def named(host: dict[str, Any], network: str, kind: str, name: str) -> dict[str, Any]:
    """What gives a container its name in the run's own network. Without a way out names are asked of nobody outside:
    some engines would carry the question there themselves."""
    if kind == "own":
        host["Dns"] = ["127.0.0.1"]
    return {"NetworkingConfig": {"EndpointsConfig": {network: {"Aliases": [name]}}}}


def bounds(of: Environment | Service) -> dict[str, Any]:
    """The limits of a container as the engine takes them."""
    found: dict[str, Any] = {}
    if of.cpus:
        found["NanoCpus"] = round(of.cpus * 1e9)
    if of.memory_bytes:
        found["Memory"] = found["MemorySwap"] = of.memory_bytes
    if of.pids:
        found["PidsLimit"] = of.pids
    return found


def in_container(text: str) -> str:
    """`text` with a leading `{root}` filled in: the root of the environment is empty here."""
    return text[len("{root}") :] if text.startswith("{root}") else text
