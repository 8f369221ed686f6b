"""Expressions of staged code: what Python would ask a tensor for, as an op."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.expressions import Names
from export_engine.fixes.rewrite.facts import Facts
from export_engine.fixes.rewrite.form import (
    as_collected,
    as_tuple,
    call,
    change_children,
    fill,
    find_site,
    let,
    load,
    map_children,
    mark,
    method,
    parse_expression,
)

_JOINED = {ast.And: ast.BitAnd, ast.Or: ast.BitOr}
_PLAIN = ("plain", "lazy")
"""Kinds of parts of a test that Python decides: in all calls, or in some."""


class Answers:
    """Replaces the expressions of which a run noted something; others stay the user's."""

    def __init__(self, facts: Facts, names: Names, masks: Callable[[str], str | None]) -> None:
        self.facts, self.names, self.masks = facts, names, masks
        self.lines: list[int] = []
        """The location of the replaced code."""
        self.required: list[str] = []
        """Conditions that hold if eager raises no error, in any branch."""
        self.held: dict[str, str] = {}
        """By list of which only some pieces count: the name of a tensor of those."""
        self.first_of: Callable[[], str] = lambda: ""
        """The name that says of the loop around whether it is the first iteration."""
        self.rows_of: Callable[[ast.Subscript, int], ast.expr | None] = lambda *_: None
        """A row that the loop around takes, of `x[:, t]`."""

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        note = (
            self.facts.notes.get(find_site(node))
            if isinstance(node, ast.expr | ast.Assign)
            else None
        )
        answer = getattr(self, f"answer_{type(node).__name__.lower()}", None)
        result = map_children(node, self.visit)
        if note is None or answer is None:
            return result
        if note[0] != "size":
            self.lines.append(find_site(node)[0])
        return answer(result, note)

    def answer_boolop(self, node: ast.BoolOp, note: tuple[str, ...]) -> ast.expr:
        """`a and b` as `(a) & (b)`; what Python decides is asked first."""
        pairs = list(zip(node.values, note, strict=False))
        plain = [part for part, kind in pairs if kind in _PLAIN]
        parts = [_as_test(part, kind) for part, kind in pairs if kind not in _PLAIN]
        expression = _fold(parts, _JOINED[type(node.op)]())
        if not plain:
            return expression
        joined = ast.BoolOp(node.op, [*plain, expression])
        return call("torch.as_tensor", joined) if "lazy" in note else joined

    def answer_compare(self, node: ast.Compare, note: Any) -> ast.expr:
        """`a < b < c` as both; whether a carried value is None as whether it is the first time."""
        if note[0] == "form":
            return fill(note[1], left=node.left, right=node.comparators[0])
        if note == "first":
            expression: ast.expr = load(self.first_of())
            return expression if isinstance(node.ops[0], ast.Is) else negate(expression)
        lefts = [node.left, *node.comparators]
        parts: list[ast.expr] = [
            ast.Compare(a, [how], [b])
            for a, how, b in zip(lefts, node.ops, node.comparators, strict=False)
        ]
        match node:
            case ast.Compare(
                _, [ast.In() | ast.NotIn() as among], [ast.Tuple(e) | ast.List(e) | ast.Set(e)]
            ):
                is_in = isinstance(among, ast.In)
                same: ast.cmpop = ast.Eq() if is_in else ast.NotEq()
                parts = [ast.Compare(node.left, [same], [expression]) for expression in e]
                return _fold(parts, ast.BitOr() if is_in else ast.BitAnd())
        return _fold(parts, ast.BitAnd())

    def answer_unaryop(self, node: ast.UnaryOp, note: str) -> ast.expr:
        """`not a`."""
        return negate(node.operand, note)

    def answer_subscript(self, node: ast.Subscript, note: tuple[Any, ...]) -> ast.expr:
        """A row at a place that the program knows."""
        if note[0] == "masked":
            note = ("sliced", note[1].places)
        places, of, index = note[1], node.value, node.slice
        if note[0] == "cut":
            return node
        if note[0] == "row_cut":
            assert isinstance(index, ast.Tuple)
            first, *rest = index.elts
            of_row = self.answer_subscript(ast.Subscript(of, first, ast.Load()), note[1])
            return self.answer_subscript(ast.Subscript(of_row, as_tuple(rest), ast.Load()), note[2])
        if note[0] == "turned":
            return method(of, "flip", ast.Constant(0))
        match note[0]:
            case "keyed" if note[1] != "tensors":
                return node  # what calls it asks all of them
            case "keyed" | "choose":
                return self._choose_tensor(node, note[0] == "keyed")
            case "stacked" | "listed":
                function = "torch.stack" if note[0] == "stacked" else "torch.tensor"
                changed = _with_parts(index, places, lambda each: call(function, each))
                return ast.Subscript(of, changed, node.ctx)
            case "place" | "write" if isinstance(node.ctx, ast.Store):
                return _select_place(of, index, places, note[3])
            case "window" | "sliced" as kind:
                change = partial(_as_window, width=note[2]) if kind == "window" else _read_ends
                return ast.Subscript(of, _with_parts(index, places, change), node.ctx)
            case "one":
                first_row = ast.Subscript(of, _with_parts(index, places, _start_of), ast.Load())
                taken = self.answer_subscript(first_row, ("row", places))
                return method(taken, "unsqueeze", ast.Constant(places[0]))
            case "required" if isinstance(of, ast.Name):
                self.required.append(f"torch._check({of.id}.shape[0] >= {note[1]})")
                return node
            case "padded":
                return ast.Subscript(_pad_rows(of, note[1]), index, node.ctx)
        if note[0] == "row" and (row := self.rows_of(node, places[0])) is not None:
            if not isinstance(index, ast.Tuple) or len(index.elts) == 1:
                return row
            parts = [expression for n, expression in enumerate(index.elts) if n != places[0]]
            of, places = row, tuple(place - 1 for place in places[1:])
            index = ast.Tuple(parts, ast.Load()) if len(parts) > 1 else parts[0]
            if not any(not _is_full(expression) for expression in parts):
                return row
            if not places:
                return ast.Subscript(row, index, ast.Load())
        if note[0] == "guarded" and isinstance(of, ast.Name) and places == (0,):
            last = parse_expression(f"{of.id}.shape[0] - 1")
            index = _with_parts(index, places, lambda part: _clamp_to(part, last))
        index, at = index_as_rows(index, places)
        return method(ast.Subscript(of, index, ast.Load()), "squeeze", ast.Constant(at))

    def answer_name(self, node: ast.Name, note: tuple[str, object]) -> ast.expr:
        """Whether a list has elements."""
        return fill("$rows.shape[0] > 0", rows=self.rows(node))

    def answer_joinedstr(self, node: ast.JoinedStr, note: tuple[str, object]) -> ast.expr:
        """A number whose text would be a key."""
        assert isinstance(node.values[0], ast.FormattedValue)
        return node.values[0].value

    def _choose_tensor(self, node: ast.Subscript, is_keyed: bool) -> ast.expr:
        """A data-dependent choice of a tensor from a list, or from a dict with the keys 0, 1, …."""
        every: ast.expr = call("tuple", node.value)
        if is_keyed:
            name = self.names.new("key")
            text = f"[{ast.unparse(node.value)}[str({name})] for {name} in range(len({{}}))]"
            every = parse_expression(text.format(ast.unparse(node.value)))
        return take(call("torch.stack", every), node.slice, rejects_negative=is_keyed)

    def _choose_output(self, node: ast.Call) -> ast.expr:
        """The output of a data-dependent choice of module: all run, and one is selected."""
        assert isinstance(node.func, ast.Subscript)
        modules, name = node.func.value, self.names.new("module")
        is_keyed = self.facts.notes[find_site(node.func)][1] == "modules"
        function: ast.expr = load(name)
        rows = modules
        if is_keyed:
            rows = parse_expression(f"range(len({ast.unparse(modules)}))")
            function = ast.Subscript(modules, call("str", load(name)), ast.Load())
        every = ast.Call(function, node.args, node.keywords)
        over = ast.comprehension(ast.Name(name, ast.Store()), rows, [], 0)
        stacked = call("torch.stack", ast.ListComp(every, [over]))
        return take(stacked, node.func.slice, rejects_negative=is_keyed)

    def answer_assign(self, node: ast.Assign, note: tuple[str, object]) -> ast.stmt:
        """`rows.append(value)` of a list that is a tensor now."""
        collected = as_collected(node)
        if collected is None or note[0] == "masked":
            return node
        name, value, _mask = collected
        both = fill(f"torch.cat([{name}, $value.unsqueeze(0)])", value=value)
        return mark(let(name, both), node)

    def answer_call(self, node: ast.Call, note: tuple[str, str]) -> ast.expr:
        """A call as the expression of its parts that a run noted."""
        kind, text = note[:2]
        value = node.func.value if isinstance(node.func, ast.Attribute) else load("torch")
        match kind:
            case "chosen":
                return self._choose_output(node)
            case "isclose":
                close = ast.Attribute(value, "isclose", ast.Load())
                return method(ast.Call(close, node.args, node.keywords), "all")
            case "form" | "size":
                first, *_ = parts = [*node.args, value]
                left, right = [value, *parts][-3:-1] if node.args else parts * 2
                return fill(text, first=first, rows=self.rows(first), left=left, right=right)
        return node

    def rows(self, node: ast.expr) -> ast.expr:
        """A list that is a tensor now; of one that stays a list, those of its pieces that count."""
        if isinstance(node, ast.Name) and node.id in self.held:
            return load(self.held[node.id])
        mask = self.masks(node.id) if isinstance(node, ast.Name) else None
        if mask is None:
            return node
        return fill(f"torch.stack($rows)[torch.stack({mask})]", rows=node)


