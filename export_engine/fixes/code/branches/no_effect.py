"""Whether code does nothing where nothing is selected, so that it may run then, too.

It may compute values of its own, write through an index that the selection made, and collect
pieces of length 0 that are joined. What it adds or writes besides is masked with torch.where.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Piece, Source

_WRITERS = frozenset(
    {
        *("index_add_", "index_put_", "index_copy_", "scatter_", "scatter_add_"),
        *("scatter_reduce_", "index_reduce_", "masked_scatter_", "masked_fill_"),
    }
)
_SELECTING = frozenset(
    {"where", "nonzero", "argwhere", "eq", "any", "all", "bool", "masked_select"}
)
_JOINING = frozenset({"cat", "concat", "concatenate", "vstack"})


def selection_names(block: Iterable[ast.stmt], seeds: set[str]) -> set[str]:
    """The names that hold what is selected: seeds, and what a block computes from conditions."""
    found = set(seeds)
    for statement in block:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and _selects(node.value, found):
                found |= set(_bound([node]))
    return found


def _selects(value: ast.expr, known: set[str]) -> bool:
    for node in ast.walk(value):
        if isinstance(node, ast.Compare):
            return True
        if isinstance(node, ast.Name) and node.id in known:
            return True
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _SELECTING:
            return True
    return False


class NoEffect:
    """Looks through a block; `pieces` mask what it does besides.

    Raises:
        Unclear: it has another effect.
    """

    def __init__(
        self, source: Source, block: list[ast.stmt], seeds: set[str], later: set[str], flag: str
    ) -> None:
        self.source, self.flag, self.later = source, flag, later
        self.own = set(_bound(block))
        self.names = selection_names(block, seeds)
        self.pieces: list[Piece] = []
        self._block(block)

    def _block(self, block: list[ast.stmt]) -> None:
        for each in block:
            if isinstance(each, ast.If):
                self._block(each.body)
                self._block(each.orelse)
            elif isinstance(each, ast.With):
                self._block(each.body)
            elif isinstance(each, ast.Assign | ast.AnnAssign):
                self._assigned(each)
            elif isinstance(each, ast.AugAssign):
                self._added(each)
            elif isinstance(each, ast.Expr):
                self._run(each)
            elif not isinstance(each, ast.Pass | ast.Continue | ast.Delete):
                raise Unclear(f"`{self._said(each)}` also has an effect where nothing is selected")

    def _assigned(self, statement: ast.Assign | ast.AnnAssign) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        value = statement.value
        for target in targets if value is not None else ():
            assert value is not None
            if isinstance(target, ast.Subscript):
                self._written(target, value)
                continue
            names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
            if isinstance(target, ast.Attribute | ast.Starred) or any(
                isinstance(n, ast.Subscript | ast.Attribute) for n in ast.walk(target)
            ):
                raise Unclear(f"the loop writes to `{self.source.of(target)}`")
            if not names & self.later or _is_arithmetic(value) or _is_update(value, self.names):
                continue
            if len(names) == 1 and isinstance(target, ast.Name) and _reads(value) & names:
                self._masked(value, target.id)
                continue
            raise Unclear(f"`{sorted(names & self.later)[0]}` is used later")

    def _written(self, target: ast.Subscript, value: ast.expr) -> None:
        if _reads(target.slice) & self.names or _root(target) in self.own:
            return
        self._masked(value, self.source.of(target))

    def _added(self, statement: ast.AugAssign) -> None:
        target = statement.target
        if isinstance(target, ast.Subscript):
            if _reads(target.slice) & self.names or _root(target) in self.own:
                return
        elif not isinstance(target, ast.Name):
            raise Unclear(f"the loop writes to `{self.source.of(target)}`")
        elif _is_arithmetic(statement.value) or target.id in self.own - self.later:
            return
        if not isinstance(statement.op, ast.Add | ast.Sub):
            raise Unclear(f"`{self._said(statement)}` also has an effect where nothing is selected")
        self._masked(statement.value, "0")

    def _masked(self, value: ast.expr, otherwise: str) -> None:
        """`value` only where the iteration is one of those selected."""
        if not self.flag:
            raise Unclear(f"`{self.source.of(value)}` counts also where nothing is selected")
        start, end = self.source.start(value), self.source.end(value)
        self.pieces += [
            Piece(start, start, f"{self.source.torch}.where({self.flag}, "),
            Piece(end, end, f", {otherwise})"),
        ]

    def _run(self, statement: ast.Expr) -> None:
        value = statement.value
        if isinstance(value, ast.Constant):
            return
        called = value.func if isinstance(value, ast.Call) else None
        if not isinstance(value, ast.Call) or not isinstance(called, ast.Attribute):
            raise Unclear(f"the loop runs `{self._said(statement)}` for its effect")
        given = set().union(*(_reads(each) for each in [*value.args, *_values(value)]), set())
        if called.attr == "append" and isinstance(called.value, ast.Name):
            if _is_joined(self.source, called.value.id):
                return
        elif called.attr in _WRITERS:
            if given & self.names or _root(called.value) in self.own:
                return
        elif called.attr.endswith("_") and _root(called.value) in self.own:
            return
        raise Unclear(f"the loop runs `{self._said(statement)}` for its effect")

    def _said(self, node: ast.stmt) -> str:
        return self.source.of(node).split("\n", 1)[0][:60]


def _values(call: ast.Call) -> Iterator[ast.expr]:
    return (each.value for each in call.keywords)


def _reads(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _bound(block: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in block:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _is_arithmetic(value: ast.expr) -> bool:
    """Whether a value is one of plain names and numbers: a position that moves on by a count."""
    kinds = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)
    return all(isinstance(node, kinds) for node in ast.walk(value))


def _is_update(value: ast.expr, names: set[str]) -> bool:
    """Whether a value is a tensor with what is selected written: `out.index_add(0, at, y)`."""
    called = value.func if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or not isinstance(called, ast.Attribute):
        return False
    given = set().union(*(_reads(each) for each in [*value.args, *_values(value)]), set())
    return f"{called.attr}_" in _WRITERS and bool(given & names)


def _is_joined(source: Source, name: str) -> bool:
    """Whether a list is only asked for its length, and joined by torch.cat, where 0 is nothing."""
    joined: set[ast.AST] = set()
    for node in ast.walk(source.function):
        called = node.func if isinstance(node, ast.Call) else None
        of_torch = isinstance(called, ast.Attribute) and called.attr in _JOINING
        asked = isinstance(called, ast.Name) and called.id == "len"
        appended = isinstance(called, ast.Attribute) and called.attr == "append"
        if isinstance(node, ast.Call) and (of_torch or asked) and node.args:
            joined.add(node.args[0])
        elif appended and isinstance(called, ast.Attribute):
            joined.add(called.value)
        elif isinstance(node, ast.If | ast.IfExp):
            joined.add(node.test)
    uses = [n for n in ast.walk(source.function) if isinstance(n, ast.Name) and n.id == name]
    filled = min((n.lineno for n in uses if isinstance(n.ctx, ast.Load)), default=0)
    bound = [n.lineno for n in uses if isinstance(n.ctx, ast.Store) and n.lineno > filled]
    last = min(bound, default=float("inf"))
    return all(n in joined for n in uses if isinstance(n.ctx, ast.Load) and n.lineno <= last)
