"""A list, tuple or dict of a known layout as a name for each part: `state = (h, c)`.

So a loop carries its parts, and a branch selects between them, as it does with any other name.
A value that may be None has two parts: the value, and whether there is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.form import (
    SCOPES,
    Function,
    Namer,
    change_blocks,
    change_children,
    find_names,
    find_stored,
    let,
    load,
    mark,
)

Key = str | int


def name_parts(function: Function) -> Function:
    """A function in which the parts of what has a known layout, and changes, have names."""
    body = function.node.body
    own = {inner.arg for inner in ast.walk(function.node.args) if isinstance(inner, ast.arg)}
    layouts = {
        name: layout
        for name, layout in _find_layouts(body).items()
        if name not in own and _is_in_parts(name, layout, body)
    }
    if not layouts:
        return function
    namer = Namer(find_names(function.node) | find_stored(function.node))
    names = {n: {key: namer.new(f"{n}_{key}") for key in _find_keys(d)} for n, d in layouts.items()}
    return function.with_body(_Parts(layouts, names).visit_block(body))


def _find_layouts(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """By name: a display that it is bound to, where it has one key for each part."""
    layouts: dict[str, ast.expr] = {}
    for node in _walk(body):
        match node:
            case ast.Assign([ast.Name(id=name)], value) if _find_keys(value):
                before = layouts.setdefault(name, value)
                if type(before) is not type(value) or _find_keys(before) != _find_keys(value):
                    layouts[name] = ast.List([])  # of no parts
    return layouts


def _walk(body: list[ast.stmt]) -> list[ast.AST]:
    return [node for statement in body for node in ast.walk(statement)]


def _find_keys(value: ast.expr) -> list[Key]:
    """The keys of a display's parts; empty where they are not plain."""
    match value:
        case ast.List(elts) | ast.Tuple(elts):
            if not any(isinstance(part, ast.Starred) for part in elts):
                return list(range(len(elts)))
        case ast.Dict(keys):
            plain = [key.value for key in keys if isinstance(key, ast.Constant)]
            texts = [key for key in plain if isinstance(key, str) and key.isidentifier()]
            if len(texts) == len(keys) == len(set(texts)):
                return [*texts]
    return []