def _as_test(part: ast.expr, kind: str) -> ast.expr:
    """A part of a test as a bool tensor."""
    if kind == "zero":
        return ast.Compare(part, [ast.NotEq()], [ast.Constant(0)])
    if kind == "size":
        match part:
            case ast.Compare(left, [how], [right]):
                size = fill("torch.scalar_tensor($size, dtype=torch.int64)", size=left)
                return ast.Compare(size, [how], [right])
        raise CannotRewrite("a test combines a tensor and a size")
    return part


def take(rows: ast.expr, index: ast.expr, *, rejects_negative: bool = False) -> ast.expr:
    """A row at a place that the program knows."""
    taken = "$rows.index_select(0, $at.reshape(1))" if rejects_negative else "$rows[$at.reshape(1)]"
    return fill(f"{taken}.squeeze(0)", rows=rows, at=index)


def _select_place(
    of: ast.expr, index: ast.expr, places: tuple[int, ...], dims: tuple[int, ...]
) -> ast.expr:
    """What is written to, by select for each number that only the program knows."""
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    if len(dims) < len(places):
        raise CannotRewrite("a write is indexed by more than numbers and slices")
    kept = [ast.Slice() if n in places else part for n, part in enumerate(parts)]
    while kept and _is_full(kept[-1]):
        kept.pop()
    expression = of
    if kept:
        expression = ast.Subscript(
            of, ast.Tuple(kept, ast.Load()) if kept[1:] else kept[0], ast.Load()
        )
    for at, dim in reversed(list(zip(places, dims, strict=True))):
        expression = method(expression, "select", ast.Constant(dim), method(parts[at], "item"))
    return ast.Subscript(expression, ast.Constant(...), ast.Store())


