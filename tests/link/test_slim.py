from __future__ import annotations

import ast
from typing import Any

import pytest

from agenttime_tui.fleet.slim import slim
from agenttime_tui.fleet.zipapp import sources

SOURCE = b'''"""Why."""  # a comment
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


def g(a: int) -> list[int]: "one line"; return 3
'''


def code(source: bytes) -> str:
    """A program without its texts, with the line of every statement."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
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
    assert all(word not in short for word in (b"Why", b"words", b"more", b"two lines", b"one line"))
    assert b"# no comment" in short


def test_a_text_of_several_lines_keeps_its_blanks() -> None:
    names: dict[str, Any] = {}
    exec(compile(slim(SOURCE), "a.py", "exec"), names)
    assert names["f"]("x") == "x#\n        as it stands\n    "
