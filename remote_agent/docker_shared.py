"""Directories that containers of one run share: volumes of the engine, random and neutral by name."""

from __future__ import annotations

import os

from remote_agent.docker_http import Refused, query
from remote_agent.docker_shape import LABEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.docker_http import Api

HOME_LABEL, PLACE_LABEL = "x.h", "x.p"
"""Labels whose values are the agent home's mark and the name of the volume (a verifier's: the directory inside)."""


def places(paths: list[str], read_only: bool) -> list[dict[str, Any]]:
    """The volumes of the directories that a verifier reads: each has its place as its name."""
    return [{"name": path, "target": path, "read_only": read_only} for path in paths]


def mounts(api: Api, attempt: str, home: str, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A mount for each {name, target, read_only}; its volume is made where it is not there. The image's own files
    come along."""
    if not wanted:
        return []
    known = {volume["Labels"].get(PLACE_LABEL): volume["Name"] for volume in volumes(api, f"{LABEL}={attempt}")}
    made = []
    for one in wanted:
        name = one["name"]
        if name not in known:
            known[name] = _create(api, {LABEL: attempt, HOME_LABEL: home, PLACE_LABEL: name})
        made.append({"Type": "volume", "Source": known[name], "Target": one["target"], "ReadOnly": one["read_only"]})
    return made


def volumes(api: Api, label: str) -> list[dict[str, Any]]:
    """The volumes with a label, as the engine lists them."""
    found = api.call("GET", "/volumes" + query(filters={"label": [label]}))
    return found.get("Volumes") or []


def remove(api: Api, name: str) -> None:
    """Removes a volume; one that is gone is no fault."""
    try:
        api.call("DELETE", f"/volumes/{name}")
    except Refused as refusal:
        if refusal.status != 404:
            raise


def _create(api: Api, labels: dict[str, str]) -> str:
    name = "x-" + os.urandom(8).hex()
    api.call("POST", "/volumes/create", {"Name": name, "Driver": "local", "Labels": labels})
    return name
