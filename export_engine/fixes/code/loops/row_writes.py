"""A loop that writes a part of each row, `mask[i, n[i]:] = False`, as one write by a mask.

How long the part is differs from row to row; where a column is in it is a comparison of all.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.loops.loop_indexing import is_full
from export_engine.fixes.code.loops.row_values import RowValues


def written_by_mask(text: str, line: int, *, behind: int = 0) -> Rewritten:
    """The text with the loop at a line, or around it, as one write.

    Args:
        text: of the file.
        line: of the loop, or of its only statement.
        behind: how many dims the tensor has behind that of the part.

    Raises:
        Unclear: it does more, or the part is not a slice of the second dim.
    """
    source = Source(text, line)
    loops = [n for n in ast.walk(source.function) if isinstance(n, ast.For) and spans(n, line)]
    if not loops:
        raise Unclear("there is no loop at that line")
    loop = max(loops, key=lambda each: each.lineno)
    if len(loop.body) > 1 or loop.orelse or loop.body[0].lineno == loop.lineno:
        raise Unclear("the loop does more than to write a part of each row")
    made = _RowWrite(source, loop, behind).made()
    return source.changed([Piece(source.start(loop), source.line_end(loop.body[0]), made)])


class _RowWrite:
    """One loop, and its write."""

    def __init__(self, source: Source, loop: ast.For, behind: int) -> None:
        self.source, self.torch, self.behind = source, source.torch, behind
        self.rows, self.indent = RowValues(source, loop), source.indent(loop)
        match loop.body[0]:
            case ast.Assign(
                targets=[
                    ast.Subscript(
                        value=ast.Name() as into,
                        slice=ast.Tuple(elts=[ast.Name() as index, ast.Slice() as part]),
                    )
                ],
                value=value,
            ) if part.step is None:
                self.into, self.part, self.value = into.id, part, value
            case _:
                raise Unclear("the loop does not write a part of each row")
        count = self.rows.count
        if count is None or index.id != count.name:
            raise Unclear("the rows are not those of the loop")
        whole = is_full(source, self.into, 0, count.stop)
        self.all = self.into if whole else f"{self.into}[:{count.stop}]"

    def made(self) -> str:
        """The statements that write to all rows."""
        taken, size = self.source.names, f"{self.into}.shape[1]"
        columns = free_name("_columns", taken)
        lines = [f"{columns} = {self.torch}.arange({size}, device={self.into}.device)"]
        tests = []
        ends = (">=", "_first", self.part.lower), ("<", "_end", self.part.upper)
        for sign, name, bound in ends:
            if bound is None:
                continue
            made = self.rows.of(bound)
            if not isinstance(bound, ast.Constant):  # a negative one counts from the end
                end = free_name(name, taken)
                lines += [f"{end} = {made}", f"{end} = {end} + {size} * ({end} < 0)"]
                made = f"{end}[:, None]"
            tests.append(f"({columns} {sign} {made})")
        if not tests:
            raise Unclear("the part is the whole row")
        mask = " & ".join(tests) if len(tests) > 1 else tests[0][1:-1]
        if self.behind:
            mask = f"({mask})[..., {', '.join(['None'] * self.behind)}]"
        target = f"{self.into}[:]" if self.all == self.into else self.all
        chosen = f"{self.torch}.where({mask}, {self._values()}, {self.all})"
        return f"\n{self.indent}".join([*lines, f"{target} = {chosen}"])

    def _values(self) -> str:
        """What is written: a number, or the same part of the rows of another tensor."""
        source, value = self.source, self.value
        if isinstance(value, ast.Constant | ast.UnaryOp):
            return source.of(value)
        part, count = source.of(self.part).replace(" ", ""), self.rows.count
        assert count is not None
        match value:
            case ast.Subscript(value=row, slice=ast.Slice() as same):
                made = self.rows.of(row)
            case ast.Subscript(
                value=ast.Name(id=name),
                slice=ast.Tuple(elts=[ast.Name(id=count.name), ast.Slice() as same]),
            ):
                whole = is_full(source, name, 0, count.stop)
                made = name if whole else f"{name}[:{count.stop}]"
            case _:
                raise Unclear("what is written is not the same part of another row")
        if source.of(same).replace(" ", "") != part:
            raise Unclear("what is written is another part of a row")
        return made
