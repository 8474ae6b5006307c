"""What travels of a source file: its code at its line numbers, without the texts that only readers need."""

from __future__ import annotations

import ast


def slim(source: bytes) -> bytes:
    """The same program without docstrings; every statement stays on its line, so tracebacks stay true.

    A machine would keep them in memory for days, in every supervisor; the archive has a size to keep to.
    """
    lines = source.splitlines(keepends=True)
    tree = ast.parse(source)
    for node in reversed([one for one in ast.walk(tree) if _is_prose(one)]):
        assert isinstance(node, ast.Expr)
        _blank(lines, node, b"" if node in tree.body else b"0")
    return b"".join(lines)


def _is_prose(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _blank(lines: list[bytes], node: ast.Expr, instead: bytes) -> None:
    """Puts `instead` where a text begins, and empty lines where it went on; columns are of UTF-8 bytes."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    rest = lines[last][node.end_col_offset or 0 :]
    lines[first] = lines[first][: node.col_offset] + instead + (rest if first == last else b"\n")
    for number in range(first + 1, last + 1):
        lines[number] = rest if number == last else b"\n"
