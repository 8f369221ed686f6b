"""Errors of tracing that the code caught: the program has the `except` branch alone."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind
from export_engine.record import Record
from export_engine.source import Code, code_of
from export_engine.trace import CaughtError

_ON_DATA = frozenset(
    {"GuardOnDataDependentSymNode", "DataDependentOutputException", "DynamicOutputShapeException"}
    | {"UserError"}
)


def check_caught_errors(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per line that torch refused."""
    agreement = exported.agreement
    same = agreement is not None and agreement.verdict == "agrees"
    for error in exported.recording.caught:
        place, code = error.stack[-1], code_of(error.stack[-1].file)
        what = _read_question(code, error) if code is not None else ""
        refused = (
            f"{f'`{what}`' if what else 'This line'} depends on data"
            if error.classes[0] in _ON_DATA
            else f"torch cannot trace {f'`{what}`' if what else 'this line'}"
        )
        line, by, goes = _catcher(error)
        where = f"line {line}"
        if error.caught.file != place.file:
            where += f" of `{Path(error.caught.file).name}`"
        yield Finding(
            kind=Kind.CAUGHT_ERROR,
            severity="surprising" if same else "wrong",
            sentence=rules.CaughtError.SENTENCE(refused=refused, by=by, where=where, goes=goes),
            why=rules.CaughtError.WHY(
                same=rules.CaughtError.SAME() if same else "", classes=error.classes[0]
            ),
            stack=error.stack,
        )


def _read_question(code: Code, each: CaughtError) -> str:
    """The text of what Python asked a value of."""
    expression = code.expression(each.asked)
    if expression is None:
        return ""
    question = code.question(expression)
    return code.text(question.asked if question is not None else expression)


def _catcher(each: CaughtError) -> tuple[int, str, str]:
    """The line that caught an error, its text, and how the program continues."""
    unknown = (each.caught.line, "the code", "continues as if that error had been raised")
    code = code_of(each.caught.file)
    statement = code.statement(each.caught.line) if code is not None else None
    if code is None or statement is None:
        return unknown
    inner: ast.AST = statement
    for block in (statement, *code.ancestors(statement)):
        match block:
            case (
                ast.Try(body=body, handlers=handlers) | ast.TryStar(body=body, handlers=handlers)
            ) if inner in body:
                handler = _handler(handlers, each.classes)
                if handler is not None and not _passes_on(handler):
                    caught = f" {code.text(handler.type)}" if handler.type is not None else ""
                    return handler.lineno, f"`except{caught}`", "takes the `except` branch"
            case ast.With(items=items) if inner in block.body:
                texts = [code.text(item.context_expr) for item in items]
                catching = [text for text in texts if "suppress" in text]
                if catching:
                    return block.lineno, f"`with {catching[0]}`", "leaves the block there"
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                return unknown
        inner = block
    return unknown


def _handler(
    handlers: list[ast.ExceptHandler], classes: tuple[str, ...]
) -> ast.ExceptHandler | None:
    """The handler that takes an error; by names alone, as nothing of the code is run."""
    for handler in handlers:
        if handler.type is None or _names(handler.type) & {*classes}:
            return handler
    others = [
        handler for handler in handlers if handler.type is not None and not _is_python(handler.type)
    ]
    return others[0] if others else None


def _passes_on(handler: ast.ExceptHandler) -> bool:
    """Whether a handler ends in a bare `raise`: a block further out has caught the error."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _names(node: ast.expr) -> set[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
        case ast.Tuple(elts=elements):
            return {name for expression in elements for name in _names(expression)}
    return set()


def _is_python(node: ast.expr) -> bool:
    """Whether all the named classes are Python's own, so that their names tell all."""
    return bool(_names(node)) and all(hasattr(builtins, name) for name in _names(node))
