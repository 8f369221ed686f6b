"""A loop that takes the first of what is left, and drops others by a test: non-maximum suppression.

`while order.numel() > 0` with `order = order[1:][iou <= 0.5]` has a length from data in each
iteration. The same loop goes through all that there is to begin with, and carries what is left as a
mask. That the test of each element knows nothing of the others is tried in eager.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import Form, free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.loops.kept_uses import uses_of
from export_engine.fixes.code.loops.list_starts import start_dropped
from export_engine.fixes.code.loops.queue_loop import QueueLoop

_OF_ALL = frozenset(
    {
        *("sum", "mean", "max", "min", "any", "all", "prod", "std", "var", "norm", "softmax"),
        *("cumsum", "sort", "argsort", "topk", "argmax", "argmin", "amax", "amin", "median"),
        *("size", "numel", "len", "cumprod", "unique", "flip", "roll"),
    }
)
"""What an element's value may have of the others."""


def over_all(text: str, line: int, *, probed: bool = False, checked: bool = False) -> Form:
    """The text with the loop around a line going through all elements, with a mask of those left.

    Args:
        text: of the file.
        line: in the loop.
        probed: whether each iteration also computes every second element by itself, and raises an
            error where that differs: an element's value is of the others as well, then.
        checked: whether to check that something is there to begin with, which eager needs as well.

    Returns:
        The text, and the line of the loop, which is a `for`.

    Raises:
        Unclear: there is none, or it does more.
    """
    source = Source(text, line)
    loops = [n for n in ast.walk(source.function) if isinstance(n, ast.While) and spans(n, line)]
    if len(loops) != 1 or loops[0].orelse:
        raise Unclear("there is no `while` at that line")
    return _Shrinking(source, loops[0]).form(probed, checked)


