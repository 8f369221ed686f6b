"""Delta debugging over a syntax tree: what a script does not need goes, as long as it still fails.

Lists (statements, arguments, elements) lose halves, then quarters, down to one part (ddmin of
Zeller and Hildebrandt, 2002); a statement becomes what is inside of it; an expression becomes a
part of it; a number becomes a small one, everywhere at once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

_LISTS = ("body", "orelse", "finalbody", "handlers", "decorator_list", "args", "keywords", "elts")
_NEVER_EMPTY = ("body", "handlers")
_SMALL = (2, 3, 4)
CALL = "torch.export.export("


class Reduction:
    """One script on its way to a short one."""

    def __init__(self, text: str, fails: Callable[[str], bool]) -> None:
        """Make one.

        Args:
            text: a script that fails.
            fails: whether a script still does; what it raises ends the reduction, which is then
                as far as it came.
        """
        self.text = text
        """The shortest so far."""
        self._fails = fails
        self._tree = ast.parse(text)
        self._seen = {text}
        last = text.rstrip("\n").rpartition("\n")[2]
        self._end = "" if CALL in last else last

    def run(self) -> None:
        """Reduces until nothing more can go."""
        before = ""
        while before != self.text:
            before = self.text
            self._lists(("body",))
            self._unwrap_blocks()
            self._lists(_LISTS)
            self._inputs()
            self._dicts()
            self._hoist()
            self._sizes()

    def _try(self, owner: Any, field: str, new: Any) -> bool:
        """Sets a field where the script still fails so."""
        old = getattr(owner, field)
        setattr(owner, field, new)
        if self._holds():
            return True
        setattr(owner, field, old)
        return False

    def _holds(self) -> bool:
        try:
            text = ast.unparse(ast.fix_missing_locations(self._tree))
            compile(text, "<reduced>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, AttributeError, TypeError, RecursionError):
            return False
        if text in self._seen or CALL not in text or not text.endswith(self._end):
            return False
        self._seen.add(text)
        if self._fails(text):
            self.text = text
            return True
        return False

    def _lists(self, fields: tuple[str, ...]) -> None:
        for node in list(ast.walk(self._tree)):
            for field in () if isinstance(node, ast.arguments) else fields:
                if isinstance(getattr(node, field, None), list) and not _is_call(node):
                    self._remove_items(node, field)

    def _remove_items(self, node: ast.AST, field: str) -> None:
        size = len(getattr(node, field))
        while size >= 1:
            end = len(getattr(node, field))
            while end > 0:
                now = getattr(node, field)
                left = now[: max(0, end - size)] + now[end:]
                if not left and field in _NEVER_EMPTY and isinstance(node, ast.stmt):
                    left = [ast.Pass()]
                if len(left) < len(now) or field == "body":
                    self._try(node, field, left)
                end -= size
            size //= 2

    def _unwrap_blocks(self) -> None:
        """`if`, loops, `with` and `try` become what is inside of them."""
        for node in list(ast.walk(self._tree)):
            for field in ("body", "orelse", "finalbody"):
                value = getattr(node, field, None)
                for item in list(value) if isinstance(value, list) else []:
                    self._unwrap(node, field, item)

    def _unwrap(self, node: ast.AST, field: str, statement: ast.stmt) -> None:
        now = getattr(node, field)
        if statement not in now:
            return
        at = now.index(statement)
        for inner in _insides(statement):
            if self._try(node, field, [*now[:at], *inner, *now[at + 1 :]]):
                return

    def _inputs(self) -> None:
        """Inputs of the exported call go together with the parameters that take them."""
        call = next((node for node in ast.walk(self._tree) if _is_call(node)), None)
        expression = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
        if not isinstance(expression, ast.Tuple):
            return
        for at in reversed(range(len(expression.elts))):
            self._without_input(expression, at)

    def _without_input(self, given: ast.Tuple, at: int) -> None:
        own = given.elts
        taken = [
            inner.args
            for inner in ast.walk(self._tree)
            if isinstance(inner, ast.FunctionDef)
            and inner.name == "forward"
            and len(inner.args.args) == len(own) + 1
        ]
        old = [item.args for item in taken]
        given.elts = own[:at] + own[at + 1 :]
        for node in taken:
            node.args = node.args[: at + 1] + node.args[at + 2 :]
        if not self._holds():
            given.elts = own
            for call_node, arguments in zip(taken, old, strict=True):
                call_node.args = arguments

    def _dicts(self) -> None:
        """Dicts lose their pairs."""
        for node in list(ast.walk(self._tree)):
            if not isinstance(node, ast.Dict):
                continue
            for at in reversed(range(len(node.keys))):
                keys, values = node.keys, node.values
                node.keys, node.values = keys[:at] + keys[at + 1 :], values[:at] + values[at + 1 :]
                if not self._holds():
                    node.keys, node.values = keys, values

    def _hoist(self) -> None:
        """Expressions become a part of themselves."""
        for node in list(ast.walk(self._tree)):
            for field, at in _places(node):
                while self._hoist_at(node, field, at):
                    pass

    def _hoist_at(self, node: ast.AST, field: str, at: int) -> bool:
        now = getattr(node, field)
        if at >= 0 and at >= len(now):
            return False
        own = now if at < 0 else now[at]
        for part in [] if _is_call(own) else _parts(own):
            new = part if at < 0 else [*now[:at], part, *now[at + 1 :]]
            if self._try(node, field, new):
                return True
        return False

    def _sizes(self) -> None:
        """A number becomes a small one everywhere."""
        numbers = [inner for inner in ast.walk(self._tree) if isinstance(inner, ast.Constant)]
        values: set[Any] = {number.value for number in numbers if _is_size(number)}
        for value in sorted(values, reverse=True):
            same = [number for number in numbers if _is_size(number) and number.value == value]
            for small in (*_SMALL, value // 2):
                if small >= value:
                    continue
                for node in same:
                    node.value = small
                if self._holds():
                    break
                for constant in same:
                    constant.value = value


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) + "(" == CALL


def _is_size(node: ast.Constant) -> bool:
    return type(node.value) is int and node.value > _SMALL[0]


def _insides(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
        yield statement.body
        if getattr(statement, "orelse", None):
            yield statement.orelse  # type: ignore[union-attr] # With has none


def _places(node: ast.AST) -> list[tuple[str, int]]:
    """The fields of a node that hold an expression, and which element where it is a list."""
    pairs = []
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.expr) and field not in ("target", "func"):
            pairs.append((field, -1))
        elif isinstance(value, list) and field not in ("targets", "decorator_list", "bases"):
            pairs += [(field, at) for at, item in enumerate(value) if isinstance(item, ast.expr)]
    return pairs


def _parts(expression: ast.expr) -> list[ast.expr]:
    """The direct subexpressions of one, which may replace it."""
    match expression:
        case ast.Call(func=ast.Attribute(value=owner), args=args):
            return [owner, *args]
        case ast.Call(args=args):
            return list(args)
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.BoolOp(values=values):
            return list(values)
        case ast.IfExp(body=body, orelse=other, test=test):
            return [body, other, test]
        case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Starred(value=value):
            return [value]
        case ast.UnaryOp(operand=operand) if not isinstance(operand, ast.Constant):
            return [operand]
        case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
            return [elt]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return list(elts)
    return []
