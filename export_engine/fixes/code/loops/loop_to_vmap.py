"""A loop whose iterations know nothing of each other as `torch.vmap` of one of them.

vmap computes all iterations at once, with ops over the whole tensors: any backend runs them, and
the number of iterations may be 0.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.branches.tensor_questions import kept_as_tensor
from export_engine.fixes.code.calls.tensor_index import indexed_by_tensors
from export_engine.fixes.code.editing.comprehensions import Form, free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.loop_parts import Element, loop_at
from export_engine.fixes.code.loops.loop_to_scan import LoopAsScan, tuple_text


def as_vmap(text: str, line: int) -> Rewritten:
    """The text with the loop at a line as a call of `torch.vmap`.

    Args:
        text: of the file.
        line: of the loop, or of the tensor that it iterates.

    Raises:
        Unclear: an iteration needs what another one has left, or gives nothing.
    """
    form = _read_apart(Form(text, line))
    source = Source(form.text, form.line)
    return LoopAsVmap(source, loop_at(source, form.line), unrolled=False).rewritten()


STEP = "_step"
"""Begins the name of the function that is one iteration."""


class LoopAsVmap(LoopAsScan):
    """A loop, and the pieces of text that replace it."""

    copies_views = False

    def rewritten(self) -> Rewritten:
        """The text with the call instead of the loop."""
        self._refuse_others()
        source, loop = self.source, self.loop
        indent = source.indent(loop)
        self._reads()
        step = self.free(STEP)
        body = self._body(indent + "    ")
        xs = self.elements or [Element(self.free("_"), self._counted())]
        outs = [each.name for each in self.outputs]
        one = len(outs) == 1
        given = f"return {outs[0] if one else tuple_text(outs)}"
        called = f"{source.torch}.vmap({step})({', '.join(each.tensor for each in xs)})"
        lines = [
            f"{indent}def {step}({', '.join(each.target for each in xs)}):",
            body,
            f"{indent}    {given}",
            "",
            f"{indent}{', '.join(outs)} = {called}",
            *(f"{indent}{each}" for each in self._after()),
        ]
        start, end = source.line_start(loop), source.line_end(loop.body[-1])
        self.pieces.append(Piece(start, end, "\n".join(lines)))
        self._collected()
        return source.changed(self.pieces)

    def expression(self) -> tuple[str, str]:
        """A statement that collects at once what the loop's only statement collects, and the list.

        The list is empty where it writes into a tensor.
        """
        self._refuse_others()
        self._reads()
        (out,) = self.outputs
        source, xs = self.source, self.elements or [Element(self.free("_"), self._counted())]
        given = ", ".join(each.target for each in xs)
        tensors = ", ".join(each.tensor for each in xs)
        value = self._with_elements(out.value)
        made = f"{source.torch}.vmap(lambda {given}: {value})({tensors})"
        if out.place is None:
            return f"{out.into}.append({made})", out.into
        (written,) = self._after()
        return written.removesuffix(out.name) + made, ""

    def _with_elements(self, value: ast.expr) -> str:
        """The text of a value with what is read of elements by their names."""
        start, end, text = self.source.start(value), self.source.end(value), self.source.text
        for piece in sorted(self.inside, reverse=True):
            text = text[: piece.start] + piece.text + text[piece.end :]
            end += len(piece.text) - (piece.end - piece.start)
        return text[start:end]

    def _refuse_others(self) -> None:
        if self.carried:
            raise Unclear(f"`{self.carried[0]}` goes from one iteration to the next")
        if self.last or not self.outputs or self.unrolled:
            raise Unclear("an iteration gives more, or less, than what is collected")


def of_tensors(text: str, line: int) -> Rewritten:
    """The text with the numbers that are read of tensors, or index, at a line as tensors.

    Inside of vmap a number differs from iteration to iteration, so that Python cannot have it.

    Raises:
        Unclear: there is none at that line.
    """
    try:
        made = kept_as_tensor(text, line)
    except Unclear:
        return indexed_by_tensors(text, line)
    try:
        return indexed_by_tensors(made.text, line)
    except Unclear:
        return made


def _read_apart(form: Form) -> Form:
    """A form whose loop gives `n[i]` a name before it indexes by it: `x[i, n[i]]`."""
    source = Source(form.text, form.line)
    loop = loop_at(source, form.line)
    targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    taken, pieces = source.names, list[Piece]()
    for statement in loop.body:
        if not isinstance(statement, ast.Assign | ast.Expr | ast.AugAssign):
            continue
        known: dict[str, str] = {}
        for node in _indices(statement, targets):
            name = known.get(source.of(node))
            if name is None:
                name = known[source.of(node)] = free_name("_at", taken)
                taken.add(name)
            pieces.append(Piece(source.start(node), source.end(node), name))
        at = source.start(statement)
        before = "".join(f"{each} = {of}\n{source.indent(statement)}" for of, each in known.items())
        if before:
            pieces.append(Piece(at, at, before))
    return Form(source.changed(pieces).text, form.line) if pieces else form


def _indices(statement: ast.stmt, targets: set[str]) -> list[ast.Subscript]:
    """What indexes inside of another subscript by a loop's variable, beside that variable."""
    found: list[ast.Subscript] = []
    for node in ast.walk(statement):
        if not isinstance(node, ast.Subscript):
            continue
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else None
        plain = [each for each in entries or () if isinstance(each, ast.Name)]
        beside = entries is None or any(each.id in targets for each in plain)
        for inner in ast.walk(node.slice) if beside else ():
            if not isinstance(inner, ast.Subscript) or not isinstance(inner.slice, ast.Name):
                continue
            if inner.slice.id in targets and inner not in found:
                found.append(inner)
    return found
