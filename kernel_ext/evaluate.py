"""Runs the user's own Python for the magics: the parts of a call, and a cell's statements.

Its errors are shown as Python shows them, so these functions hide from tracebacks.
"""

from __future__ import annotations

import ast
import difflib
import linecache
from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

from kernel_ext.call import Call, Cell, syntax_error
from kernel_ext.errors import ExportUsageError, pointing


def line_file(source: str) -> str:
    """Python's file name for a text after `%export`."""
    return f"<%export {crc32(source.encode()):08x}>"


class Evaluated(NamedTuple):
    """A call, ready to export."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def evaluate_call(call: Call, namespace: dict[str, Any]) -> Evaluated:
    """The callee and the arguments. The call itself is not made.

    Raises:
        ExportUsageError: a name is not known, or the callee cannot be called.
        Exception: whatever the user's own expressions raise.
    """
    __tracebackhide__ = True
    function = _value(call.node.func, call.source, namespace)
    if not callable(function):
        name = ast.get_source_segment(call.source, call.node.func)
        kind = type(function).__name__
        raise ExportUsageError(
            f"{name} is a {kind} and cannot be called. Pass a module or a function: model(x)"
        )
    args: list[Any] = []
    for node in call.node.args:
        if isinstance(node, ast.Starred):
            args.extend(_value(node.value, call.source, namespace))
        else:
            args.append(_value(node, call.source, namespace))
    kwargs: dict[str, Any] = {}
    for keyword in call.node.keywords:
        value = _value(keyword.value, call.source, namespace)
        entries = dict(value) if keyword.arg is None else {keyword.arg: value}
        if twice := kwargs.keys() & entries.keys():
            raise ExportUsageError(f"{call.text} passes {', '.join(sorted(twice))} twice.")
        kwargs.update(entries)
    return Evaluated(function, tuple(args), kwargs)


def evaluate(source: str, namespace: dict[str, Any]) -> Any:
    """One expression of the user's, in their namespace. Raises as `evaluate_call` does."""
    __tracebackhide__ = True
    try:
        node = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        raise syntax_error(error, source) from error
    return _value(node, source, namespace)


def run_statements(cell: Cell, file: str, shell: Any) -> None:
    """Runs all statements of a cell but the last, without displaying their values.

    Args:
        cell: the cell.
        file: Python's file name for it.
        shell: the InteractiveShell; it compiles as for any cell.
    """
    __tracebackhide__ = True
    body = shell.transform_ast(cell.body)
    try:
        code = shell.compile(body, file, "exec")
    except SyntaxError as error:
        raise syntax_error(error, cell.source) from error
    exec(code, shell.user_global_ns, shell.user_ns)  # noqa: S102 - the user's own cell


def _value(node: ast.expr, source: str, namespace: dict[str, Any]) -> Any:
    __tracebackhide__ = True
    # For tracebacks, and for the lines of a lambda that is written in the call.
    file = line_file(source)
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    try:
        code = compile(ast.Expression(node), file, "eval", dont_inherit=True)
    except SyntaxError as error:
        raise syntax_error(error, source) from error
    try:
        return eval(code, namespace)  # noqa: S307 - the user's own
    except NameError as error:
        # Only a name of this line: a NameError inside the user's functions is shown as it is.
        name = next((inner for inner in ast.walk(node) if _is_name(inner, error.name)), None)
        if name is None or not _is_raised_in(file, error) or error.name in namespace:
            raise
        raise _make_unknown_name_error(name, source, namespace) from None


def _is_name(node: ast.AST, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_raised_in(file: str, error: NameError) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == file


def _make_unknown_name_error(
    node: ast.AST, source: str, namespace: dict[str, Any]
) -> ExportUsageError:
    assert isinstance(node, ast.Name)
    texts = [text for text in namespace if not text.startswith("_")]
    near = difflib.get_close_matches(node.id, texts, n=1)
    hint = f" Did you mean {near[0]}?" if near else " Run the cell that defines it first."
    line = source.splitlines()[node.lineno - 1]
    column = len(line.encode()[: node.col_offset].decode())
    return pointing(f"name {node.id!r} is not defined.{hint}", line, column)
