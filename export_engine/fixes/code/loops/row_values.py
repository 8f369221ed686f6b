"""What a loop over the rows of tensors computes of each row, written for all rows at once.

`score[i] > 0.5` in `for i in range(len(score))` is `score > 0.5`: a number of each row becomes a
tensor of one dim. Only numbers are understood, and the rows themselves.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Source
from export_engine.fixes.code.editing.variables import stored_names
from export_engine.fixes.code.loops.loop_indexing import elements, indexed, is_full
from export_engine.fixes.code.loops.loop_parts import bracketed, iterated

_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_READS = ("item", "bool", "abs", "float", "long", "int")


class RowValues:
    """The values of one loop's rows.

    Raises:
        Unclear: the loop does not go through rows of tensors.
    """

    def __init__(self, source: Source, loop: ast.For) -> None:
        self.source, self.loop = source, loop
        self.count, found = iterated(source, loop)
        if self.count is not None and (self.count.reverse or self.count.first != 0):
            raise Unclear("the loop does not count up from 0")
        self.tensors = {each.target: bracketed(each.tensor) for each in found}
        self.bound = stored_names(*loop.body)

    def of(self, node: ast.expr) -> str:
        """The text of a value of each row, for all of them.

        Raises:
            Unclear: it is neither a row nor a number that is computed from those of rows.
        """
        match node:
            case ast.Name(id=name) if name in self.tensors:
                return self.tensors[name]
            case ast.Name(id=name) if self.count is not None and name == self.count.name:
                return f"{self.source.torch}.arange({self.count.stop})"
            case ast.Subscript() if self._counts(node):
                return self._read(node)
            case ast.Subscript(value=row, slice=part) if self._varies(row):
                if self._varies(part):
                    raise Unclear(f"`{self.source.of(node)}` is another part of each row")
                inner = self.source.of(part)
                inner = inner[1:-1] if inner.startswith("(") else inner
                return f"{self.of(row)}[:, {inner}]"
            case ast.Constant(value=bool() | int() | float()):
                return self.source.of(node)
            case ast.Name() | ast.Attribute() if not self._varies(node):
                return self.source.of(node)
        return self._computed(node)

    def _computed(self, node: ast.expr) -> str:
        torch = self.source.torch
        match node:
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _SIGNS:
                return f"({self.of(left)} {_SIGNS[type(sign)]} {self.of(right)})"
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                return (
                    f"{torch}.where({self.of(test)}, {self._plain(then)}, {self._plain(otherwise)})"
                )
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return f"(-{self.of(inner)})"
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return f"{torch}.logical_not({self.of(inner)})"
            case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _SIGNS:
                return f"{self._plain(left)} {_SIGNS[type(sign)]} {self._plain(right)}"
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as sign], comparators=[among]):
                made = f"{torch}.isin({self.of(left)}, {self._numbers(among)})"
                return f"~{made}" if isinstance(sign, ast.NotIn) else made
            case ast.BoolOp(op=operator, values=values):
                name = "logical_and" if isinstance(operator, ast.And) else "logical_or"
                made, *more = map(self.of, values)
                for each in more:
                    made = f"{torch}.{name}({made}, {each})"
                return made
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]):
                if name in _READS:
                    made = self.of(owner)
                    return made if name == "item" else f"{made}.{name}()"
            case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
                return f"{self.of(inner)}.long()"
            case ast.Call(func=ast.Name(id="bool" | "float"), args=[inner], keywords=[]):
                return self.of(inner)
        raise Unclear(f"`{self.source.of(node)}` is not computed from numbers of the rows")

    def _numbers(self, node: ast.expr) -> str:
        """What numbers are looked for in, as a tensor."""
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            return f"{self.source.torch}.tensor([{', '.join(map(self.source.of, node.elts))}])"
        return f"{self.source.torch}.as_tensor({self.of(node)})"

    def _plain(self, node: ast.expr) -> str:
        """A side of a comparison, without the brackets that a sum of its own needs."""
        made = self.of(node)
        return made[1:-1] if isinstance(node, ast.BinOp) else made

    def _read(self, node: ast.Subscript) -> str:
        """`x[i]` for all i."""
        assert self.count is not None
        found, tensor = indexed(self.source, node, self.count.name), self.source.of(node.value)
        if found is None or found.offset or found.wide or found.dim or self._varies(node.value):
            raise Unclear(f"`{self.source.of(node)}` is not a row")
        full = is_full(self.source, tensor, 0, self.count.stop)
        rows = elements(tensor, found, self.count, full)
        return f"{rows}[:, {found.rest}]" if found.rest else rows

    def _counts(self, node: ast.Subscript) -> bool:
        count = self.count.name if self.count is not None else ""
        return any(isinstance(each, ast.Name) and each.id == count for each in ast.walk(node.slice))

    def _varies(self, node: ast.expr) -> bool:
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        own = {self.count.name} if self.count is not None else set()
        return bool(names & (self.bound | own | self.tensors.keys()))
