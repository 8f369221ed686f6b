"""Rewrites one place of a file's text: finds the code at a line, and changes its function."""

from __future__ import annotations

import ast
import io
from typing import NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from export_engine.fixes.code.editing.refusal import CannotRewrite

NO_STATEMENT = "there is no such statement in a function at that line"


class Rewritten(NamedTuple):
    """A text with one function changed."""

    text: str
    function: str
    """Its qualified name; of one inside another, the outermost's."""


class Rewriter(cst.CSTTransformer):
    """Changes the innermost function around a line."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        """Counted from the start of what is visited."""
        self.done = False
        self.lacks_torch = False
        """Whether the text never mentions `torch`, so the name may be undefined."""
        self.path: list[str] = []
        self.changed: str | None = None
        """Qualified name of the function that was changed."""

    def spans(self, node: cst.CSTNode) -> bool:
        """Whether the line is one of a node's."""
        place = self.get_metadata(PositionProvider, node)
        return bool(place.start.line <= self.line <= place.end.line)

    def finish(self) -> None:
        """Records that the change was made in the visited function."""
        self.done = True
        self.changed = ".".join(self.path).removesuffix(".<locals>")

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self.path.append(node.name.value)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        self.path.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.path += [node.name.value, "<locals>"]

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        del self.path[-2:]
        if self.done and self.lacks_torch and "<locals>" not in self.path:
            self.lacks_torch = False
            return _with_import(updated_node)
        return updated_node

    def visit_Lambda(self, node: cst.Lambda) -> None:
        self.path += ["<lambda>", "<locals>"]

    def leave_Lambda(self, original_node: cst.Lambda, updated_node: cst.Lambda) -> cst.Lambda:
        del self.path[-2:]
        return updated_node


def rewrite_text(before: str, rewriter: Rewriter) -> Rewritten:
    """The text with what a rewriter changes of it.

    Raises:
        CannotRewrite: there is no such place, or the text is not Python's.
    """
    if not before:
        raise CannotRewrite("the source text is not available")
    try:
        tree = ast.parse(before)
        rewriter.lacks_torch = not _says_torch(tree)
        above, part, below = _split_around(before, tree, rewriter.line)
        rewriter.line -= above.lines
        module = MetadataWrapper(cst.parse_module(part), unsafe_skip_copy=True).visit(rewriter)
    except (cst.ParserSyntaxError, SyntaxError) as error:
        raise CannotRewrite("the source text is not valid Python") from error
    if not rewriter.done or rewriter.changed is None:
        raise CannotRewrite(NO_STATEMENT)
    return Rewritten(above.text + module.code + below, _find_top_function(rewriter.changed))


class _Above(NamedTuple):
    """What comes before the statement that is rewritten."""

    text: str
    lines: int
    """How many it has."""


def _split_around(text: str, tree: ast.Module, line: int) -> tuple[_Above, str, str]:
    """A text in three, in the middle the statement at a line and those that share lines with it.

    libcst takes most of a second for a file of transformers, and milliseconds for a class of it.

    Raises:
        CannotRewrite: no statement is at that line.
    """
    spans = [
        (_start(statement), statement.end_lineno or statement.lineno) for statement in tree.body
    ]
    first = last = line
    while True:
        touching = [(a, b) for a, b in spans if a <= last and b >= first]
        if not touching:
            raise CannotRewrite(NO_STATEMENT)
        wider = touching[0][0], touching[-1][1]
        if wider == (first, last):
            break
        first, last = wider
    lines = list(io.StringIO(text, newline=""))  # as Python counts them: no form feed ends one
    above = "".join(lines[: first - 1])
    return _Above(above, first - 1), "".join(lines[first - 1 : last]), "".join(lines[last:])


def _start(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _find_top_function(name: str) -> str:
    """The module-level function: a nested one is created again whenever the outer one runs."""
    return name.split(".<locals>", maxsplit=1)[0]


def _says_torch(tree: ast.Module) -> bool:
    """Whether the name is imported or used; a notebook's cell may use another's import."""
    return any(
        (isinstance(node, ast.Name) and node.id == "torch")
        or (isinstance(node, ast.alias) and node.name == "torch" and node.asname is None)
        for node in ast.walk(tree)
    )


def _with_import(function: cst.FunctionDef) -> cst.FunctionDef:
    """The function with `import torch` before its first statement, behind its docstring."""
    block = function.body
    if not isinstance(block, cst.IndentedBlock):
        raise CannotRewrite("the function is written on one line")
    at = 0 if function.get_docstring() is None else 1
    body = [*block.body[:at], cst.parse_statement("import torch"), *block.body[at:]]
    return function.with_changes(body=block.with_changes(body=body))
