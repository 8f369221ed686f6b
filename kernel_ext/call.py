"""Parses the call of `%export`, and the cell of `%%export`.

Nothing is evaluated here.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from kernel_ext.command import OPTIONS
from kernel_ext.errors import ExportUsageError, pointing

_TRAILING_OPTION = re.compile(r"\)\s*(--?[A-Za-z][A-Za-z-]*)")
_MAGIC = "get_ipython()."
"""The start of IPython's translation of a line magic."""


@dataclass(frozen=True)
class Call:
    """A call, and the name for its result."""

    text: str
    """The call as it was written."""
    source: str
    """The text that the positions in `node` count in."""
    node: ast.Call
    assigned: str | None = None
    """The variable in `name = model(x)`."""


def parse_call(text: str) -> Call:
    """The call in a piece of Python.

    Raises:
        ExportUsageError: the text is not one call, or assigns it to anything but one name.
    """
    if not text:
        raise ExportUsageError(
            "Pass the call to export: %export model(x)\n%export? lists the options."
        )
    _refuse_options_after(text)
    try:
        statements = ast.parse(text).body
    except SyntaxError as error:
        raise syntax_error(error, text) from error
    statement = statements[0] if len(statements) == 1 else None
    assigned = _find_assignment(statement, text)
    call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if isinstance(call, ast.Await):
        raise ExportUsageError(
            "An awaited call cannot be exported. Export the model that it calls, or leave out "
            "the await."
        )
    if not isinstance(call, ast.Call):
        raise ExportUsageError(
            f"Not a call: {_first_line(text)}\nWrite the model with its example inputs: model(x)"
        )
    return Call(ast.get_source_segment(text, call) or text, text, call, assigned)


@dataclass(frozen=True)
class Cell:
    """The cell of `%%export`: what is to be run, and the call."""

    source: str
    """The whole cell, its lines numbered as the user sees them; the magic's is a comment."""
    body: ast.Module
    """All statements but the last."""
    call: str
    """The text of the last."""


def split_cell(source: str) -> Cell:
    """A cell, taken apart before its last statement.

    Args:
        source: the cell as IPython transformed it to plain Python.

    Raises:
        ExportUsageError: the cell is empty, does not parse, or ends with a magic.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise syntax_error(error, source) from error
    if not tree.body:
        raise ExportUsageError("The cell is empty. End it with a call: model(x)")
    call = ast.get_source_segment(source, tree.body.pop()) or ""
    if call.startswith(_MAGIC):
        raise ExportUsageError(
            "The cell ends with a magic. End it with the call to export: model(x)"
        )
    return Cell(source, tree, call)


def syntax_error(error: SyntaxError, text: str) -> ExportUsageError:
    """Python's syntax error, with a caret."""
    lines = text.splitlines() or [""]
    number = min(max(error.lineno or 1, 1), len(lines))
    return pointing(
        (f"This is not valid Python: {error.msg}"), lines[number - 1], (error.offset or 1) - 1
    )


def _find_assignment(statement: ast.stmt | None, text: str) -> str | None:
    if isinstance(statement, ast.Assign):
        if len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            return statement.targets[0].id
    elif not isinstance(statement, ast.AnnAssign | ast.AugAssign):
        return None
    raise ExportUsageError(
        f"{_first_line(text)}: the result can be assigned to one name only: %export ex = model(x)"
    )


def _refuse_options_after(text: str) -> None:
    """`model(x) --strict` is a subtraction for Python, and never meant."""
    for match in _TRAILING_OPTION.finditer(text):
        if match.group(1) in OPTIONS and _ends_call(text[: match.start() + 1]):
            option = match.group(1)
            raise pointing(
                f"Options come before the call: %export {option} … model(x)",
                _first_line(text),
                match.start(1),
            )


def _ends_call(text: str) -> bool:
    try:
        return isinstance(ast.parse(text, mode="eval").body, ast.Call)
    except SyntaxError:
        return False


def _first_line(text: str) -> str:
    return text.splitlines()[0]
