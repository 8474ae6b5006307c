"""What lies on a machine without a use: environments and captures without a run, blobs without a spec; and removal."""

from __future__ import annotations

import json
import os
import time

from remote_agent import docker_beside, docker_shared, home, lock, process_memory, toolsets, versions
from remote_agent.docker_beside import HOME_LABEL
from remote_agent.docker_http import Api, Refused, query
from remote_agent.docker_shape import LABEL
from remote_agent.engine import OWNER, EngineError
from remote_agent.run import engine_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CAPTURES = "/var/tmp"
YOUNG_S = 3600.0
"""Something this young may belong to a launch that is under way."""


class NotIdle(Exception):
    """A run that has not ended or has an owner is never removed."""


def find(agent_dir: str, now_s: float) -> dict[str, list[str]]:
    """{environments, networks, volumes, captures, blobs, tools, versions}: what nothing refers to."""
    attempts = set(home.attempts())
    places, blobs = _referred(attempts)
    names = {os.path.basename(place) for place in places}
    captures = [
        path
        for folder in (CAPTURES, *process_memory.homes())
        for path in _entries(folder)
        if _is_ours(path) and os.path.basename(path) not in names and now_s - os.lstat(path).st_mtime > YOUNG_S
    ]
    unused = [
        path
        for path in _entries(home.base() + "/blobs")
        if os.path.basename(path) not in blobs and now_s - os.lstat(path).st_mtime > YOUNG_S
    ]
    return {
        "environments": _environments(attempts),
        "networks": _networks(attempts),
        "volumes": _volumes(attempts),
        "captures": captures,
        "blobs": [os.path.basename(path) for path in unused],
        "tools": toolsets.unused(now_s),
        "versions": versions.unused(agent_dir),
    }


def remove_run(attempt: str) -> None:
    """Removes an ended run's directory and its capture; NotIdle when it lives or somebody owns it."""
    directory = home.run_dir(attempt)
    if not home.head(attempt)["ended"]:
        raise NotIdle(f"run {attempt} has not ended")
    held = lock.take(directory)
    if held is None:
        raise NotIdle(f"run {attempt} still has a supervisor")
    try:
        place = _place(attempt)
        if place is not None and _is_ours(place):
            process_memory.remove(place)
            versions.remove_tree(place)
        gone = f"{home.base()}/runs/.gone-{attempt}"
        os.rename(directory, gone)
        versions.remove_tree(gone)
    finally:
        os.close(held)


def remove(agent_dir: str) -> dict[str, list[str]]:
    """Removes everything that `find` names at this moment; returns it."""
    found = find(agent_dir, time.time())
    if found["environments"]:
        api = Api(engine_socket())
        for container in found["environments"]:
            api.call("DELETE", f"/containers/{container}" + query(force="1", v="1"), timeout_s=300)
    for network in found["networks"]:
        try:
            docker_beside.remove_network(Api(engine_socket()), network)
        except Refused:
            continue  # somebody else's container is on it
    for volume in found["volumes"]:
        try:
            docker_shared.remove(Api(engine_socket()), volume)
        except Refused:
            continue
    for path in found["captures"]:
        versions.remove_tree(path)
    for name in found["blobs"]:
        os.unlink(f"{home.base()}/blobs/{name}")
    return {**found, "tools": toolsets.remove(time.time()), "versions": versions.prune(agent_dir)}


def _referred(attempts: set[str]) -> tuple[set[str], set[str]]:
    """(capture directories, blobs) of the runs here."""
    places: set[str] = set()
    blobs: set[str] = set()
    for attempt in attempts:
        place = _place(attempt)
        if place is not None:
            places.add(place)
        try:
            spec = home.spec(attempt)
        except (OSError, ValueError):
            continue
        beside = [step.get("verifier") or {} for step in spec.get("steps", [])]
        beside += spec["environment"].get("services") or []
        holders = [spec["environment"], spec["environment"].get("setup") or {}, spec.get("grade") or {}, *beside]
        blobs.update(str(placed["blob"]) for holder in holders for placed in holder.get("files", []))
        blobs.add(str((spec.get("origin") or {}).get("dossier")))
    return places, blobs


def _environments(attempts: set[str]) -> list[str]:
    """Containers with our label and no run here, whose capture files are this login's: others' are never named."""
    try:
        path = "/containers/json" + query(all="1", filters={"label": [LABEL]})
        found: list[dict[str, Any]] = Api(engine_socket()).call("GET", path)
    except EngineError:
        return []
    mine = {
        _attempt(one)
        for one in found
        if one["Labels"].get(HOME_LABEL) == home.mark()
        or any(_is_ours(os.path.dirname(mount.get("Source", ""))) for mount in one.get("Mounts", []))
    }
    return [str(one["Id"]) for one in found if _attempt(one) in mine - attempts]


def _networks(attempts: set[str]) -> list[str]:
    """Networks of this home whose run is not here."""
    try:
        found = docker_beside.networks(Api(engine_socket()), f"{HOME_LABEL}={home.mark()}")
    except EngineError:
        return []
    return [str(one["Id"]) for one in found if _attempt(one) not in attempts]


def _volumes(attempts: set[str]) -> list[str]:
    """Shared directories of this home whose run is not here."""
    try:
        found = docker_shared.volumes(Api(engine_socket()), f"{HOME_LABEL}={home.mark()}")
    except EngineError:
        return []
    return [str(one["Name"]) for one in found if _attempt(one) not in attempts]


def _attempt(one: dict[str, Any]) -> str:
    """The attempt that a container or network of ours is from; what serves it has a letter after it."""
    return str(one["Labels"].get(LABEL)).split("-")[0]


def _place(attempt: str) -> str | None:
    try:
        with open(home.run_dir(attempt) + "/place.json") as file:
            return str(json.load(file)["capture"])
    except (OSError, ValueError, KeyError):
        return None


def _is_ours(path: str) -> bool:
    """Whether a capture directory was made by this login for a run of this very home."""
    folder, name = os.path.split(path)
    if folder not in (CAPTURES, *process_memory.homes()) or not (
        name.startswith("x-") and len(name) == 18 and name[2:].isalnum()
    ):
        return False
    try:
        with open(path + "/" + OWNER) as file:
            return os.lstat(path).st_uid == os.getuid() and file.read() == home.mark()
    except OSError:
        return False


def _entries(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder))]
    except OSError:
        return []
