"""Expand an expression into statements before it: choices, comprehensions, `:=`, any and all."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any, cast

from export_engine.fixes.rewrite.form import (
    COLLECT,
    Block,
    Namer,
    Site,
    call,
    find_names,
    find_site,
    find_stored,
    let,
    load,
    mark,
    rename,
)

Staged = Callable[[ast.AST], bool]
"""Whether a construct is one that torch cannot decide in Python."""
_FOLDS = ("any", "all", "sum")
_OF_LISTS = ("max", "min", "len", "list", "tuple")


class Names(Namer):
    """Free names, the same for the same construct whenever it is asked for."""

    def __init__(self, function: ast.AST) -> None:
        super().__init__(find_names(function))
        self.counts = Counter(n.id for n in ast.walk(function) if isinstance(n, ast.Name))
        self._known: dict[tuple[Site, str], str] = {}

    def copy(self) -> Names:
        """Names that are given apart from now on."""
        names = copy(self)
        names.taken, names._known = set(self.taken), dict(self._known)
        return names

    def of(self, node: ast.AST, stem: str) -> str:
        """The name of what a construct of the user's text needs."""
        key = find_site(node), stem
        if key not in self._known:
            self._known[key] = self.new(stem)
        return self._known[key]


def is_touched(node: ast.AST, staged: Staged) -> bool:
    """Whether there is a staged construct in a node."""
    return any(staged(inner) for inner in ast.walk(node))


def lift(expression: ast.expr, names: Names, staged: Staged) -> tuple[Block, ast.expr]:
    """The statements that an expression needs before it, and what is left of it."""
    if not is_touched(expression, staged):
        return [], expression
    lifting = _Lift(names, staged)
    left = lifting.visit(deepcopy(expression))
    return lifting.before, left


class _Lift(ast.NodeTransformer):
    """Replaces what hides a statement, in the order in which Python computes it."""

    def __init__(self, names: Names, staged: Staged) -> None:
        self.names, self.staged = names, staged
        self.before: Block = []

    def visit(self, node: ast.AST) -> Any:
        """A node; one without a staged construct is unchanged."""
        return super().visit(node) if is_touched(node, self.staged) else node

    def _apart(self, node: ast.expr) -> tuple[Block, ast.expr]:
        return lift(node, self.names, self.staged)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """A function of its own."""
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        """`(m := value)`: an assignment before."""
        self.before.append(let(node.target.id, self.visit(node.value)))
        return load(node.target.id)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """`a if test else b`: an `if` before."""
        test = self.visit(node.test)
        name = self.names.of(node, "chosen")
        then, first = self._apart(node.body)
        other, second = self._apart(node.orelse)
        branch = ast.If(test, [*then, let(name, first)], [*other, let(name, second)])
        self.before.append(mark(branch, node))
        return load(name)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """`a and b`: an `if` before, where b needs statements of its own."""
        parts = [self._apart(expression) for expression in node.values]
        self.before += parts[0][0]
        node.values = [part for _, part in parts]
        if not any(before for before, _ in parts[1:]):
            return node
        name = self.names.of(node, "holds")
        self.before.append(let(name, parts[0][1]))
        for at, (before, part) in enumerate(parts[1:]):
            test: ast.expr = load(name)
            if isinstance(node.op, ast.Or):
                test = mark(ast.UnaryOp(ast.Not(), test), node, f"not{at}")
            branch = ast.If(test, [*before, let(name, part)], [])
            self.before.append(mark(branch, node, str(at)))
        return load(name)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """`[value for row in x if test]`: a loop that collects, before."""
        name = self.names.of(node, "rows")
        self.before.append(let(name, ast.List([], ast.Load())))
        self.before += self._loops(node, lambda value: let(name, call(COLLECT, load(name), value)))
        return load(name)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`of[a if test else b]`: a choice between two elements."""
        match node:
            case ast.Subscript(of, ast.IfExp(test, body, orelse), ast.Load()):
                items = [ast.Subscript(of, key, ast.Load()) for key in (body, orelse)]
                return cast("ast.AST", self.visit(mark(ast.IfExp(test, *items), node.slice)))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`any(value for row in x)`, `all` and `sum`: a loop that keeps the result, before."""
        node = _without_map(node)
        expression = node.args[0] if node.args else None
        function = node.func.id if isinstance(node.func, ast.Name) else ""
        if not isinstance(expression, ast.GeneratorExp | ast.ListComp) or node.keywords:
            return self.generic_visit(node)
        if function in _OF_LISTS and len(node.args) == 1:
            rows = ast.ListComp(expression.elt, expression.generators)
            listed = self.visit_ListComp(mark(ast.copy_location(rows, expression), expression))
            node.args = [cast("ast.expr", listed)]
            return node.args[0] if function == "list" else node
        if function not in _FOLDS or len(node.args) > 1 + (function == "sum"):
            return self.generic_visit(node)
        begin = self.visit(node.args[1]) if len(node.args) > 1 else None
        name = self.names.of(expression, "found" if function != "sum" else "total")
        start = {"any": False, "all": True, "sum": 0}[function]
        self.before.append(let(name, begin or ast.Constant(start)))

        def step(value: ast.expr) -> ast.stmt:
            if function == "sum":
                return let(name, ast.BinOp(load(name), ast.Add(), value))
            test = value
            if function == "all":
                test = mark(ast.UnaryOp(ast.Not(), value), expression, "not")
            branch = ast.If(test, [let(name, ast.Constant(function == "any"))], [])
            return mark(branch, expression, "test")

        self.before += self._loops(expression, step)
        return load(name)

    def _loops(
        self, node: ast.ListComp | ast.GeneratorExp, step: Callable[[ast.expr], ast.stmt]
    ) -> Block:
        """The loops of a comprehension, around what is done with its value."""
        own = sorted(set().union(*(find_stored(generator.target) for generator in node.generators)))
        before, value = self._apart(node.elt)
        body: Block = [*before, step(value)]
        for at, generator in reversed(list(enumerate(node.generators))):
            for n, test in reversed(list(enumerate(generator.ifs))):
                branch = ast.If(test, body, [])
                body = [mark(branch, node, f"if{at}{n}")]
            loop = ast.For(generator.target, generator.iter, body, [], lineno=0)
            body = [mark(loop, node, str(at))]
        inside = Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        outside = {name for name in own if self.names.counts[name] > inside[name]}
        taken = {name: self.names.of(node, name) for name in sorted(outside)}
        outer = find_names(node.generators[0].iter)
        changed = {a: b for a, b in taken.items() if a not in outer}
        return rename(body, changed)


def _without_map(node: ast.Call) -> ast.Call:
    """A call in which `map(function, rows)` is a generator."""
    match node:
        case ast.Call(of, [ast.Call(ast.Name(id="map"), [function, rows], []) as mapped, *rest]):
            match function:
                case ast.Lambda(
                    ast.arguments([], [ast.arg(arg=name)], None, [], [], None, []), of_row
                ):
                    value = of_row
                case _:
                    name = "row"
                    value = ast.Call(function, [load(name)], [])
            over = ast.comprehension(ast.Name(name, ast.Store()), rows, [], 0)
            rows = mark(ast.copy_location(ast.GeneratorExp(value, [over]), mapped), mapped, "map")
            return mark(ast.copy_location(ast.Call(of, [rows, *rest], node.keywords), node), node)
    return node
