"""Uses of a list that data fill, behind its loop, where the list is a tensor of what it holds.

`torch.stack(kept)` is the tensor. A choice that only names what an empty list becomes, as
`torch.stack(kept) if kept else x[:0]`, is dropped: that it is the empty tensor is tried in eager.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Piece, Source, with_way
from export_engine.fixes.code.loops.collected_lists import number
from export_engine.fixes.code.loops.loop_state import rebound

_EMPTY = {"not {}", "len({}) == 0", "len({}) < 1", "not len({})"}
_FULL = {"{}", "len({}) > 0", "len({}) != 0", "len({}) >= 1", "len({})"}


class Uses(NamedTuple):
    """What becomes of the uses of a list."""

    pieces: list[Piece]
    guarded: bool
    """Whether a choice names a value of its own for an empty list."""
    fails_empty: bool
    """Whether eager fails where the list is empty: `torch.stack` takes no empty list."""
    untyped: bool
    """Whether an empty list becomes a tensor of floats: `torch.tensor([])` knows no dtype."""


def uses_of(source: Source, name: str, loop: ast.For | ast.While, *, asked: bool = False) -> Uses:
    """The uses of a list behind a loop.

    Args:
        source: of the function.
        name: of the list.
        loop: that fills it.
        asked: whether an `if` that asks whether the list is empty asks the tensor, and stays.

    Raises:
        Unclear: one of them needs a list of a known length.
    """
    found = _Uses(source, name, loop.end_lineno or 0, rebound(source, loop, name), asked)
    known = found.guarded or found.asks
    return Uses(
        found.pieces, found.guarded, found.joined and not known, found.untyped and not known
    )


class _Uses:
    def __init__(self, source: Source, name: str, first: int, last: float, asked: bool) -> None:
        self.source, self.name, self.asked = source, name, asked
        self.asks = False
        self.pieces: list[Piece] = []
        self.joined = self.guarded = self.untyped = False
        self.dropped: set[ast.AST] = set()
        self.nodes = [
            node
            for node in ast.walk(source.function)
            if isinstance(node, ast.If | ast.IfExp | ast.Name) and first < node.lineno <= last
        ]
        for node in self.nodes:
            if not isinstance(node, ast.Name):
                self._choice(node)
        self._others()

    def _choice(self, node: ast.If | ast.IfExp) -> None:
        """Drops a choice by whether the list is empty."""
        test = ast.unparse(node.test)
        asks_empty = test in {each.format(self.name) for each in _EMPTY}
        if not asks_empty and test not in {each.format(self.name) for each in _FULL}:
            return
        source = self.source
        if self.asked:
            self.asks = True
            made = f"{self.name}.shape[0] {'==' if asks_empty else '>'} 0"
            self.pieces.append(Piece(source.start(node.test), source.end(node.test), made))
            self.dropped |= set(ast.walk(node.test))
            return
        self.guarded = True
        empty, kept = (node.body, node.orelse) if asks_empty else (node.orelse, node.body)
        if isinstance(node, ast.If):
            self._statement(node, asks_empty)
            return
        assert isinstance(empty, ast.expr)
        assert isinstance(kept, ast.expr)
        self.pieces += [
            Piece(source.start(node), source.start(kept), "("),
            Piece(source.end(kept), source.end(node), ")"),
        ]
        self.dropped |= {*ast.walk(empty), *ast.walk(node.test)}

    def _statement(self, node: ast.If, asks_empty: bool) -> None:
        source = self.source
        if asks_empty and not node.orelse:
            self.pieces.append(with_way(source, node, []))
            self.dropped |= set(ast.walk(node))
            return
        if asks_empty or node.orelse or not isinstance(node.body[-1], ast.Return):
            raise Unclear(f"where `{self.name}` is empty, eager goes on in another way")
        if len(node.body) > 1:
            raise Unclear(f"where `{self.name}` is not empty, more is done than to return")
        self.pieces.append(Piece(source.start(node), source.start(node.body[0]), ""))
        self.dropped |= set(ast.walk(node.test))
        for each in source.following(node):
            self.dropped |= set(ast.walk(each))
            self.pieces.append(Piece(source.line_start(each), source.line_after(each), ""))

    def _others(self) -> None:
        parents = {
            child: node
            for node in ast.walk(self.source.function)
            for child in ast.iter_child_nodes(node)
        }
        for node in self.nodes:
            if not isinstance(node, ast.Name) or node.id != self.name or node in self.dropped:
                continue
            if isinstance(node.ctx, ast.Store):
                continue
            above = parents[node]
            if _indexes(parents, node):
                continue
            made = self._called(above) if isinstance(above, ast.Call) else None
            if made is None:
                raise Unclear(
                    f"`{self.name}` has as many elements as data say, which only a tensor can, and "
                    "it is used in another way than to be stacked, counted, or to index"
                )
            assert isinstance(above, ast.Call)
            self.pieces.append(Piece(self.source.start(above), self.source.end(above), made))

    def _called(self, node: ast.Call) -> str | None:
        """What a call with the list as its first argument becomes."""
        source, name, torch = self.source, self.name, self.source.torch
        given, *rest = node.args or [node.func]
        if not isinstance(given, ast.Name) or given.id != name:
            return None
        called = source.of(node.func)
        if called == "len":
            return f"{name}.shape[0]"
        if called == "sum" and not rest and not node.keywords:
            return f"{name}.sum(0)"
        if called in (f"{torch}.tensor", f"{torch}.as_tensor", f"{torch}.LongTensor") and not rest:
            more = ", ".join(source.of(each) for each in node.keywords)
            typed = called.endswith("LongTensor") or any(e.arg == "dtype" for e in node.keywords)
            self.untyped = self.untyped or not typed
            return f"{name}.to({more})" if more else name
        keywords = {each.arg: each.value for each in node.keywords}
        if len(rest) > 1 or not keywords.keys() <= {"dim", "axis"}:
            return None
        dim = number(rest[0] if rest else keywords.get("dim", keywords.get("axis")))
        if called == f"{torch}.stack" and dim is not None:
            self.joined = True
            return name if dim == 0 else f"{name}.movedim(0, {dim})"
        if called in (f"{torch}.cat", f"{torch}.concat") and dim == 0:
            self.joined = True
            return f"{name}.flatten(0, 1)"
        return None


def _indexes(parents: dict[ast.AST, ast.AST], node: ast.AST) -> bool:
    """Whether a name is an index, as in `x[kept]`."""
    above = parents[node]
    whole = node
    if isinstance(above, ast.Tuple):
        whole, above = above, parents[above]
    return isinstance(above, ast.Subscript) and above.slice is whole