def _is_in_parts(name: str, layout: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether every use of a name is of its parts, and a branch or a loop changes some."""
    keys, changes = _find_keys(layout), False
    clear: set[int] = set()
    compound = [n for s in body if isinstance(s, ast.For | ast.While | ast.If) for n in _walk([s])]
    inside = {id(node) for node in compound}
    bindings = 0
    for node in _walk(body):
        match node:
            case ast.Subscript(ast.Name(id=of) as whole) if of == name:
                if _find_key(node, len(keys)) not in keys:
                    return False
                clear.add(id(whole))
                changes |= isinstance(node.ctx, ast.Store) and id(node) in inside
            case ast.Call(ast.Attribute(ast.Subscript(ast.Name(id=of)), "append")) if of == name:
                changes |= id(node) in inside
            case ast.Assign(targets, value):
                for target in targets:
                    stored = [target, *(target.elts if isinstance(target, ast.Tuple) else [])]
                    for part in stored:
                        if not isinstance(part, ast.Name) or part.id != name:
                            continue
                        if part is not target and not isinstance(layout, ast.Tuple):
                            return False
                        plain = isinstance(layout, ast.Tuple) or bool(_find_keys(value))
                        if not plain or len(targets) > 1:
                            return False
                        bindings += 1
                        clear.add(id(part))
                        changes |= bindings > 1 and id(node) in inside
            case ast.Return(ast.expr() as value):
                clear |= {id(n) for n in ast.walk(value) if not isinstance(n, SCOPES)}
            case ast.Call(ast.Attribute(ast.Name(id="torch")), [ast.Name() as whole, *_]):
                clear.add(id(whole))
            case ast.FunctionDef() | ast.Lambda() | ast.ClassDef() | ast.Global():
                if name in find_names(node) or not keys:
                    return False
    uses = [n for n in _walk(body) if isinstance(n, ast.Name) and n.id == name]
    is_tuple = isinstance(layout, ast.Tuple)  # which is the same wherever it is made again
    kept = all(id(n) in clear or (is_tuple and isinstance(n.ctx, ast.Load)) for n in uses)
    return bool(keys) and changes and kept


def _find_key(node: ast.Subscript, count: int) -> Key | None:
    match node.slice:
        case ast.Constant(value=str() | int() as key) if not isinstance(key, bool):
            return key
        case ast.UnaryOp(ast.USub(), ast.Constant(value=int() as back)):
            return count - back
    return None


class _Parts:
    """Puts names in the place of parts."""

    def __init__(self, layouts: dict[str, ast.expr], names: dict[str, dict[Key, str]]) -> None:
        self.layouts, self.names = layouts, names

    def visit_block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in body:
            result += self._statement(statement)
        return result

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign([ast.Name(id=name)], value) if name in self.layouts:
                names = list(self.names[name].values())
                if _find_keys(value):
                    parts = value.values if isinstance(value, ast.Dict) else value.elts  # type: ignore[attr-defined]
                    values = [self.visit(part) for part in parts]
                    if not {name, *names} & find_names(value, *values):
                        pairs = zip(names, values, strict=True)
                        return [mark(let(n, v), node, n) for n, v in pairs]
                    return [mark(let(self._whole(name, True), ast.Tuple(values, ast.Load())), node)]
        return [change_blocks(node, self._statement, self.visit)]

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        match node:
            case ast.Subscript(ast.Name(id=name)) if name in self.layouts:
                key = _find_key(node, len(self.names[name]))
                part = self.names[name][key]  # type: ignore[index]
                return ast.copy_location(ast.Name(part, node.ctx), node)
            case ast.Name(id=name) if name in self.layouts:
                return self._whole(name, not isinstance(node.ctx, ast.Load))
        return change_children(node, self.visit)

    def _whole(self, name: str, stored: bool) -> ast.expr:
        """A display of the parts, which is read or assigned to."""
        names, layout = self.names[name], self.layouts[name]
        if stored:
            return ast.Tuple([ast.Name(n, ast.Store()) for n in names.values()], ast.Store())
        parts: list[ast.expr] = [load(n) for n in names.values()]
        if isinstance(layout, ast.Dict):
            return ast.Dict(deepcopy(layout.keys), parts)
        kind = ast.List if isinstance(layout, ast.List) else ast.Tuple
        return kind(parts, ast.Load())


# -- values that may be None ---------------------------------------------------------------------


def name_presence(function: Function, name: str) -> Function:
    """A function in which a name says whether another one, which may be None, has a value.

    Raises:
        CannotRewrite: the name is used where it may be None, other than by an operation on it.
    """
    flag = Namer(find_names(function.node) | find_stored(function.node)).new(f"has_{name}")
    return function.with_body(_Present(name, flag).visit_top(function.node.body))


class _Present:
    """Binds a flag wherever a name is bound, and asks it where the name is compared with None."""

    def __init__(self, name: str, flag: str) -> None:
        self.name, self.flag = name, flag

    def visit_top(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A function's body: a statement that reads the name where it may be None checks it."""
        self.unsure: list[ast.stmt] = []
        self._check(body, is_sure=False, is_top=True)
        result: list[ast.stmt] = []
        for statement in body:
            if any(statement is unsure for unsure in self.unsure):
                text = f"torch._assert_async(torch.as_tensor({self.flag}), '`{self.name}` is None')"
                result.append(mark(ast.parse(text).body[0], statement, "present"))
            result += self._statement(statement)
        return result

    def _check(self, block: list[ast.stmt], *, is_sure: bool, is_top: bool = False) -> bool:
        """Whether the name has a value after a block.

        Raises:
            CannotRewrite: it is read where it may have none, other than by an operation.
        """
        for node in block:
            match node:
                case ast.If():
                    question = self._as_question(node.test)
                    self._check_reads(node.test, node, is_sure=is_sure, is_top=is_top)
                    ways = (node.body, question is True), (node.orelse, question is False)
                    ends = [self._check(way, is_sure=is_sure or has) for way, has in ways]
                    leaves = [bool(way) and isinstance(way[-1], _LEAVES) for way, _ in ways]
                    is_sure = all(a or b for a, b in zip(ends, leaves, strict=True))
                case ast.For() | ast.While():
                    head = node.iter if isinstance(node, ast.For) else node.test
                    self._check_reads(head, node, is_sure=is_sure, is_top=False)
                    self._check(node.body, is_sure=is_sure and self.name not in _none_in(node))
                    is_sure = self._check(node.orelse, is_sure=is_sure) and is_sure
                case ast.FunctionDef() | ast.With() | ast.Try() | ast.Match():
                    if self.name in find_names(node):
                        raise CannotRewrite(f"`{self.name}` may be None on line {node.lineno}")
                case _:
                    self._check_reads(node, node, is_sure=is_sure, is_top=is_top)
                    is_sure |= any(unsure is node for unsure in self.unsure)
                    if self.name in find_stored(node):
                        is_sure = self.name not in _none_in(node)
        return is_sure

    def _check_reads(self, part: ast.AST, node: ast.stmt, *, is_sure: bool, is_top: bool) -> None:
        unsafe = [] if is_sure else list(self._find_unsafe(part))
        if not unsafe:
            return
        if (
            not is_top
            or isinstance(node, ast.If)
            or not all(isinstance(parent, _OPERATIONS) for parent in unsafe)
        ):
            raise CannotRewrite(f"`{self.name}` may be None on line {node.lineno}")
        self.unsure.append(node)

    def _find_unsafe(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that read the name without a test before whether it has a value."""
        if self._as_question(node) is not None or self._as_equality(node) is not None:
            return
        parts = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.BoolOp) and self._as_question(node.values[0]) is isinstance(
            node.op, ast.And
        ):
            return
        if isinstance(node, ast.IfExp) and (question := self._as_question(node.test)) is not None:
            parts = [node.orelse if question else node.body]
        for part in parts:
            if isinstance(part, ast.Name) and part.id == self.name:
                if isinstance(part.ctx, ast.Load):
                    yield node
            else:
                yield from self._find_unsafe(part)

    def _as_question(self, node: ast.AST) -> bool | None:
        """Whether a test is that the name has a value, or that it has none; None for others."""
        match node:
            case ast.Compare(ast.Name(id=name), [how], [ast.Constant(value=None)]):
                if name == self.name and isinstance(how, ast.Is | ast.IsNot):
                    return isinstance(how, ast.IsNot)
        return None

    def _as_equality(self, node: ast.AST) -> bool | None:
        """Whether a test is that the name differs from a plain value; None for other tests."""
        match node:
            case ast.Compare(left, [ast.Eq() | ast.NotEq() as how], [right]):
                sides = [side.id if isinstance(side, ast.Name) else "" for side in (left, right)]
                is_plain = all(isinstance(e, ast.Name | ast.Constant) for e in (left, right))
                if is_plain and sides.count(self.name) == 1:
                    return isinstance(how, ast.NotEq)
        return None

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if self._is_none(
                targets, values
            ):
                pairs = list(zip(targets, values, strict=True))
                parts = [_one(target, value, node, n) for n, (target, value) in enumerate(pairs)]
                return [new for part in parts for new in self._statement(part)]
            case ast.Assign([ast.Name(id=name)], ast.Constant(value=None)) if name == self.name:
                return [self._bind(False, node)]
            case ast.Assign() | ast.AugAssign() if self.name in find_stored(node):
                return [self._change(node), self._bind(True, node)]
            case ast.For(target=target) if self.name in find_stored(target):
                raise CannotRewrite(f"`{self.name}` is the variable of a loop")
        return [change_blocks(node, self._statement, self.visit)]

    def _is_none(self, targets: list[ast.expr], values: list[ast.expr]) -> bool:
        """Whether one of several assigned values is that the name is None."""
        return len(targets) == len(values) and any(
            isinstance(target, ast.Name) and target.id == self.name and _is_none_value(value)
            for target, value in zip(targets, values, strict=True)
        )

    def _bind(self, value: bool, node: ast.stmt) -> ast.stmt:
        return mark(let(self.flag, ast.Constant(value)), node, self.flag)

    def _change(self, node: ast.stmt) -> ast.stmt:
        return change_children(node, lambda n: n if isinstance(n, ast.stmt) else self.visit(n))

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        question, asked = self._as_question(node), load(self.flag)
        if (differs := self._as_equality(node)) is not None:
            assert isinstance(node, ast.Compare)
            absent = mark(ast.UnaryOp(ast.Not(), asked), node, "absent")
            first, how = (absent, ast.Or()) if differs else (asked, ast.And())
            return mark(ast.BoolOp(how, [first, node]), node, "present")
        if question is None:
            return change_children(node, self.visit)
        return asked if question else mark(ast.UnaryOp(ast.Not(), asked), node, "absent")


_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Attribute, ast.Compare)
"""Expressions that raise an error for None in eager."""


def _one(target: ast.expr, value: ast.expr, origin: ast.stmt, at: int) -> ast.stmt:
    return mark(ast.copy_location(ast.Assign([target], value), origin), origin, str(at))


def _none_in(node: ast.stmt) -> set[str]:
    """The names that a statement binds to None."""
    names: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Assign([ast.Name(id=name)], ast.Constant(value=None)):
                names.add(name)
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                pairs = zip(targets, values, strict=False)
                names |= {t.id for t, v in pairs if isinstance(t, ast.Name) and _is_none_value(v)}
    return names


def _is_none_value(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
