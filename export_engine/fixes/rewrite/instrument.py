"""The normal form as a function that asks a probe at each site: what is run for the facts."""

from __future__ import annotations

import ast
import textwrap
from typing import Any, cast

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.analysis import Liveness
from export_engine.fixes.rewrite.form import (
    COLLECT,
    PROBE,
    WRITE,
    Block,
    Function,
    Site,
    as_target,
    call,
    find_loaded,
    find_site,
    find_stored,
    load,
    make_function,
    map_children,
    start_numbers,
    thunk,
)

_IMPORT = f"from export_engine.fixes.rewrite.probe import running as {PROBE}"


def instrument(function: Function, body: Block) -> str:
    """The file's text with the function's body asking the probe."""
    own = {inner.arg for inner in ast.walk(function.node.args) if isinstance(inner, ast.arg)}
    local = own | find_stored(*body) | {PROBE}
    if any(isinstance(n, ast.Name) and n.id == "super" for n in ast.walk(function.node)):
        raise CannotRewrite("the function calls super()")
    statements = _Instrumented(local).convert_block(body, set())
    items = [_left(_Questions().visit(statement)) for statement in statements]
    items.append(_left(ast.Return(ast.Constant(None))))
    text = "\n".join(ast.unparse(ast.fix_missing_locations(statement)) for statement in items)
    node = function.node
    lines = function.text.split("\n")
    begun = (function.origin or node).body[0]
    first = begun.lineno - 1
    indent = lines[first][: begun.col_offset]
    inside = textwrap.indent(f"{_IMPORT}\n{PROBE}.reach()\n{text}", indent)
    return "\n".join([*lines[:first], inside, *lines[node.end_lineno :]])


def _left(node: ast.stmt) -> ast.stmt:
    if not isinstance(node, ast.Return):
        return node
    return ast.Return(call(f"{PROBE}.leave", node.value or ast.Constant(None)))


class _Instrumented:
    """Turns each `if`, `for` and `while` into functions of explicit values, and one call."""

    def __init__(self, local: set[str]) -> None:
        self.local, self.count = local, 0

    def convert_block(self, statements: Block, live: set[str]) -> Block:
        result: Block = []
        for statement in reversed(statements):
            result[:0] = self._statement(statement, live)
            live = Liveness.before(statement, live)
        return result

    def _statement(self, node: ast.stmt, live: set[str]) -> Block:
        if isinstance(node, ast.Expr) and _is_plain_effect(node):
            return []
        if isinstance(node, ast.Assign):
            return [ast.Assign(node.targets, start_numbers(node, _write_start), lineno=0)]
        if not isinstance(node, ast.If | ast.For | ast.While):
            return [node]
        self.count += 1
        number, blocks = self.count, node.body + node.orelse
        inner = live | (Liveness.before(node, live) if not isinstance(node, ast.If) else set())
        target = find_stored(node.target) if isinstance(node, ast.For) else set()
        outs = sorted((find_stored(*blocks) | target) & inner & self.local)
        head = find_loaded(node.test if not isinstance(node, ast.For) else node.iter)
        head = set() if isinstance(node, ast.If) else head
        reads = sorted(((find_loaded(*blocks) | head) & self.local | set(outs)) - {PROBE})
        site = _constant(find_site(node))
        values = ast.Tuple([_value(name) for name in reads], ast.Load())
        names = [_names(reads), values, _names(outs)]
        if isinstance(node, ast.If):
            node = ast.If(_as_test(node.test), node.body, node.orelse)
            stems = [(f"_ee_then_{number}", node.body), (f"_ee_else_{number}", node.orelse)]
            nodes = [self._function(s, reads, self.convert_block(b, live), outs) for s, b in stems]
            asked = call(f"{PROBE}.choose", site, node.test, *[load(s) for s, _ in stems], *names)
        elif isinstance(node, ast.For):
            stem = f"_ee_body_{number}"
            body: Block = [ast.Assign([node.target], load("_ee_item"), lineno=0)]
            body += self.convert_block(node.body, inner)
            nodes = [self._function(stem, ["_ee_item", *reads], body, outs)]
            asked = call(f"{PROBE}.loop", site, node.iter, load(stem), *names)
        else:
            stem, test = f"_ee_body_{number}", f"_ee_test_{number}"
            nodes = [self._function(test, reads, [], [])]
            nodes[0].body = [ast.Return(node.test)]
            nodes.append(self._function(stem, reads, self.convert_block(node.body, inner), outs))
            asked = call(f"{PROBE}.repeat", site, load(test), load(stem), *names)
        if not outs:
            return [*nodes, ast.Expr(asked)]
        target_node = (
            as_target(outs) if len(outs) > 1 else ast.Tuple([as_target(outs)], ast.Store())
        )
        return [*nodes, ast.Assign([target_node], asked, lineno=0)]

    def _function(
        self, name: str, given: list[str], body: Block, outs: list[str]
    ) -> ast.FunctionDef:
        end = ast.Return(ast.Tuple([_value(o) for o in outs], ast.Load()))
        return make_function(name, given, [*body, end])


