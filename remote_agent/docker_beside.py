"""Beside a session's container: a network of its own without a way out, and the container that checks from there."""

from __future__ import annotations

import os

from remote_agent import docker_container, docker_exec
from remote_agent.docker_files import Files
from remote_agent.docker_http import Refused, query
from remote_agent.docker_shape import IDLE, LABEL, in_container

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.docker_http import Api
    from remote_agent.spec import Verifier

HOME_LABEL = "x.h"
"""Label whose value stands for the agent home: what mounts no capture file is found by it when its run is gone."""
OUTPUT_CAP_BYTES = 8 * 1024
_MEMORY_BYTES, _CPUS, _PIDS = 512 * 2**20, 1.0, 512
_SUBNET_TRIES = 8
_OPTIONS = {"com.docker.network.bridge.inhibit_ipv4": "true"}
"""The machine itself has no address on the network: from inside not even the host can be reached."""


def network(api: Api, attempt: str, home: str, kind: str = "own") -> str:
    """Name of the attempt's own network, made where it is not there, internal if it is "own": random and neutral."""
    found = networks(api, f"{LABEL}={attempt}")
    if found:
        return str(found[0]["Name"])
    body: dict[str, Any] = {
        "Name": "x-" + os.urandom(8).hex(),
        "Driver": "bridge",
        "Internal": kind == "own",
        "CheckDuplicate": True,
        "Options": _OPTIONS if kind == "own" else {},
        "Labels": {LABEL: attempt, HOME_LABEL: home},
    }
    for left in range(_SUBNET_TRIES, -1, -1):
        try:
            api.call("POST", "/networks/create", body)
            break
        except Refused as refusal:
            full = any(word in str(refusal) for word in ("non-overlapping", "overlaps", "fully subnetted"))
            if not left or not full:
                raise
            one, two, three = os.urandom(3)  # an engine's own pools hold some thirty networks
            body["IPAM"] = {"Config": [{"Subnet": f"10.{one}.{two}.{three & 0xF0}/28"}]}
    return str(body["Name"])


def networks(api: Api, label: str) -> list[dict[str, Any]]:
    """The networks with a label, as the engine lists them."""
    found: list[dict[str, Any]] = api.call("GET", "/networks" + query(filters={"label": [label]}))
    return found


def remove_network(api: Api, network_id: str) -> None:
    """Removes a network; one that is gone is no fault."""
    try:
        api.call("DELETE", f"/networks/{network_id}")
    except Refused as refusal:
        if refusal.status != 404:
            raise


class Beside:
    """The container beside one session. `check` may be called from another thread than the rest."""

    def __init__(self, api: Api, attempt: str) -> None:
        self._api = api
        self._label = attempt + "-v"
        self._container = ""
        self._verifier: Verifier | None = None
        self.subject = ""
        """Address of the session's container in their network."""

    def stand(
        self,
        verifier: Verifier,
        image: str,
        session: str,
        net: str,
        blobs: str,
        home: str,
        shared: list[dict[str, Any]],
    ) -> dict[str, Any]:
        """Makes, fills and starts the container, or finds the one that is there; its facts."""
        api = self._api
        image_id = docker_container.image(api, image)["Id"]
        container = docker_container.labelled(api, self._label)
        if container is None:
            container = docker_container.create(api, f"x-{self._label}", self._body(image_id, net, home, shared))
        if docker_container.status(api, container) == "created":
            files = Files(api, container)
            for placed in verifier.files:
                files.put(f"{blobs}/{placed.blob}", in_container(placed.dest), 0o755)
        docker_container.start(api, container)
        self._container, self._verifier = container, verifier
        self.subject = address(api, session, net)
        return {"isolated": True, "container": container, "image": image, "image_id": image_id, "subject": self.subject}

    def check(self) -> tuple[int | None, bytes]:
        """One look: (exit code or None when it took too long, end of its output); EngineError where it fails."""
        if docker_container.status(self._api, self._container) != "running":
            docker_container.start(self._api, self._container)
        verifier = self._verifier
        assert verifier is not None
        env = {name: in_container(value) for name, value in verifier.env.items()}
        code, out, err = docker_exec.run(
            self._api, self._container, [in_container(item) for item in verifier.argv],
            in_container(verifier.cwd) or "/", {**env, "SUBJECT": self.subject}, verifier.timeout_ms / 1000,
            self._restart, cap_bytes=OUTPUT_CAP_BYTES,
        )  # fmt: skip
        return code, out + err

    def remove(self) -> None:
        """Removes the container."""
        docker_container.remove(self._api, self._label)

    def _restart(self) -> None:
        docker_container.restart(self._api, self._container)

    def _body(self, image_id: str, net: str, home: str, shared: list[dict[str, Any]]) -> dict[str, Any]:
        host = {
            "Init": True, "NetworkMode": net, "RestartPolicy": {"Name": "no"}, "Memory": _MEMORY_BYTES,
            "MemorySwap": _MEMORY_BYTES, "NanoCpus": round(_CPUS * 1e9), "PidsLimit": _PIDS,
            "SecurityOpt": ["no-new-privileges:true"], "Mounts": shared,
        }  # fmt: skip
        return {
            "Image": image_id, "Entrypoint": IDLE, "Cmd": [], "User": "0:0", "WorkingDir": "/",
            "Healthcheck": {"Test": ["NONE"]}, "Labels": {LABEL: self._label, HOME_LABEL: home}, "HostConfig": host,
        }  # fmt: skip


def address(api: Api, container: str, net: str) -> str:
    """A container's address in a network; empty while it does not run."""
    told = docker_container.inspect(api, container)["NetworkSettings"]["Networks"]
    return str((told.get(net) or {}).get("IPAddress") or "")