class _Shrinking(QueueLoop):
    """One loop, and the text of the other one."""

    def __init__(self, source: Source, loop: ast.While) -> None:
        super().__init__(source, loop)
        self.taken = source.names
        self.ordered: dict[str, str] = {}
        self.some = ""
        """The name of a mask of some elements, where only they are computed."""

    def _text(self, node: ast.expr) -> str:
        """A value's text, with the first as an element, and the rest as all."""
        source, pieces = self.source, list[Piece]()
        done: set[int] = set()
        for each in ast.walk(node):
            if id(each) in done or not isinstance(each, ast.expr):
                continue
            made = self._changed(each)
            if made is not None:
                pieces.append(Piece(source.start(each), source.end(each), made))
                done |= {id(inner) for inner in ast.walk(each)}
                continue
            self._refuse(each)
        start, end, text = source.start(node), source.end(node), source.text
        for piece in sorted(pieces, reverse=True):
            text = text[: piece.start] + piece.text + text[piece.end :]
            end += len(piece.text) - (piece.end - piece.start)
        return text[start:end]

    def _changed(self, node: ast.expr) -> str | None:
        """`x[i]`, `x[i, 0]` and `x[order[1:]]`, and a name of some; None for other nodes."""
        if self.some and isinstance(node, ast.Name) and node.id in self.names():
            return f"{node.id}{self.some}"
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            return None
        owner = node.value
        if not isinstance(owner, ast.Name | ast.Attribute) or self.is_rest(node):
            return None
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        first, more = entries[0], "".join(f", {self.source.of(each)}" for each in entries[1:])
        if any(self.varies(each) for each in entries[1:]):
            return None
        if self.is_head(first):
            return f"{self._in_order(owner)}[{_TURN}{more}]"
        if isinstance(first, ast.Slice) and first.lower is not None and first.step is None:
            low, high = ast.unparse(first.lower), ast.unparse(first.upper or first.lower)
            if self.is_head(first.lower) and high == f"{low} + 1":
                return f"{self._in_order(owner)}[{_TURN}:{_TURN} + 1{more}]"
        if self.is_rest(first):
            rows = f"{self._in_order(owner)}"
            if self.some or more:
                return f"{rows}[{self.some or ':'}{more}]"
            return rows
        return None

    def _in_order(self, tensor: ast.expr) -> str:
        """A tensor in the order of what is left, computed once: scan takes no two views of one."""
        text = self.source.of(tensor)
        if text not in self.ordered:
            word = "".join(each if each.isalnum() else "_" for each in text).strip("_")
            name = free_name(f"_{word}_in_order", self.taken)
            self.taken.add(name)
            self.ordered[text] = name
        return self.ordered[text]

    def _refuse(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name) and self.varies(node):
            raise Unclear(f"`{node.id}` is used in another way than to index")
        if isinstance(node, ast.NamedExpr | ast.Lambda | ast.IfExp | ast.BoolOp | ast.Await):
            raise Unclear("a value is not computed each time")
        called = node.func if isinstance(node, ast.Call) else None
        name = getattr(called, "attr", getattr(called, "id", ""))
        if isinstance(node, ast.Call) and name in _OF_ALL:
            two = name in ("max", "min") and len(node.args) == 2 and not node.keywords
            torch = isinstance(called, ast.Attribute) and ast.unparse(called.value) == "torch"
            dims = [*(node.args[1:] if torch else node.args), *(k.value for k in node.keywords)]
            other = dims and ast.unparse(dims[0]) in ("1", "-1") and name not in ("size", "len")
            if not (other or (two and torch and ast.unparse(node.args[1]) not in ("0", "-1"))):
                raise Unclear(f"`{ast.unparse(node)}` may be of all that is left")
        if name.endswith("_") and not name.endswith("__"):
            raise Unclear(f"`{ast.unparse(node)}` changes a value in place")

    def _probe(self, here: str, inner: str) -> list[str]:
        """Lines that compute some elements by themselves, and compare."""
        torch = self.source.torch
        assert self.mask is not None
        pairs = [(ast.unparse(each.targets[0]), each.value) for each in self.kept]
        sides = [
            side
            for value in [*(each.value for each in self.kept), self.mask]
            for node in ast.walk(value)
            if isinstance(node, ast.Compare)
            for side in (node.left, *node.comparators)
            if not isinstance(side, ast.Constant)
        ]
        self.some = free_name("_some", self.taken)
        lines = [f"{self.some} = {here} % 2 == 0"]
        lines += [f"{name}{self.some} = {self._text(value)}" for name, value in pairs]
        compared = [(name, f"{name}{self.some}") for name, _ in pairs]
        some = [self._text(each) for each in [*sides, self.mask]]
        self.some, mask = "", self.some
        full = [self._text(each) for each in [*sides, self.mask]]
        compared += [(f"({one})", f"({other})") for one, other in zip(full, some, strict=True)]
        for whole, part in compared:
            lines += [
                f"if {torch}.is_tensor({whole}) and {whole}.shape[:1] == {here}.shape:",
                f"    {torch}.testing.assert_close({whole}[{mask}], {part}, equal_nan=True)",
            ]
        return [f"{inner}{each}" for each in lines]

    def form(self, probed: bool, checked: bool) -> Form:
        """The text with the other loop."""
        assert self.mask is not None
        source, loop, torch, queue = self.source, self.loop, self.source.torch, self.queue
        taken = self.taken
        here, left, kept, first = (
            free_name(each, taken) for each in ("_here", "_left", "_kept", "_first")
        )
        turn = free_name("_t", taken)
        indent = source.indent(loop)
        lines = [f"    {first} = ({left} & ({here} == {turn})).any()"]
        for each in self.kept:
            lines.append(f"    {source.of(each.targets[0])} = {self._text(each.value)}")
        lines += self._probe(here, "    ") if probed else []
        mask = f"({self._text(self.mask)}) | ({here} <= {turn})"
        lines += [
            f"    {kept}.append({first})",
            f"    {left} = {torch}.where({first}, {left} & ({mask}), {left})",
            f"{self.into} = {queue}[{torch}.stack({kept})]",
        ]
        head = f"for {turn} in range({queue}.shape[0]):"
        lines = [
            *([f"{torch}._check({queue}.shape[0] > 0)"] if checked else []),
            f"{here} = {torch}.arange({queue}.shape[0], device={queue}.device)",
            f"{left}, {kept} = {torch}.ones_like({here}, dtype={torch}.bool), []",
            *(f"{name} = {tensor}[{queue}]" for tensor, name in self.ordered.items()),
            head,
            *lines,
        ]
        if any("\n" in each for each in lines):
            raise Unclear("a statement spans lines")
        text = f"\n{indent}".join(lines).replace(_TURN, turn)
        uses = uses_of(source, self.into, loop)
        if uses.guarded:
            raise Unclear(f"where `{self.into}` is empty, eager goes on in another way")
        if checked and not uses.fails_empty:
            raise Unclear(f"`{self.into}` may be empty in eager")
        if any(n in self.bound() for n in self._read_later()):
            raise Unclear("what an iteration computes is used behind the loop")
        begun = start_dropped(source, loop, self.into)
        made = Piece(source.start(loop), source.line_end(loop.body[-1]), text)
        changed = source.changed([made, *uses.pieces, *([begun] if begun is not None else [])])
        at = next(n for n, each in enumerate(changed.text.split("\n"), 1) if each.strip() == head)
        return Form(changed.text, at)

    def bound(self) -> set[str]:
        """The names that an iteration binds."""
        return {
            n.id
            for each in self.loop.body
            for n in ast.walk(each)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }

    def _read_later(self) -> set[str]:
        end = self.loop.end_lineno or 0
        return {
            n.id
            for n in ast.walk(self.source.function)
            if isinstance(n, ast.Name) and n.lineno > end and isinstance(n.ctx, ast.Load)
        }


_TURN = "\0"
"""Where the number of the iteration stands in a text."""
