"""The variables of a grader as task.toml has them: ${NAME} and ${NAME:-default} stand for what is known elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def filled(env: Iterable[tuple[str, str]], known: Mapping[str, str]) -> dict[str, str]:
    """Variables filled in from `known`, else with their defaults, else empty."""
    return {name: REFERENCE.sub(lambda found: known.get(found[1]) or found[2] or "", value) for name, value in env}
