"""A loop whose number of iterations depends on data as torch's `while_loop`, which is one op.

Its test and its body become functions of what it carries from one iteration to the next.
"""

from __future__ import annotations

import ast

import libcst as cst

from export_engine.fixes.code.editing.assignments import assigned, out_of_place
from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear, predicate
from export_engine.fixes.code.editing.liveness import read_later
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.loop_indexing import indexed
from export_engine.fixes.code.loops.loop_parts import names_of, refuse_leaving
from export_engine.fixes.code.loops.loop_state import assigned_before, may_be_given

_IMPORT = "from torch._higher_order_ops.while_loop import while_loop as _while_loop"
_NUMBER = ("item", "tolist")
_REDUCTIONS = ("max", "min", "sum", "amax", "amin", "argmax", "argmin")
"""Of a tensor, whose result counts as it is: `range(lengths.max())`."""


def as_while_loop(text: str, line: int) -> Rewritten:
    """The text with the loop at a line as a `while_loop`.

    Raises:
        Unclear: what it carries cannot be told, or it does more than to compute it.
    """
    source = Source(text, line)
    loops = [node for node in ast.walk(source.function) if isinstance(node, ast.For | ast.While)]
    found = [each for each in loops if each.lineno <= line <= _head(each)]
    if not found:
        raise Unclear("there is no loop at that line")
    loop = max(found, key=lambda node: node.lineno)
    if loop.orelse or loop.body[0].lineno == loop.lineno:
        raise Unclear("the loop has an `else`, or is on one line")
    refuse_leaving(loop)
    return _WhileLoop(source, loop).rewritten()


def _head(loop: ast.For | ast.While) -> int:
    """The last line of a loop's head."""
    part = loop.iter if isinstance(loop, ast.For) else loop.test
    return part.end_lineno or part.lineno


