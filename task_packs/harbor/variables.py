"""Fills in variables as Harbor and compose files name them; keys of the operator never come in that way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SECRET = re.compile(
    r"KEY(?!BOARD|WORD|MAP)|SECRET|TOKEN(?!S|IZ)|PASSW|PASSPHRASE|PASS$|_PWD$|CREDENTIAL|PRIVATE|COOKIE|AUTH(?!OR)",
    re.IGNORECASE,
)
"""Names of what nobody wants inside a container, where the agent reads it."""
EMBEDDED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
DEEP_AT_MOST = 8


class Unfilled(ValueError):
    """A variable that cannot be filled in; the clause says which and why, as it follows the place."""


def is_secret(name: str) -> bool:
    """Whether a variable looks like a key by its name."""
    return bool(SECRET.search(name))


class Known(dict[str, str]):
    """The operator's variables with those that the task gives itself, which are no secret of the operator's."""

    def __init__(self, theirs: Mapping[str, str], given: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__({**theirs, **given})
        self.given = frozenset(given)

    def plus(self, given: Mapping[str, str]) -> Known:
        """These and more that the task gives."""
        return Known(self, {**{name: self[name] for name in self.given}, **given})

    def kept_out(self, name: str) -> bool:
        """Whether a variable is a key of the operator's by its name."""
        return is_secret(name) and name not in self.given

    def value(self, name: str) -> str:
        """The value of a variable that must have one. Unfilled where it has none, or looks like a key."""
        if self.kept_out(name):
            raise Unfilled(f"takes {name} from your environment: keys do not enter containers that way")
        if name not in self:
            raise Unfilled(f"takes {name} from your environment, where it is not set")
        return self[name]


def resolved(text: str, known: Known) -> str:
    """A value of task.toml: ${NAME} or ${NAME:-usual} is filled in where it is the whole value. Unfilled."""
    found = re.fullmatch(r"\$\{([^}:]+)(?::-(.*))?\}", text, re.DOTALL)
    return text if found is None else _chosen(found[1], found[2], False, known)


def embedded(pairs: Iterable[tuple[str, str]], known: Mapping[str, str]) -> dict[str, str]:
    """Variables with every ${NAME} and ${NAME:-usual} in them filled in, with nothing where there is no value."""
    return {name: EMBEDDED.sub(lambda found: known.get(found[1]) or found[2] or "", value) for name, value in pairs}


def interpolated(text: str, known: Known, depth: int = 0) -> str:
    """A value of a compose file: $NAME, ${NAME}, ${NAME:-usual}, ${NAME-usual}, :? ? :+ + and $$. Unfilled."""
    if depth > DEEP_AT_MOST:
        raise Unfilled("nests its variables too deep")
    made, rest = [], text
    while "$" in rest:
        before, _, rest = rest.partition("$")
        made.append(before)
        if rest.startswith("$"):
            made.append("$")
            rest = rest[1:]
        elif rest.startswith("{"):
            inside, rest = _braced(rest)
            made.append(_braces(inside, known, depth))
        elif found := NAME.match(rest):
            made.append(known.value(found[0]))
            rest = rest[found.end() :]
        else:
            raise Unfilled(f"has a $ that begins no variable in {text!r}: a plain one is written $$")
    return "".join([*made, rest])


def _braced(text: str) -> tuple[str, str]:
    """What stands between the braces that `text` begins with, and what follows them."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[1:place], text[place + 1 :]
    raise Unfilled(f"has no }} for its ${{ in {text!r}")


def _braces(inside: str, known: Known, depth: int) -> str:
    found = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-?+])(.*))?", inside, re.DOTALL)
    if found is None:
        raise Unfilled(f"has ${{{inside}}}, which names no variable")
    name, how, more = found[1], found[2] or "", found[3] or ""
    if not how:
        return known.value(name)
    there = name in known and (bool(known[name]) or not how.startswith(":"))
    if how.endswith("+"):
        return interpolated(more, known, depth + 1) if there and not known.kept_out(name) else ""
    if how.endswith("?"):
        if not there:
            raise Unfilled(f"needs {name} in your environment" + (f" ({more})" if more else ""))
        return known.value(name)
    return _chosen(name, interpolated(more, known, depth + 1), how == ":-", known)


def _chosen(name: str, usual: str | None, or_empty: bool, known: Known) -> str:
    """The variable's value, or its usual one; of what looks like a key always the usual one, where it has one."""
    missing = name not in known or (or_empty and not known[name])
    return usual if usual is not None and (missing or known.kept_out(name)) else known.value(name)
