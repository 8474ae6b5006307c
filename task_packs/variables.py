"""What a task's files leave to be filled in: variables, and the program that a script is run by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def filled(env: Iterable[tuple[str, str]], known: Mapping[str, str]) -> dict[str, str]:
    """Variables with ${NAME} and ${NAME:-default} filled in from `known`, else empty."""
    return {name: REFERENCE.sub(lambda found: known.get(found[1]) or found[2] or "", value) for name, value in env}


def interpreter(script: Path, usual: str = "/bin/sh") -> list[str]:
    """What the first line of a script names, else `usual`."""
    try:
        with script.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return [usual]
    return first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else [usual]