class _WhileLoop:
    """One loop, and the functions that replace it."""

    def __init__(self, source: Source, loop: ast.For | ast.While) -> None:
        self.source, self.loop = source, loop
        self.taken = source.names
        self.index, self.start, self.stop = self._counts()
        self.names = names_of(loop.body, [])
        later = read_later(source.function, loop)
        asked = _read(loop.test) if isinstance(loop, ast.While) else set()
        every = dict.fromkeys([*self.names.bound, *self.names.written])
        self.carried = [name for name in every if name in self.names.live | later | asked]
        if self.index in {*every, *later}:
            raise Unclear("the loop's own variable is used or bound elsewhere")
        known = source.bound_before(loop)
        unknown = [name for name in self.carried if name not in known]
        if unknown:
            raise Unclear(f"`{unknown[0]}` has no value before the loop")
        if not self.carried:
            raise Unclear("the loop carries nothing from one iteration to the next")

    def rewritten(self) -> Rewritten:
        """The text with the functions instead of the loop."""
        source, loop = self.source, self.loop
        indent = source.indent(loop)
        inner = indent + "    "
        going, step = free_name("_going", self.taken), free_name("_step", self.taken)
        names = [*self.carried, *([self.index] if self.index else [])]
        given = ", ".join(names)
        back = [self._returned(name) for name in self.carried]
        if self.index:
            back.append(f"{self.index} + 1")
        head = [f"{name} = {name}.clone()" for name in self.names.written]
        starts = [self._started(name) for name in self.carried]
        starts += [f"{source.torch}.tensor({self.start})"] if self.index else []
        got = ", ".join([*self.carried, *(["_"] if self.index else [])])
        comma = "," if len(names) == 1 else ""
        limit = free_name("_count", self.taken)
        before = [f"{limit} = {self.stop}"] if self.index else []
        test = f"{self.index} < {limit}" if self.index else self._test()
        lines = [
            *(f"{indent}{each}" for each in [_IMPORT, *before]),
            "",
            f"{indent}def {going}({given}):",
            f"{inner}return {test}",
            "",
            f"{indent}def {step}({given}):",
            *(f"{inner}{each}" for each in head),
            self._body(inner),
            f"{inner}return ({', '.join(back)}{comma})",
            "",
            f"{indent}({got}{comma}) = _while_loop({going}, {step}, ({', '.join(starts)}{comma}))",
        ]
        start, end = source.line_start(loop), source.line_end(loop.body[-1])
        return source.changed([Piece(start, end, "\n".join(lines))])

    def _counts(self) -> tuple[str, str, str]:
        """The loop's number, and from where to where it counts; empty for `while`."""
        loop, source = self.loop, self.source
        if isinstance(loop, ast.While):
            return "", "", ""
        made = loop.iter
        if not isinstance(made, ast.Call) or source.of(made.func) != "range" or len(made.args) > 2:
            raise Unclear("the loop does not count to a number")
        if not isinstance(loop.target, ast.Name):
            raise Unclear("the loop's number is unpacked")
        *first, stop = made.args
        start = source.of(first[0]) if first else "0"
        if not start.isdigit():
            raise Unclear("the loop does not start at a plain number")
        index = loop.target.id
        name = free_name("_number", self.taken) if index == "_" else index
        return name, start, self._as_tensor(stop)

    def _as_tensor(self, value: ast.expr) -> str:
        """A number as the tensor that it was taken from."""
        if isinstance(value, ast.Name):
            made = assigned(self.source.function, value.id)
            if made is not None and made.lineno < self.loop.lineno:
                return self._as_tensor(made.value)
        called = value.func if isinstance(value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _NUMBER:
            return self._as_tensor_or(called.value)
        if isinstance(called, ast.Name) and called.id == "int" and isinstance(value, ast.Call):
            return self._as_tensor_or(value.args[0])
        if isinstance(called, ast.Attribute) and called.attr in _REDUCTIONS:
            return self.source.of(value)
        raise Unclear("the loop's length is not a number from a tensor")

    def _as_tensor_or(self, value: ast.expr) -> str:
        """What a number was taken from, which may be a number itself."""
        try:
            return self._as_tensor(value)
        except Unclear:
            return self.source.of(value)

    def _test(self) -> str:
        assert isinstance(self.loop, ast.While)
        made = predicate(cst.parse_expression(self.source.of(self.loop.test)))
        return cst.Module(body=[]).code_for_node(made)

    def _started(self, name: str) -> str:
        """What a name starts with: a number as a tensor."""
        value = assigned_before(self.source, self.loop, name)
        number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
        return f"{self.source.torch}.tensor({name})" if number else f"{name}.clone()"

    def _returned(self, name: str) -> str:
        """A carried value as an iteration gives it: never what it got, nor a view of it."""
        if name in self.names.written:
            return name
        given = name not in self.names.certain or may_be_given(self.loop, name)
        return f"{name}.clone()" if given else name

    def _body(self, inner: str) -> str:
        """The loop's body, its layout and its comments kept."""
        source, body = self.source, self.loop.body
        if any(
            isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno != node.lineno
            for each in body
            for node in ast.walk(each)
        ):
            raise Unclear("a string in the loop spans lines")
        text, start = source.text, source.line_start(body[0])
        end = source.line_end(body[-1])
        for each in sorted(self._pieces(), reverse=True):
            text = text[: each.start] + each.text + text[each.end :]
            end += len(each.text) - (each.end - each.start)
        deeper = " " * body[0].col_offset
        lines = text[start:end].split("\n")
        return "\n".join(
            inner + each.removeprefix(deeper) if each.strip() else each for each in lines
        )

    def _pieces(self) -> list[Piece]:
        nodes = [node for each in self.loop.body for node in ast.walk(each)]
        changed = [piece for node in nodes for piece in out_of_place(self.source, node)]
        changed += [piece for node in nodes for piece in self._number(node)]
        return changed + [piece for node in nodes for piece in self._index(node)]

    def _number(self, node: ast.AST) -> list[Piece]:
        """`error = y.max().item()` as the tensor that a carried number is read from."""
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return []
        value = node.value
        called = value.func if isinstance(value, ast.Call) else None
        if node.targets[0].id not in self.carried or len(node.targets) > 1:
            return []
        if isinstance(called, ast.Attribute) and called.attr == "item":
            return [Piece(self.source.end(called.value), self.source.end(value), "")]
        if isinstance(called, ast.Name) and called.id == "float" and isinstance(value, ast.Call):
            head = Piece(self.source.start(value), self.source.start(value.args[0]), "(")
            return [head] if len(value.args) == 1 else []
        return []

    def _index(self, node: ast.AST) -> list[Piece]:
        """`x[:, t]` where t is a tensor: taken as the one index of a list, and squeezed."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            return []
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        found = indexed(self.source, node, self.index) if self.index else None
        if found is None or found.wide:
            return []
        (number,) = (
            each
            for each in entries
            if self.index in _read(each) and not isinstance(each, ast.Slice)
        )
        others = [each for each in entries if each is not number]
        if not all(isinstance(each, ast.Slice | ast.Constant) for each in others) or any(
            isinstance(each, ast.Constant) and isinstance(each.value, int) for each in others
        ):
            raise Unclear(f"`{self.source.of(node)}` has two indices")
        start, end = self.source.start(number), self.source.end(number)
        behind, text = self.source.end(node), self.source.of(number)
        text = text if isinstance(number, ast.Name) else f"({text})"
        return [
            Piece(start, end, f"{text}.reshape(1)"),
            Piece(behind, behind, f".squeeze({found.kept})"),
        ]


def _read(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