def _write_start(name: str, value: ast.expr) -> ast.expr:
    return call(f"{PROBE}.start", ast.Constant(name), value)


def _constant(site: Site) -> ast.Constant:
    return ast.Constant(cast("Any", site))


def _value(name: str) -> ast.expr:
    return call(f"{PROBE}.read", thunk(load(name)))


def _names(names: list[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def _is_plain_effect(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Constant)


class _Questions(ast.NodeTransformer):
    """Calls, rows and tests go through the probe, in a copy."""

    def visit(self, node: ast.AST) -> Any:
        """A node, in a copy where something changes."""
        return super().visit(node)

    def generic_visit(self, node: ast.AST) -> Any:
        """A node whose parts are changed."""
        return map_children(node, self.visit)

    def _ask(self, question: str, node: ast.AST, *args: ast.expr) -> ast.Call:
        return call(f"{PROBE}.{question}", _constant(find_site(node)), *args)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """The user's functions within run as they are."""
        return self.generic_visit(node) if node.name.startswith(f"{PROBE}_") else node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """`and` and `or`."""
        parts = [thunk(self.visit(_as_test(expression))) for expression in node.values]
        return self._ask("join", node, ast.Constant(isinstance(node.op, ast.Or)), *parts)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """`not`."""
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        return self._ask("negate", node, self.visit(_as_test(node.operand)))

    def visit_Compare(self, node: ast.Compare) -> Any:
        """`a < b < c` as both."""
        match node.ops, node.comparators:
            case [ast.Is() | ast.IsNot() as how], [ast.Constant(value=None)]:
                negated = ast.Constant(isinstance(how, ast.IsNot))
                return self._ask("is_none", node, self.visit(node.left), negated)
            case [ast.In() | ast.NotIn() as how], [among]:
                negated = ast.Constant(isinstance(how, ast.NotIn))
                return self._ask("is_in", node, self.visit(node.left), self.visit(among), negated)
        if len(node.ops) == 1:
            return self.generic_visit(node)
        lefts = [node.left, *node.comparators]
        parts = [
            thunk(self.generic_visit(ast.Compare(a, [how], [b])))
            for a, how, b in zip(lefts, node.ops, node.comparators, strict=False)
        ]
        return self._ask("join", node, ast.Constant(False), *parts)

    def visit_Call(self, node: ast.Call) -> Any:
        """A call of a builtin or a method, and what normal forms put in."""
        if isinstance(node.func, ast.Name) and node.func.id in (COLLECT, WRITE):
            question = "collect" if node.func.id == COLLECT else "write"
            question = question if len(node.args) > 1 else "copy"
            args = [_as_index(self.visit(argument)) for argument in node.args]
            return self._ask(question, node, *args)
        if ast.unparse(node.func).startswith(f"{PROBE}."):
            return self.generic_visit(node)
        result = self.generic_visit(node)
        if isinstance(result.func, ast.Attribute):
            head = [result.func.value, ast.Constant(result.func.attr)]
            asked = self._ask("method", node, *head, *result.args)
        else:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            asked = self._ask("call", node, ast.Constant(name), result.func, *result.args)
        asked.keywords = result.keywords
        return asked

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """A row, or an element; or where one is written."""
        if isinstance(node.ctx, ast.Store):
            of, index = self.visit(node.value), _as_index(self.visit(node.slice))
            return ast.Subscript(of, self._ask("place", node, of, index), node.ctx)
        if not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        return self._ask("item", node, self.visit(node.value), _as_index(self.visit(node.slice)))

    def visit_Assert(self, node: ast.Assert) -> Any:
        """A check."""
        return ast.Expr(self._ask("check", node, self.visit(node.test)))

    def visit_ListComp(self, node: ast.AST) -> Any:
        """Leave a nested scope unchanged."""
        return node

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp  # noqa: N815

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """The text of one value, which may be a key; others as they are."""
        match node.values:
            case [ast.FormattedValue(value, -1, None)]:
                return self._ask("text", node, self.visit(value))
        return node


def _as_test(node: ast.expr) -> ast.expr:
    """A name whose truth is asked for: of a list, whether it has elements."""
    if not isinstance(node, ast.Name):
        return node
    return call(f"{PROBE}.has_any", _constant(find_site(node)), node)


def _as_index(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Slice):
        ends = [_as_end(end) for end in (node.lower, node.upper)]
        return call("slice", *ends, node.step or ast.Constant(None))
    if isinstance(node, ast.Tuple):
        return ast.Tuple([_as_index(expression) for expression in node.elts], ast.Load())
    return node


def _as_end(end: ast.expr | None) -> ast.expr:
    """An end of a slice, of which the probe gets the name and the constant: `t + 2`."""
    match end:
        case None:
            return ast.Constant(None)
        case ast.BinOp(ast.Name() as name, ast.Add() | ast.Sub() as how, ast.Constant(value=int())):
            by = end.right if isinstance(how, ast.Add) else ast.UnaryOp(ast.USub(), end.right)
            return call(f"{PROBE}.step", name, by)
    return end
