"""The syntax tree around a place in the user's code: the expression, and what Python asks of it.

Reads source through linecache, which knows files, notebook cells and edited copies of both. Runs
nothing of it. Unreadable or invalid source gives None.
"""

from __future__ import annotations

import ast
import linecache
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple


class Span(NamedTuple):
    """A piece of source text: lines from 1, columns from 0 in characters, the end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int


Construct = Literal[
    "if", "while", "assert", "conditional", "filter", "match", "for", "unpack", "call"
]
"""Where Python needs a plain value: `conditional` is `a if test else b`, `filter` the `if` of a
comprehension, `unpack` is `a, b = c`, `call` a builtin such as `bool` or `int`."""

_LOOPED = frozenset({"range", "enumerate", "zip", "reversed", "list", "tuple", "iter", "len"})
_CALLS = frozenset(
    {"bool", "any", "all", "int", "float", "complex", "len", "range", "sorted", "max", "min"}
    | {"round", "str", "format", "sum", "list", "tuple", "hash"}
)
_LONGEST_TEXT = 80


class Position(NamedTuple):
    """The position of an instruction, from Python's compiler. Columns count UTF-8 bytes."""

    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


@dataclass(frozen=True)
class Question:
    """The question that Python asks at a place."""

    construct: Construct
    asked: ast.expr
    """The expression whose plain value decides: `x.sum() > 0`."""
    node: ast.AST
    """The statement, conditional expression or call that asks it."""


