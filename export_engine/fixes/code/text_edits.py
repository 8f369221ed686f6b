"""Edits of single pieces of a text, at positions from Python's syntax tree.

Everything else is kept, comments and layout too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef

_USUAL = {"torch": ("torch",), "numpy": ("np", "numpy"), "math": ("math",), "copy": ("copy",)}
"""Usual names of modules, for a cell that uses another cell's import."""

_NO_TORCH = "__import__('torch')"
"""torch in a text that has no name for it."""


class CannotRewrite(Exception):  # no ValueError: code that a probe runs may catch those
    """Why code cannot be rewritten soundly. The message can be shown unchanged."""


class Rewritten(NamedTuple):
    """A text with one function changed."""

    text: str
    function: str
    """Its qualified name; of one inside another, the outermost's."""
    what: str = ""
    """The replaced text, as the user wrote it."""
    why: str = ""
    """Why that helps, where the rule says it."""


class Piece(NamedTuple):
    """A replacement of a part of a text, by offsets in characters."""

    start: int
    end: int
    text: str


class Source:
    """A text, its tree, and the innermost function around a line.

    Raises:
        CannotRewrite: it is not valid Python, or there is no function at the line.
    """

    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line_text in self._lines:
            self._starts.append(self._starts[-1] + len(line_text))
        try:
            self.tree = _parse(text)
        except SyntaxError as error:
            raise CannotRewrite("the source text is not valid Python") from error
        function = _find_function(self.tree, line, ())
        if function is None:
            raise CannotRewrite("there is no function at that line")
        self.function, self._names = function

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """Where a node begins."""
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """Where a node ends."""
        return self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def line_start(self, node: ast.expr | ast.stmt) -> int:
        """Where the line begins in which a node does."""
        return self._starts[node.lineno - 1]

    def at_line(self, line: int) -> int:
        """Where a line begins."""
        return self._starts[line - 1]

    def line_after(self, node: ast.expr | ast.stmt) -> int:
        """Where the line begins that follows the one in which a node ends."""
        return self._starts[node.end_lineno or node.lineno]

    def line_end(self, node: ast.expr | ast.stmt) -> int:
        """Where the line ends in which a node does, before its line break."""
        line = node.end_lineno or node.lineno
        return self._starts[line - 1] + len(self._lines[line - 1].rstrip("\r\n"))

    def of(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """A node's own text."""
        return self.text[self.start(node) : self.end(node)]

    def put(self, node: ast.expr | ast.stmt | ast.keyword, text: str) -> Piece:
        """A text in the place of a node."""
        return Piece(self.start(node), self.end(node), text)

    def indent(self, node: ast.stmt) -> str:
        """The text before a statement in its line."""
        before = self._lines[node.lineno - 1][: node.col_offset]
        if before.strip():
            raise CannotRewrite("the statement does not begin its line")
        return before

    def is_beside(self, statement: ast.stmt) -> bool:
        """Whether a statement does not start its line, as in `if x: return y`."""
        return bool(self.text[self.line_start(statement) : self.start(statement)].strip())

    def block_at(self, indent: str, kept: list[ast.stmt]) -> list[str]:
        """The lines of a block of a statement, moved to an indent."""
        if any(map(_spans_lines, kept)):
            raise CannotRewrite("the branch contains a multi-line string")
        if self.is_beside(kept[0]):
            return [f"{indent}{self.of(statement)}" for statement in kept]
        block = self.text[self.line_start(kept[0]) : self.line_end(kept[-1])]
        deeper = " " * kept[0].col_offset
        return [
            indent + part.removeprefix(deeper) if part.strip() else part
            for part in block.split("\n")
        ]

    def following(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that follow one in its block."""
        for node in ast.walk(self.function):
            for part in ("body", "orelse"):
                block = getattr(node, part, None)
                if isinstance(block, list) and statement in block:
                    return block[block.index(statement) + 1 :]
        return []

    @property
    def names(self) -> set[str]:
        """The names that the function uses."""
        return {node.id for node in ast.walk(self.function) if isinstance(node, ast.Name)}

    def names_of(self, module: str) -> frozenset[str]:
        """A module's name in this text; its usual names if another cell imports it."""
        return _names_of(self.tree, self.function, module)

    @property
    def torch(self) -> str:
        """torch's name in this text."""
        return next(iter(sorted(self.names_of("torch"))), _NO_TORCH)

    def replace(self, pieces: list[Piece]) -> Rewritten:
        """The text with pieces replaced, none of which overlap."""
        text = self.text
        for piece in sorted(self._with_torch(pieces), reverse=True):
            text = text[: piece.start] + piece.text + text[piece.end :]
        return Rewritten(text, self._names)

    def _with_torch(self, pieces: list[Piece]) -> list[Piece]:
        """The pieces, and an `import torch` in the function where they need one."""
        first = self.function.body[ast.get_docstring(self.function) is not None :][:1]
        lacking = any(_NO_TORCH in piece.text for piece in pieces)
        if (
            not lacking
            or not first
            or "torch" in _iter_bound_names(self.tree)
            or self.is_beside(first[0])
        ):
            return pieces
        start = self.line_start(first[0])
        named = [piece._replace(text=piece.text.replace(_NO_TORCH, "torch")) for piece in pieces]
        return [*named, Piece(start, start, f"{self.indent(first[0])}import torch\n")]

    def _offset(self, line: int, column: int) -> int:
        characters = len(self._lines[line - 1].encode()[:column].decode())
        return self._starts[line - 1] + characters


@lru_cache(maxsize=8)
def _parse(text: str) -> ast.Module:
    """A file's tree, which nobody changes. One search for fixes asks for the same many times."""
    return ast.parse(text)


@lru_cache(maxsize=64)
def _names_of(tree: ast.Module, function: Function, module: str) -> frozenset[str]:
    imported = frozenset(_iter_module_names(tree, function, module))
    if imported:
        return imported
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return frozenset(_USUAL.get(module, ())) & (used - set(_iter_bound_names(tree)))


def _iter_module_names(node: ast.AST, function: Function, module: str) -> Iterator[str]:
    """A module's name in the imports that a function sees."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, Function) or spans(inner, function.lineno):
            yield from _iter_module_names(inner, function, module)
    for alias in node.names if isinstance(node, ast.Import) else ():
        if alias.name == module:
            yield alias.asname or alias.name
        elif alias.asname is None and alias.name.startswith(f"{module}."):
            yield module  # `import torch.nn` binds `torch`


def _iter_bound_names(tree: ast.Module) -> Iterator[str]:
    """The names that a text binds anywhere, so that they are nothing of another cell's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[0]
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id


def spans(node: ast.expr | ast.stmt, line: int) -> bool:
    """Whether a node is at a line, or runs over it."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def with_way(source: Source, branch: ast.If, kept: list[ast.stmt]) -> Piece:
    """A branch replaced by one of its blocks; by nothing where that is empty."""
    indent = source.indent(branch)
    if any(source.text.startswith("elif", source.start(s)) for s in (branch, *kept[:1])):
        raise CannotRewrite("an `elif` runs only if the earlier tests are False")
    start = source.line_start(branch)
    if kept:
        return Piece(start, source.line_end(branch), "\n".join(source.block_at(indent, kept)))
    blocks, nodes = ("body", "orelse", "finalbody"), ast.walk(source.function)
    alone = any(getattr(node, block, None) == [branch] for node in nodes for block in blocks)
    return Piece(start, source.line_after(branch), f"{indent}pass\n" if alone else "")


def _spans_lines(statement: ast.stmt) -> bool:
    """Whether a string of a statement runs over several lines, so that it cannot be moved."""
    return any(
        isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for node in ast.walk(statement)
        if getattr(node, "end_lineno", 0) != getattr(node, "lineno", 0)
    )


def _find_function(tree: ast.AST, line: int, path: tuple[str, ...]) -> tuple[Function, str] | None:
    """The innermost function at a line, and the qualified name of the outermost around it."""
    for node in ast.iter_child_nodes(tree):
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        if not isinstance(node, ast.match_case) and not first <= line <= last:
            continue
        if isinstance(node, ast.ClassDef):
            return _find_function(node, line, (*path, node.name))
        if isinstance(node, Function):
            inner = _find_function(node, line, (*path, node.name))
            return (inner[0] if inner else node), ".".join((*path, node.name))
        function = _find_function(node, line, path)
        if function is not None:
            return function
    return None


def last_name(function: ast.expr) -> str:
    """The last name of a function that is called: `log` of `math.log`; empty where it has none."""
    return getattr(function, "attr", getattr(function, "id", ""))


def free_name(name: str, taken: set[str]) -> str:
    """A name like this one that is not taken."""
    while name in taken:
        name += "_"
    return name
