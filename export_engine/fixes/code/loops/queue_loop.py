"""A loop that goes on as long as something is left, taken apart: what it takes, tests and drops."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Source, spans
from export_engine.fixes.code.loops.loop_parts import names_of
from export_engine.fixes.code.loops.loop_state import assigned_before

_LENGTHS = ("{}.numel()", "len({})", "{}.shape[0]", "{}.size(0)")
_SOME = ("{} > 0", "{} != 0", "{} >= 1", "{}", "0 < {}")
_ONE = ("{} == 1", "{} <= 1", "{} < 2")
_NONE = ("{} == 0", "{} < 1", "not {}")


def shrinks(text: str, line: int) -> str:
    """The name whose length the loop around a line tests, and changes; empty for another loop."""
    source = Source(text, line)
    for loop in ast.walk(source.function):
        if not isinstance(loop, ast.While) or not spans(loop, line):
            continue
        bound = [n for each in loop.body for n in ast.walk(each) if isinstance(n, ast.Name)]
        for name in {n.id for n in bound if isinstance(n.ctx, ast.Store)}:
            if _asks(loop.test, name, _SOME):
                return name
    return ""


def _asks(test: ast.expr, name: str, forms: tuple[str, ...]) -> bool:
    text = ast.unparse(test)
    return any(text == each.format(length.format(name)) for each in forms for length in _LENGTHS)


class QueueLoop:
    """One loop, and what each of its statements is; Unclear is raised where it does more."""

    mask: ast.expr | None = None
    """The test of what stays."""

    def __init__(self, source: Source, loop: ast.While) -> None:
        self.source, self.loop = source, loop
        names = {n.id for n in ast.walk(loop.test) if isinstance(n, ast.Name)} - {"len"}
        self.queue = next((each for each in names if _asks(loop.test, each, _SOME)), "")
        if not self.queue:
            raise Unclear("the loop does not go on as long as something is left")
        self.heads: set[str] = set()
        self.rest: set[str] = set()
        """Names of all but the first."""
        self.found: dict[str, ast.expr] = {}
        """Names of the indices at which a test holds, and that test."""
        self.is_cut = False
        self.into = ""
        self.dropped: list[ast.stmt] = []
        self.kept: list[ast.Assign] = []
        for each in loop.body:
            if self.mask is not None:
                raise Unclear("the loop goes on behind what it drops")
            self._read(each)
        if self.mask is None or not self.into:
            raise Unclear("the loop collects nothing, or drops nothing")
        carried = names_of(self.kept, []).live & self.names()
        if carried:
            raise Unclear(f"`{min(carried)}` goes from one iteration to the next")
        start = assigned_before(source, loop, self.into)
        if not isinstance(start, ast.List) or start.elts:
            raise Unclear(f"`{self.into}` does not start as an empty list")

    def _read(self, each: ast.stmt) -> None:
        source, queue = self.source, self.queue
        if isinstance(each, ast.If) and not each.orelse and len(each.body) == 1:
            alone = _asks(each.test, queue, _NONE if self.is_cut else _ONE)
            if alone and isinstance(each.body[0], ast.Break):
                self.dropped.append(each)
                return
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            self._append(each.value)
            self.dropped.append(each)
            return
        target = each.targets[0] if isinstance(each, ast.Assign) else None
        if not isinstance(each, ast.Assign) or len(each.targets) > 1:
            raise Unclear(f"the loop runs `{ast.unparse(each).splitlines()[0]}`")
        if not isinstance(target, ast.Name):
            raise Unclear(f"the loop writes to `{source.of(each.targets[0])}`")
        if self.is_head(each.value):
            self.heads.add(target.id)
        elif self.is_rest(each.value) and target.id != queue:
            self.rest.add(target.id)
        elif target.id == queue:
            self._shrinks(each.value)
        elif (test := self._where(each.value)) is not None:
            self.found[target.id] = test
        else:
            self.kept.append(each)
            return
        self.dropped.append(each)

    def _append(self, call: ast.Call) -> None:
        """`keep.append(i)` of the first."""
        name = call.func.value if isinstance(call.func, ast.Attribute) else None
        if getattr(call.func, "attr", "") != "append" or not isinstance(name, ast.Name):
            raise Unclear(f"the loop runs `{ast.unparse(call)}` for its effect")
        if self.into or len(call.args) != 1 or not self.is_head(call.args[0]):
            raise Unclear("what it collects is not the first of what is left")
        self.into = name.id

    def is_head(self, node: ast.expr) -> bool:
        """Whether a value is the first of what is left."""
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
                return self.is_head(inner)
            case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
                return self.is_head(inner)
            case ast.Name(id=name):
                return name in self.heads
        return not self.is_cut and ast.unparse(node) == f"{self.queue}[0]"

    def is_rest(self, node: ast.expr) -> bool:
        """Whether a value is all but the first."""
        text = ast.unparse(node)
        whole = text == self.queue if self.is_cut else text == f"{self.queue}[1:]"
        return whole or text in self.rest

    def _shrinks(self, value: ast.expr) -> None:
        """`order = order[1:]`, or what drops others by a test."""
        if self.is_rest(value) and not self.is_cut:
            self.is_cut = True
            return
        if not isinstance(value, ast.Subscript):
            raise Unclear(f"`{self.queue}` is not cut by a test")
        index = value.slice
        if isinstance(index, ast.BinOp) and ast.unparse(index.right) == "1":
            later = isinstance(index.op, ast.Add) and ast.unparse(value.value) == self.queue
            if not later or self.is_cut or not isinstance(index.left, ast.Name):
                raise Unclear(f"`{self.queue}` is not cut by a test")
            test = self.found.get(index.left.id)
        elif not self.is_rest(value.value):
            raise Unclear(f"`{self.queue}` is not cut by a test")
        else:
            known = self.found.get(index.id) if isinstance(index, ast.Name) else None
            test = known if known is not None else self._where(index) or index
        if test is None or not self._is_test(test):
            raise Unclear(f"`{self.queue}` is not cut by a test")
        self.mask = test

    def _where(self, node: ast.expr) -> ast.expr | None:
        """The test of `torch.where(t)[0]`, and of `nonzero` in one dim; None for another value."""
        torch = self.source.torch
        match node:
            case ast.Subscript(value=ast.Call(args=[test], keywords=[]) as call, slice=place):
                if ast.unparse(call.func) == f"{torch}.where" and ast.unparse(place) == "0":
                    return test
            case ast.Call(func=ast.Attribute(value=inner, attr="squeeze" | "view" | "flatten")):
                found = inner if isinstance(inner, ast.Call) else None
                if found is not None and ast.unparse(found.func) == f"{torch}.nonzero":
                    return found.args[0] if len(found.args) == 1 else None
                if isinstance(found, ast.Call) and getattr(found.func, "attr", "") == "nonzero":
                    return found.func.value if isinstance(found.func, ast.Attribute) else None
        return None

    def _is_test(self, node: ast.expr) -> bool:
        """Whether a value is a comparison, so that it selects and does not index."""
        match node:
            case ast.Compare():
                return True
            case ast.UnaryOp(op=ast.Invert(), operand=inner):
                return self._is_test(inner)
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr(), left=left, right=right):
                return self._is_test(left) and self._is_test(right)
            case ast.Name(id=name):
                made = [each for each in self.kept if ast.unparse(each.targets[0]) == name]
                return len(made) == 1 and self._is_test(made[0].value)
        return False

    def names(self) -> set[str]:
        """The names of what an iteration computes."""
        return {ast.unparse(each.targets[0]) for each in self.kept}

    def varies(self, node: ast.expr) -> bool:
        """Whether a value depends on what is left."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return bool(names & {self.queue, *self.heads, *self.rest, *self.found})