class Code:
    """One file's text and its syntax tree."""

    def __init__(self, text: str) -> None:
        """Make one. Raises SyntaxError."""
        self._text = text
        self._lines = text.splitlines(keepends=True)
        with warnings.catch_warnings():  # Python already warned about odd literals
            warnings.simplefilter("ignore")
            self.tree = ast.parse(text)

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {
            child: parent
            for parent in ast.walk(self.tree)
            for child in ast.iter_child_nodes(parent)
        }

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]

    @cached_property
    def _expressions(self) -> list[ast.expr]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.expr)]

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """All function definitions, outer ones before those nested in them."""
        defined = (ast.FunctionDef, ast.AsyncFunctionDef)
        return [node for node in self._statements if isinstance(node, defined)]

    @cached_property
    def by_first_line(self) -> dict[int, ast.AST]:
        """Each function and lambda by its first line, that of a decorator if there is one."""
        defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        return {
            min(
                [node.lineno, *(value.lineno for value in getattr(node, "decorator_list", []))]
            ): node
            for node in ast.walk(self.tree)
            if isinstance(node, defined)
        }

    @cached_property
    def imported(self) -> dict[str, str]:
        """Full names of imported names: `t` for `time`, `now` for `time.time`."""
        return dict(_imports(self._statements))

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the nearest first."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def text(self, node: ast.AST) -> str:
        """The source of a node on one line, shortened where it is long."""
        text = " ".join((ast.get_source_segment(self._text, node) or "").split())
        if len(text) <= _LONGEST_TEXT:
            return text
        if isinstance(node, ast.Call):
            return f"{self.text(node.func)}(…)"
        return text[: _LONGEST_TEXT - 1] + "…"

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> Span:
        """The position of a node, with columns in characters."""
        end_line = node.end_lineno or node.lineno
        return Span(
            node.lineno,
            self._characters(node.lineno, node.col_offset),
            end_line,
            self._characters(end_line, node.end_col_offset or 0),
        )

    def _characters(self, line: int, column: int) -> int:
        if not 0 < line <= len(self._lines):
            return column
        return len(self._lines[line - 1].encode()[:column].decode(errors="replace"))

    def statement(self, line: int) -> ast.stmt | None:
        """The innermost statement that a line is part of."""
        result: ast.stmt | None = None
        for node in self._statements:
            around = node.lineno <= line <= (node.end_lineno or 0)
            if around and (result is None or _size(node) <= _size(result)):
                result = node
        return result

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that a node is in."""
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, ast.FunctionDef | ast.AsyncFunctionDef):
                return ancestor
        return None

    def expression(self, position: Position) -> ast.expr | None:
        """The expression that an instruction was compiled from.

        Without columns, what the statement on that line asks, or its value.
        """
        if position.column is None:
            return _decisive(self.statement(position.line))
        asking = [node for node in self._statements if _matches(node, position)]
        if asking and _decisive(asking[0]) is not None:  # `if flag:` is compiled as a whole
            return _decisive(asking[0])
        near = self._expressions
        exact = [node for node in near if _matches(node, position)]
        if exact:
            # Without its line, more than one may end in that column. What starts with the whole
            # chain of calls is about all of it: each call in it starts at the method's name.
            last = max(node.end_lineno or 0 for node in exact)
            return self._or_whole([node for node in exact if node.end_lineno == last][-1])
        # A method call over several lines starts, for the compiler, at the method's name.
        ending = [node for node in near if _ends_at(node, position)]
        if ending:
            return max(ending, key=_size)
        around = [node for node in near if _contains(node, position)]
        return min(around, key=_size, default=_decisive(self.statement(position.line)))

    def _or_whole(self, operand: ast.expr) -> ast.expr:
        """The operand of `and` and `or`, or all of them where it is not certain which one it was.

        Python 3.11 gives the question after a comparison the comparison's place.
        """
        whole = operand
        for parent in self.ancestors(operand):
            if not isinstance(parent, ast.BoolOp | ast.UnaryOp):
                break
            whole = parent
        if sys.version_info >= (3, 12) or not isinstance(operand, ast.Compare):
            return operand
        operands = list(_operands(whole))
        following = operands[operands.index(operand) + 1 :] if operand in operands else []
        return whole if following and not isinstance(following[0], ast.Compare) else operand

    def question(self, expression: ast.expr) -> Question | None:
        """The operation of Python on an expression's value; None if it only passes it on."""
        child: ast.AST = expression
        if isinstance(expression, ast.IfExp):
            return Question("conditional", expression.test, expression)
        if isinstance(expression, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return Question("for", expression.generators[0].iter, expression)  # made from outside
        if isinstance(expression, ast.Tuple | ast.List) and isinstance(expression.ctx, ast.Store):
            return self._find_unpacking(expression)
        for parent in self.ancestors(expression):
            asked = _find_question(parent, child)
            if asked is not None:
                return asked
            if not _passes_on(parent):
                break
            child = parent
        if isinstance(expression, ast.Call) and _call_name(expression) in _CALLS:
            return Question("call", expression, expression)
        return None

    def _find_unpacking(self, target: ast.expr) -> Question | None:
        statement = next(self.ancestors(target), None)
        if isinstance(statement, ast.Assign):
            return Question("unpack", statement.value, statement)
        if isinstance(statement, ast.For):
            return Question("unpack", statement.iter, statement)
        return None


def code_of(path: str) -> Code | None:
    """The code of a file or a cell."""
    text = "".join(linecache.getlines(path))
    return _parse(text) if text else None


@lru_cache(maxsize=16)
def _parse(text: str) -> Code | None:
    try:
        return Code(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _imports(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, str]]:
    for node in statements:
        if isinstance(node, ast.Import):
            for name in node.names:
                first = name.name.partition(".")[0]
                yield (name.asname, name.name) if name.asname else (first, first)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _find_question(parent: ast.AST, child: ast.AST) -> Question | None:
    match parent:
        case ast.If(test=test) if test is child:
            return Question("if", test, parent)
        case ast.While(test=test) if test is child:
            return Question("while", test, parent)
        case ast.Assert(test=test) if test is child:
            return Question("assert", test, parent)
        case ast.IfExp(test=test) if test is child:
            return Question("conditional", test, parent)
        case ast.comprehension(ifs=tests) if child in tests:
            return Question("filter", child, parent)
        case ast.match_case(guard=test) if test is child:
            return Question("if", test, parent)
        case ast.Match(subject=subject):
            return Question("match", subject, parent)
        case ast.For(iter=looped) | ast.AsyncFor(iter=looped) if looped is child:
            return Question("for", looped, parent)
        case ast.comprehension(iter=looped) if looped is child:
            return Question("for", looped, parent)
    return None


def _decisive(statement: ast.stmt | None) -> ast.expr | None:
    """The test or the value of a statement."""
    match statement:
        case ast.If(test=asked) | ast.While(test=asked) | ast.Assert(test=asked):
            return asked
        case ast.For(iter=asked) | ast.AsyncFor(iter=asked) | ast.Match(subject=asked):
            return asked
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Expr(value=value):
            return _conditional_in(value)
        case ast.Return(value=ast.expr() as value) | ast.AnnAssign(value=ast.expr() as value):
            return _conditional_in(value)
    return None


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    """What `and`, `or` and `not` combine, in order."""
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _operands(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _operands(operand)
        case _:
            yield test


def _passes_on(parent: ast.AST) -> bool:
    """Whether what decides about a part decides about the whole: `not x`, `x and y`, `range(x)`."""
    if isinstance(parent, ast.Call):
        return _call_name(parent) in _LOOPED | {"bool"}
    return isinstance(
        parent,
        ast.BoolOp | ast.UnaryOp | ast.NamedExpr | ast.pattern | ast.match_case,
    )


def _call_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _conditional_in(value: ast.expr) -> ast.expr:
    """For a value with one conditional expression in it, that one."""
    nodes = [node for node in ast.walk(value) if isinstance(node, ast.IfExp)]
    return nodes[0].test if len(nodes) == 1 else value


def _size(node: ast.stmt | ast.expr) -> tuple[int, int]:
    lines = (node.end_lineno or node.lineno) - node.lineno
    return lines, (node.end_col_offset or 0) - node.col_offset


def _matches(node: ast.expr | ast.stmt, position: Position) -> bool:
    return (
        node.lineno == position.line
        and node.col_offset == position.column
        and node.end_col_offset == position.end_column
        and position.end_line in (None, node.end_lineno)
    )


def _ends_at(node: ast.expr, position: Position) -> bool:
    return (
        isinstance(node, ast.Call | ast.Attribute)
        and node.lineno < position.line
        and node.end_col_offset == position.end_column
        and position.end_line in (None, node.end_lineno)
        and (node.end_lineno or 0) >= position.line
    )


def _contains(node: ast.expr, position: Position) -> bool:
    start = (position.line, position.column or 0)
    return (
        (node.lineno, node.col_offset)
        <= start
        < (node.end_lineno or node.lineno, node.end_col_offset or 0)
    )
