"""Takes typed values out of somebody else's TOML: unknown keys are left alone, a wrong value names file and key."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from task_packs.errors import PackError


class Section:
    """One table of a file, by its dotted place in it (empty: the top)."""

    def __init__(self, path: Path, where: str, raw: dict[str, Any]) -> None:
        self.path = path
        self.where = where
        self.raw = raw

    def __contains__(self, key: str) -> bool:
        return self.raw.get(key) is not None

    def wrong(self, key: str, why: str) -> PackError:
        """The refusal that names the key."""
        return PackError(f"{self.path}: {self._named(key)}: {why}")

    def table(self, key: str) -> Section:
        """The table below `key`, empty where there is none."""
        value = self.raw.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, "must be a table")
        return Section(self.path, self._named(key), value)

    def tables(self, key: str) -> list[Section]:
        """The tables of a list."""
        value = self.raw.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "must be a list of tables")
        return [Section(self.path, f"{self._named(key)}[{number}]", item) for number, item in enumerate(value)]

    def number(self, key: str) -> float | None:
        """A number of at least 0."""
        value = self.raw.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
            raise self.wrong(key, f"{value!r} is not a number of at least 0")
        return float(value)

    def text(self, key: str) -> str | None:
        """Text, or a whole number as text (user ids)."""
        value = self.raw.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
            raise self.wrong(key, "must be text")
        return None if value is None else str(value)

    def needed(self, key: str) -> str:
        """Text that must be there and not be empty."""
        value = self.text(key)
        if not value:
            raise self.wrong(key, "is missing")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.raw.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "must be a list of texts")
        return tuple(value)

    def strings(self, key: str) -> tuple[tuple[str, str], ...]:
        """A table of texts (numbers as text), by name."""
        value = self.raw.get(key, {})
        if not isinstance(value, dict) or any(isinstance(item, dict | list) for item in value.values()):
            raise self.wrong(key, "must be a table of text values")
        if bad := [name for name in value if not name or "=" in name]:
            raise self.wrong(key, f"{bad[0]!r} is no name")
        return tuple(sorted((str(name), str(item)) for name, item in value.items()))

    def named(self, key: str, name: str) -> list[Section]:
        """A list of texts or of tables with the text under `name`: as tables."""
        value = self.raw.get(key, [])
        items = value if isinstance(value, list) else [value]
        found = [item if isinstance(item, dict) else {name: item} for item in items]
        if not isinstance(value, list) or any(not isinstance(item.get(name), str) or not item[name] for item in found):
            raise self.wrong(key, f"must be a list of texts or of tables with {name!r}")
        return [Section(self.path, f"{self._named(key)}[{number}]", item) for number, item in enumerate(found)]

    def _named(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key


def read_toml(path: Path) -> Section:
    """The whole of a file; raises PackError naming it."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PackError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PackError(f"{path}: is not TOML: {error}") from None
    except RecursionError:
        raise PackError(f"{path}: is not TOML: it is nested too deep") from None
    if where := _zero(raw, ""):
        raise PackError(f"{path}: {where}: holds a zero byte, which no program can be given")
    return Section(path, "", raw)


def _zero(value: Any, where: str) -> str:
    """The dotted place of a text with a zero byte, empty where there is none."""
    if isinstance(value, str):
        return where if "\0" in value else ""
    parts: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        parts = [(f"{where}.{key}" if where else repr(key)[1:-1], item) for key, item in value.items()]
        if bad := next((place for (place, _), key in zip(parts, value, strict=True) if "\0" in key), ""):
            return repr(bad)[1:-1]
    elif isinstance(value, list):
        parts = [(f"{where}[{number}]", item) for number, item in enumerate(value)]
    return next((found for place, item in parts if (found := _zero(item, place))), "")
