from __future__ import annotations

import ast
from typing import Any

import pytest

from agenttime_tui.fleet.slim import slim
from agenttime_tui.fleet.zipapp import sources

SOURCE = b'''"""Why."""  # a comment
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import (
        Any,
    )

    from a import B
else:
    B = object

A = "# no comment"  # one
"""What A is,
in two lines."""


class C:
    """Only words."""


def f(x):  # \xc3\xa4
    """\xc3\xa4\xc3\xb6

    more
    """
    return f"{x}#" + """
        as it stands
    """  # two


def g(a: int, /, *b: str, c: dict[str, int] = {1: 2}, **d: "\xc3\xa4") -> list[int]: "one line"; return 3


async def h(x: int) -> None:
    y: int = x; z: str
    self.w: list[
        int
    ] = []
'''


def bare(node: ast.stmt) -> ast.stmt:
    """An assignment without its annotation; anything else as it is."""
    if not isinstance(node, ast.AnnAssign) or node.value is None:
        return node
    plain = ast.Assign([node.target], node.value)
    return ast.copy_location(plain, node)


def code(source: bytes) -> str:
    """A program without its texts, with the line of every statement."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
            continue
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        for field in ("body", "orelse", "finalbody"):
            if isinstance(found := getattr(node, field, None), list):
                setattr(node, field, [bare(one) for one in found])
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
            node.body = kept  # type: ignore[attr-defined]
    return ast.dump(tree) + str([(type(one).__name__, getattr(one, "lineno", 0)) for one in ast.walk(tree)])


@pytest.mark.parametrize(("path", "content"), [("a.py", SOURCE), *sources()])
def test_the_program_is_the_same_on_the_same_lines(path: str, content: bytes) -> None:
    short = slim(content)
    compile(short, path, "exec")
    assert code(short) == code(content)
    assert short.count(b"\n") == content.count(b"\n")
    assert slim(short) == short


def test_no_prose_travels() -> None:
    short = slim(SOURCE)
    assert all(word not in short for word in (b"Why", b"comment\n", b"words", b"more", b"two lines", b"one line"))
    assert b"# no comment" in short
    assert b"typing" not in short
    names: dict[str, object] = {}
    exec(compile(short, "a.py", "exec"), names)
    assert names["B"] is object


def test_a_text_of_several_lines_keeps_its_blanks() -> None:
    names: dict[str, Any] = {}
    exec(compile(slim(SOURCE), "a.py", "exec"), names)
    assert names["f"]("x") == "x#\n        as it stands\n    "
