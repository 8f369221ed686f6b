"""A Python loop over a dynamic length as `torch._higher_order_ops.scan`.

The body becomes a step: what it carries from one iteration to the next goes in and comes out, what
it collects in a list or writes into a preallocated tensor comes out stacked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from export_engine.fixes.code.editing.assignments import out_of_place
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.editing.variables import read
from export_engine.fixes.code.editing.views import TRANSPOSED, may_be_view
from export_engine.fixes.code.loops.collected_lists import iterated_lists, used
from export_engine.fixes.code.loops.list_starts import start_dropped
from export_engine.fixes.code.loops.loop_indexing import elements, indexed, is_full
from export_engine.fixes.code.loops.loop_parts import Element, loop_at
from export_engine.fixes.code.loops.loop_state import (
    LoopState,
    Output,
    assigned_before,
    may_be_given,
)
from export_engine.fixes.code.loops.scan_starts import started

_IMPORT = "from torch._higher_order_ops.scan import scan as _scan"


def as_scan(text: str, line: int, *, unrolled: bool = False) -> Rewritten:
    """The text with the loop at a line as a scan.

    Args:
        text: of the file.
        line: of the loop, or of the tensor that it iterates.
        unrolled: whether the first iteration is run apart, for carried values that are not tensors
            of one shape and dtype before it.

    Raises:
        Unclear: what an iteration changes cannot be told, or is not a tensor.
    """
    source = Source(text, line)
    return LoopAsScan(source, loop_at(source, line), unrolled).rewritten()


class LoopAsScan(LoopState):
    """A loop, and the pieces of text that replace it."""

    copies_views = True
    """Whether an iteration may give no view of what it got."""

    def rewritten(self) -> Rewritten:
        """The text with the scan instead of the loop."""
        source, loop = self.source, self.loop
        indent = source.indent(loop)
        inner = indent + "    "
        self._reads()
        results = self._results()
        step, carry, each = self.free("_step"), self.free("_carry"), self.free("_each")
        first = self.free("_first")
        body = self._body(inner)
        carried = self.carried or [self.free("_nothing")]
        state = tuple_text(carried)
        xs = self.elements or [Element(self.free("_"), self._counted())]
        head = f"def {step}({carry}, {each}{f', {first}=False' if self.unrolled else ''}):"
        given = [f"{tuple_text(carried)} = {carry}"] if self.carried else []
        rest = [*(["_"] if self.unrolled else [])]
        given += [f"{tuple_text([x.target for x in xs] + rest)} = {each}"]
        given += self._copies()
        back = [self._returned(name) for name in self.carried] or [f"{carry}[0].clone()"]
        outs = [f"{each.name}" for each in self.outputs] + [f"{name}.clone()" for name in self.last]
        lines = [f"{indent}{_IMPORT}", "", f"{indent}{head}"]
        lines += [f"{inner}{each}" for each in given]
        lines += [body, f"{inner}return {tuple_text(back)}, {tuple_text(outs)}", ""]
        call = self._call(step, carried, state, xs, results)
        lines += [f"{indent}{each}" if each else "" for each in call]
        lines += [f"{indent}{each}" for each in self._after()]
        start, end = source.line_start(loop), source.line_end(loop.body[-1])
        self.pieces.append(Piece(start, end, "\n".join(lines)))
        self._collected()
        return source.changed(self.pieces)

    def _reads(self) -> None:
        """Indexed reads as elements of the scan; recorded as pieces of the body."""
        self.inside: list[Piece] = []
        covered = self.covered = set[ast.AST]()
        if self.count is None:
            return
        index, made = self.count.name, dict[tuple[str, str], str]()
        for node in self._body_nodes():
            if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
                continue
            found = indexed(self.source, node, index)
            if found is None:
                continue
            tensor = self.source.of(node.value)
            roots = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            if roots & {*self.names.bound, *self.names.written, index}:
                raise Unclear(f"`{tensor}` changes in the loop")
            if any(each.into == tensor for each in self.outputs):
                raise Unclear(f"`{tensor}` is read while it is written")
            full = is_full(self.source, tensor, found.dim, self.count.stop)
            xs = elements(tensor, found, self.count, full)
            name = made.setdefault((tensor, xs), self.free(f"_{_word(tensor)}_{index}"))
            self.taken.add(name)
            text = f"{name}[{found.rest}]" if found.rest else name
            text = f"{text}.unsqueeze({found.kept})" if found.wide else text
            self.inside.append(Piece(self.source.start(node), self.source.end(node), text))
            covered |= set(ast.walk(node))
        self.elements = [*self.elements, *(Element(name, xs) for (_, xs), name in made.items())]
        if any(
            isinstance(node, ast.Name) and node.id == index and node not in covered
            for node in self._body_nodes()
        ):
            self.elements.append(Element(index, self._counted()))

    def _transposes(self) -> Iterator[Piece]:
        """`self.weight.T` as a call.

        torch reads an attribute of a tensor from outside before the scan, and then refuses it as an
        input that shares memory with the tensor.
        """
        own = {*self.names.bound, *self.carried, *(each.target for each in self.elements)}
        for node in self._body_nodes():
            if not isinstance(node, ast.Attribute) or node.attr not in TRANSPOSED:
                continue
            if node in self.covered or own & read(node):
                continue
            end = self.source.end(node)
            start = end - len(node.attr)
            yield Piece(start, end, TRANSPOSED[node.attr])

    def _body_nodes(self) -> list[ast.AST]:
        """The nodes of the body, the targets of its outputs left out."""
        found: list[ast.AST] = []
        for each in self.loop.body:
            output = next((out for out in self.outputs if out.statement is each), None)
            found += ast.walk(output.value if output else each)
        return [node for node in found if not any(node in ast.walk(t) for t in self.firsts())]

    def _counted(self) -> str:
        torch, count = self.source.torch, self.count
        if count is None:
            return f"{torch}.arange({self.elements[0].tensor}.shape[0])"
        start = "" if count.first == 0 else f"{count.start}, "
        made = f"{torch}.arange({start}{count.stop})"
        return f"{made}.flip(0)" if count.reverse else made

    def _copies(self) -> list[str]:
        """Copies of what the body writes to, which is the scan's."""
        made = []
        for name in self.names.written:
            start = assigned_before(self.source, self.loop, name)
            listed = isinstance(start, ast.List | ast.ListComp) or (
                isinstance(start, ast.BinOp | ast.Call) and "[" in ast.unparse(start)[:1]
            )
            called = isinstance(start, ast.Call) and ast.unparse(start.func) == "list"
            made.append(
                f"{name} = list({name})" if listed or called else f"{name} = {name}.clone()"
            )
        return made

    def _returned(self, name: str) -> str:
        """A carried value as an iteration gives it: never what it got, nor a view of it."""
        if name in self.names.written:
            return name
        given = name not in self.names.certain or may_be_given(self.loop, name)
        return f"{name}.clone()" if given else name

    def _results(self) -> list[str]:
        return [each.name for each in self.outputs] + [
            self.free(f"_last_{name}") for name in self.last
        ]

    def _body(self, inner: str) -> str:
        """The loop's body as that of the step, its layout and its comments kept."""
        source, loop = self.source, self.loop
        pieces = [*self.inside, *self._transposes()]
        for out in self.outputs:
            start, end = source.start(out.statement), source.end(out.statement)
            at, stop = source.start(out.value), source.end(out.value)
            wide = f".squeeze({out.place.kept})" if out.place and out.place.wide else ""
            view = self.copies_views and (may_be_view(out.value) or wide)
            copy = ".clone()" if view else ""
            opening, closing = ("(", f"){wide}{copy}") if wide or copy else ("", "")
            pieces += [
                Piece(start, at, f"{out.name} = {opening}"),
                Piece(stop, end, closing),
            ]
        for each in loop.body:
            for node in ast.walk(each):
                if not any(out.statement is node for out in self.outputs):
                    pieces += out_of_place(source, node)
        for test in self.firsts():
            asked = "_first" if isinstance(test.ops[0], ast.Eq) else "not _first"
            pieces.append(Piece(source.start(test), source.end(test), asked))
        start, end = source.line_after(loop.iter), source.line_end(loop.body[-1])
        if any(
            isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno != node.lineno
            for each in loop.body
            for node in ast.walk(each)
        ):
            raise Unclear("a string in the loop spans lines")
        text = source.text
        for piece in sorted(pieces, reverse=True):
            text = text[: piece.start] + piece.text + text[piece.end :]
        grown = sum(len(piece.text) - (piece.end - piece.start) for piece in pieces)
        deeper = " " * loop.body[0].col_offset
        lines = text[start : end + grown].split("\n")
        return "\n".join(
            inner + each.removeprefix(deeper) if each.strip() else each for each in lines
        )

    def _call(
        self, step: str, carried: list[str], state: str, xs: list[Element], results: list[str]
    ) -> list[str]:
        given = tuple_text([each.tensor for each in xs])
        outs = tuple_text(results) if results or self.unrolled else "_"
        none = f"({self.source.torch}.zeros(()),)"
        got = state if self.carried else "_"
        if not self.unrolled:
            apart = [started(self.source, self.loop, name) for name in self.carried]
            start = tuple_text(apart) if apart else none
            return [f"{got}, {outs} = _scan({step}, {start}, {given})"]
        start = state if self.carried else none
        every, following = self.free("_every"), self.free("_next")
        starts = [self.free(f"_first_{name.strip('_')}") for name in self.carried]
        outs0 = [f"{name}_first" for name in results]
        torch = self.source.torch
        names = [*zip(starts, self.carried, strict=True), *zip(outs0, results, strict=True)]
        chosen = [f"{torch}.where(_each[-1], {first}, {name})" for first, name in names]
        made, collected = chosen[: len(starts)], chosen[len(starts) :]
        return [
            *(f"{name} = None" for name in self.carried if name not in self.before),
            f"{every} = {tuple_text([each.tensor for each in xs] + [self._is_first(xs)])}",
            f"{tuple_text(starts)}, {tuple_text(outs0)} = "
            f"{step}({start}, tuple(each[0] for each in {every}), True)",
            "",
            f"def {following}(_carry, _each):",
            f"    {got}, {outs} = {step}(_carry, _each)",
            f"    return {tuple_text(made)}, {tuple_text(collected)}",
            "",
            f"{got}, {outs} = "
            f"_scan({following}, {tuple_text([f'{name}.clone()' for name in starts])}, {every})",
        ]

    def _is_first(self, xs: list[Element]) -> str:
        """Whether each element is the first, as a tensor."""
        count = self.count.length if self.count is not None else f"{xs[0].tensor}.shape[0]"
        return f"{self.source.torch}.arange({count}) == 0"

    def _after(self) -> list[str]:
        """Writes what was collected into preallocated tensors, and the last values."""
        made = []
        for out in self.outputs:
            if out.place is None or self.count is None:
                continue
            place, count = out.place, self.count
            stacked = f"{out.name}.flip(0)" if count.reverse else out.name
            moved = stacked if place.kept == 0 else f"{stacked}.movedim(0, {place.kept})"
            if count.first is None or count.first + place.offset < 0:
                raise Unclear(f"`{out.into}` is written before its first element")
            low = count.first + place.offset
            high = count.stop if not place.offset else f"{count.stop} + {place.offset}"
            span = f"{low or ''}:{high}"
            made.append(f"{out.into}[{place.before}{span}{place.after}] = {moved}")
        made += [f"{out.name} = {out.name}.flip(0)" for out in self.outputs if out.in_front]
        made += [self._behind_first(out) for out in self.outputs if out.into in self.begun]
        made += [f"{name} = {self.free(f'_last_{name}')}[-1]" for name in self.last]
        return made

    def _behind_first(self, out: Output) -> str:
        """The elements that a list has before the loop, and what the loop collects."""
        first = f"{self.source.torch}.stack({out.into})"
        parts = [out.name, first] if out.in_front else [first, out.name]
        return f"{out.name} = {self.source.torch}.cat([{', '.join(parts)}])"

    def _collected(self) -> None:
        """Uses of the lists behind the loop, as the stacked tensors."""
        lists = {out.into: out.name for out in self.outputs if out.place is None}
        last = self.loop.body[-1].end_lineno or 0
        done: set[ast.AST] = set()
        nodes = [
            node
            for node in ast.walk(self.source.function)
            if isinstance(node, ast.expr | ast.Expr | ast.For | ast.comprehension)
            and _line(node) > last
        ]
        ends = {name: self.rebound(name) for name in lists}
        for node in nodes:
            known = {name: out for name, out in lists.items() if _line(node) <= ends[name]}
            made = used(self.source, node, known)
            found = [(node, made)] if made is not None else iterated_lists(self.source, node, known)
            for each, text in found:
                if each in done or not isinstance(each, ast.expr | ast.stmt):
                    continue
                self.pieces.append(Piece(self.source.start(each), self.source.end(each), text))
                done |= set(ast.walk(each))
        for node in nodes:
            named = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            if not named or not isinstance(node, ast.Name) or node in done:
                continue
            if node.id in lists and node.lineno <= ends[node.id]:
                raise Unclear(f"the list `{node.id}` is used in another way than to be stacked")
        starts = (start_dropped(self.source, self.loop, name) for name in lists)
        self.pieces += [each for each in starts if each is not None]


def _line(node: ast.expr | ast.stmt | ast.comprehension) -> int:
    """Where a node begins; a comprehension's loop has no place but that of what it goes through."""
    return node.iter.lineno if isinstance(node, ast.comprehension) else node.lineno


def tuple_text(names: list[str]) -> str:
    """A tuple of names, to be built or to be unpacked."""
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _word(text: str) -> str:
    """A part of a name that says which tensor an element is of."""
    return "".join(each if each.isalnum() else "_" for each in text).strip("_")[:20]
