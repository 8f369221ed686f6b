"""What only warns, logs or prints, skipped while exporting."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.bound_names import iter_stored_names
from export_engine.fixes.code.editing.statements import statement_at
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)

_NOTED = ("warn", "warning", "warn_once", "warning_once", "info", "debug", "error", "print", "log")


def without_note(text: str, line: int) -> Rewritten:
    """The text with an `if` that only warns, logs or prints skipped while exporting.

    Raises:
        CannotRewrite: there is no such branch at that line.
    """
    source = Source(text, line)
    statement = statement_at(source, line)
    if not isinstance(statement, ast.If) or statement.orelse:
        raise CannotRewrite("there is no `if` without an `else` at that line")
    if not _only_says(statement.body):
        raise CannotRewrite("the branch does more than warn")
    if _list_bound_names(statement) & _read_elsewhere(source, statement):
        raise CannotRewrite("the branch binds what is used elsewhere")
    test = source.of(statement.test)
    first = f"not {source.torch}.compiler.is_exporting() and ({test})"
    return source.replace([Piece(source.start(statement.test), source.end(statement.test), first)])


def skip_logging(text: str, line: int) -> Rewritten:
    """The text with a statement that only warns, logs or prints skipped while exporting.

    Raises:
        CannotRewrite: there is no such statement at that line.
    """
    source = Source(text, line)
    notes = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.stmt) and _says(node) and spans(node, line)
    ]
    if not notes or source.is_beside(notes[0]):
        raise CannotRewrite("no statement at that line only warns")
    start, indent = source.start(notes[0]), source.indent(notes[0])
    test = f"if not {source.torch}.compiler.is_exporting():\n{indent}    "
    return source.replace([Piece(start, start, test)])


def _only_says(block: list[ast.stmt]) -> bool:
    """Whether a block warns, with what a message needs: an import, its text put together."""
    nodes = [
        node for statement in block for node in ast.walk(statement) if isinstance(node, ast.stmt)
    ]
    return any(map(_says, nodes)) and all(map(_prepares, block))


def _prepares(statement: ast.stmt) -> bool:
    """Whether a statement is part of saying something, with no other effect."""
    if isinstance(statement, ast.If):
        return all(map(_prepares, [*statement.body, *statement.orelse]))
    if isinstance(statement, ast.Assign):
        named = all(isinstance(target, ast.Name) for target in statement.targets)
        return named and _is_text(statement.value)
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name) and _is_text(statement.value)
    return isinstance(statement, ast.Import | ast.ImportFrom) or _says(statement)


def _is_text(value: ast.expr) -> bool:
    """Whether it is a text that stands there, also one put together."""
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.Add) and _is_text(value.left) and _is_text(value.right)
    is_name = isinstance(value, ast.Name)
    return (
        isinstance(value, ast.JoinedStr)
        or is_name
        or isinstance(getattr(value, "value", None), str)
    )


def _list_bound_names(branch: ast.If) -> set[str]:
    """The names that a branch binds."""
    bound = {name for statement in branch.body for name in iter_stored_names(statement, [])}
    imports = [n for n in ast.walk(branch) if isinstance(n, ast.Import | ast.ImportFrom)]
    named = [alias for node in imports for alias in node.names]
    return bound | {(alias.asname or alias.name).split(".")[0] for alias in named}


def _read_elsewhere(source: Source, branch: ast.If) -> set[str]:
    inside = set(ast.walk(branch))
    nodes = [node for node in ast.walk(source.function) if node not in inside]
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _says(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and _is_note(statement.value)


def _is_note(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    owned = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name | ast.Attribute)
    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    owner = ast.unparse(called.value).lower() if owned and isinstance(called, ast.Attribute) else ""
    is_known = not owner or owner.endswith(("warnings", "logging", "logger", "log"))
    inner = [node for argument in value.args for node in ast.walk(argument)]
    return name in _NOTED and is_known and not any(isinstance(n, ast.NamedExpr) for n in inner)