def _start_of(part: ast.expr) -> ast.expr:
    """Where a slice starts."""
    assert isinstance(part, ast.Slice)
    assert part.lower is not None
    return part.lower


def _as_window(part: ast.expr, width: int) -> ast.expr:
    """The indices of a slice."""
    return fill(f"$start + torch.arange({width})", start=_start_of(part))


def _read_ends(part: ast.expr) -> ast.expr:
    """A slice whose ends are read as symbols."""
    assert isinstance(part, ast.Slice)
    plain = (ast.Constant, type(None))
    lower, upper = (
        e if isinstance(e, plain) else method(e, "item") for e in (part.lower, part.upper)
    )
    return ast.Slice(lower, upper, part.step)


def _with_parts(
    index: ast.expr, places: tuple[int, ...], change: Callable[[ast.expr], ast.expr]
) -> ast.expr:
    if not isinstance(index, ast.Tuple):
        return change(index)
    parts = [change(e) if n in places else e for n, e in enumerate(index.elts)]
    return ast.Tuple(parts, ast.Load())


def _pad_rows(rows: ast.expr, row: int) -> ast.expr:
    """A tensor with rows of zeros beside its own, so that one is there to be read."""
    zeros = f"$of.new_zeros(({row + 1 if row >= 0 else -row}, *$of.shape[1:]))"
    return fill(f"torch.cat([{f'$of, {zeros}' if row >= 0 else f'{zeros}, $of'}])", of=rows)


