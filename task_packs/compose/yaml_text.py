"""Reads YAML that somebody else wrote: no objects, no duplicate keys, no bombs, and words stay words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from task_packs.errors import PackError

BYTES_AT_MOST = 256 << 10
VALUES_AT_MOST = 10_000
DEEP_AT_MOST = 32


class _Loader(yaml.SafeLoader):
    """As compose reads: yes, no, on, off and dates are text, and a key occurs once."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _tag, _pattern in {
    "bool": "true|True|TRUE|false|False|FALSE",
    "null": "~|null|Null|NULL|",
    "int": "[-+]?(0|[1-9][0-9]*)",
    "float": r"[-+]?[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?",
    "merge": "<<",
}.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"({_pattern})\Z"), None)


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    """A mapping with what it merges in; merged by us, for PyYAML's own way grows without bound."""
    own: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is not text", key.start_mark)
        made = loader.construct_object(value, deep=True)
        if key.tag.endswith(":merge"):
            parts = made if isinstance(made, list) else [made]
            if not all(isinstance(part, dict) for part in parts):
                raise yaml.constructor.ConstructorError(None, None, "<< merges no mapping", key.start_mark)
            for part in reversed(parts):
                merged |= part
        elif key.value in own:
            raise yaml.constructor.ConstructorError(None, None, f"has the key {key.value!r} twice", key.start_mark)
        else:
            own[key.value] = made
    return merged | own


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping that a file holds; raises PackError naming it and, where there is one, the line."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PackError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > BYTES_AT_MOST:
        raise PackError(f"{path}: is larger than {BYTES_AT_MOST >> 10} KiB")
    try:
        found = yaml.load(data.decode("utf-8-sig"), _Loader)
        _count(found)
    except UnicodeDecodeError as error:
        raise PackError(f"{path}: is not UTF-8 at byte {error.start}") from None
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise PackError(f"{path}: is no YAML that can be read: {error.problem}{line}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise PackError(f"{path}: is no YAML that can be read: {why}") from None
    if not isinstance(found, dict):
        raise PackError(f"{path}: must be a mapping")
    return found


def _count(top: Any) -> None:
    """Refuses what aliases blow up: shared parts count as often as they are reached."""
    left = VALUES_AT_MOST
    stack = [(top, 0)]
    while stack:
        value, depth = stack.pop()
        left -= 1
        if left < 0 or depth > DEEP_AT_MOST:
            raise ValueError("it unfolds to more than a compose file can be")
        if isinstance(value, dict):
            stack += [(item, depth + 1) for item in value.values()]
        elif isinstance(value, list):
            stack += [(item, depth + 1) for item in value]
