"""What travels of a source file: its code at its line numbers, without the prose that only readers need."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator


def slim(source: bytes) -> bytes:
    """The same program without comments, docstrings and what only a type checker reads, and indented by tabs; every
    statement stays on its line, so tracebacks stay true. Nothing may look at its own annotations at run time.

    A machine keeps texts and annotations in memory for days, in every supervisor: 1.4 MB of 8.1; the archive has a size
    to keep to.
    """
    lines = source.splitlines(keepends=True)
    tree = ast.parse(source)
    for row, start, end in sorted(_annotations(tree, lines), reverse=True):
        lines[row] = lines[row][:start] + lines[row][end:]
    tree = ast.parse(b"".join(lines))
    for node in reversed([one for one in ast.walk(tree) if _is_prose(one)]):
        assert isinstance(node, ast.Expr)
        _blank(lines, node, b"" if node in tree.body else b"0")
    for block in [one for one in tree.body if _is_for_types(one)]:
        assert isinstance(block, ast.If)
        first = block.body[0]
        indent = lines[first.lineno - 1][: first.col_offset]
        for number in range(first.lineno - 1, block.body[-1].end_lineno or 0):
            lines[number] = b"\n"
        lines[first.lineno - 1] = indent + b"0\n"
    return _with_tabs(_without_comments(b"".join(lines)))


def _annotations(tree: ast.Module, lines: list[bytes]) -> Iterator[tuple[int, int, int]]:
    """(row, first byte, byte after) of every annotation on one line that a value or a parameter can do without."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield from _span(node.annotation, node.lineno, node.col_offset + len(node.arg.encode()))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _span(node.annotation, node.target.end_lineno, node.target.end_col_offset)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            before = lines[node.returns.lineno - 1][: node.returns.col_offset].rstrip()
            if before.endswith(b"->"):
                yield from _span(node.returns, node.returns.lineno, len(before[:-2].rstrip()))


def _span(annotation: ast.expr, lineno: int | None, start: int | None) -> Iterator[tuple[int, int, int]]:
    if start is not None and annotation.lineno == annotation.end_lineno == lineno:
        yield annotation.lineno - 1, start, annotation.end_col_offset or start


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _is_prose(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _blank(lines: list[bytes], node: ast.Expr, instead: bytes) -> None:
    """Puts `instead` where a text begins, and empty lines where it went on; columns are of UTF-8 bytes."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    rest = lines[last][node.end_col_offset or 0 :]
    lines[first] = lines[first][: node.col_offset] + instead + (rest if first == last else b"\n")
    for number in range(first + 1, last + 1):
        lines[number] = rest if number == last else b"\n"


def _without_comments(source: bytes) -> bytes:
    lines = source.decode("utf-8").splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(source.decode("utf-8")).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() + "\n"
    return "".join(lines).encode("utf-8")


def _with_tabs(source: bytes) -> bytes:
    """Four blanks of indentation as one tab, but for lines that begin inside a text."""
    texts = (ast.Constant, ast.JoinedStr)
    inside = {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, texts)
        for number in range(node.lineno, node.end_lineno or node.lineno)
    }
    lines = source.split(b"\n")
    for number, line in enumerate(lines):
        depth = (len(line) - len(line.lstrip(b" "))) // 4
        if depth and number not in inside:
            lines[number] = b"\t" * depth + line[4 * depth :]
    return b"\n".join(lines)