def _is_full(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) and not (index.lower or index.upper or index.step)


def negate(test: ast.expr, note: str = "not") -> ast.expr:
    """A test's opposite, of a bool tensor, another tensor, or a symbol."""
    if note == "zero":
        return ast.Compare(test, [ast.Eq()], [ast.Constant(0)])
    if note == "symbol":
        return call("torch.sym_not", test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Invert):
        return test.operand
    return ast.UnaryOp(ast.Invert(), test)


def index_as_rows(index: ast.expr, places: tuple[int, ...]) -> tuple[ast.expr, int]:
    """An index whose scalars are tensors of one element, and the dim that they leave."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    expressions = [
        method(e, "reshape", ast.Constant(1)) if n in places else e for n, e in enumerate(parts)
    ]
    before = [expression for expression in parts[: places[0]] if isinstance(expression, ast.Slice)]
    new = ast.Tuple(expressions, ast.Load()) if isinstance(index, ast.Tuple) else expressions[0]
    return new, len(before)


def _fold(parts: list[ast.expr], how: ast.operator) -> ast.expr:
    expression = parts[0]
    for part in parts[1:]:
        expression = ast.BinOp(expression, how, part)
    return expression


def _clamp_to(index: ast.expr, last: ast.expr) -> ast.expr:
    """A number that is an index where eager does not read it."""
    return fill("$at.clamp(max=$last)", at=index, last=last)


_ELEMENTWISE = frozenset(
    [
        *("tanh", "sigmoid", "relu", "gelu", "silu", "exp", "log", "sqrt", "abs", "neg", "square"),
        *("clamp", "float", "double", "half", "long", "int", "bool", "to", "clone", "detach"),
        *("sin", "cos", "round", "floor", "ceil", "reciprocal", "rsqrt", "log1p", "expm1"),
    ]
)
"""Functions and methods each element of whose result depends on one element of their input."""


def drop_slices(value: ast.expr, slices: list[ast.expr]) -> ast.expr | None:
    """A value without the slices that it is cut to, where each element is computed by itself.

    Returns:
        None where it has none of them.
    """
    texts = {ast.unparse(part) for part in slices}
    is_found = False

    def visit(node: ast.AST) -> Any:
        nonlocal is_found
        match node:
            case ast.Subscript(of, index, ast.Load()):
                parts = index.elts if isinstance(index, ast.Tuple) else [index]
                if not texts & {ast.unparse(part) for part in parts if isinstance(part, ast.Slice)}:
                    return node
                is_found = True
                kept = [ast.Slice() if ast.unparse(part) in texts else part for part in parts]
                while kept and _is_full(kept[-1]):
                    kept.pop()
                if not kept:
                    return of
                taken = ast.Tuple(kept, ast.Load()) if len(kept) > 1 else kept[0]
                return ast.Subscript(of, taken, ast.Load())
            case ast.BinOp() | ast.UnaryOp():
                return change_children(node, visit)
            case ast.Call(ast.Attribute(of, attr)) if attr in _ELEMENTWISE:
                return change_children(node, visit)
            case ast.Attribute():
                return change_children(node, visit)
        return node

    result = visit(value)
    return result if is_found else None
