"""A loop that breaks where data say so, run to its end: what it computes after that is dropped.

Each iteration still computes; torch.where keeps the values from where the loop breaks.
"""

from __future__ import annotations

import ast

import libcst as cst

from export_engine.fixes.code.editing.assignments import is_number, out_of_place
from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear, predicate
from export_engine.fixes.code.editing.liveness import read_again, read_later
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.loops.grown_tensors import cut_behind, grown_in, lists_within
from export_engine.fixes.code.loops.loop_parts import refuse_leaving
from export_engine.fixes.code.loops.loop_state import assigned_before

_Loop = ast.For | ast.While


def run_to_end(text: str, line: int) -> Rewritten:
    """The text with the loop whose `break` depends on the test at a line run to its end.

    Raises:
        Unclear: there is none, or the loop does more than to bind names and to write elements.
    """
    source = _broken_first(Source(text, line), line)
    loop, branch = _found(source, line)
    return source.changed(_Masked(source, loop, branch).pieces())


def _broken_first(source: Source, line: int) -> Source:
    """The text where `if a: ... else: break` is `if not (a): break` before what it does."""
    for branch in ast.walk(source.function):
        if not isinstance(branch, ast.If) or not spans(branch.test, line):
            continue
        breaks = bool(branch.orelse) and isinstance(branch.orelse[0], ast.Break)
        if not breaks or branch.body[0].lineno == branch.lineno:
            continue
        at, inner = source.indent(branch), source.indent(branch.body[0])
        body = "\n".join(source.block_at(at, branch.body))
        made = f"if not ({source.of(branch.test)}):\n{inner}break\n{body}"
        piece = Piece(source.start(branch), source.line_end(branch), made)
        return Source(source.changed([piece]).text, line)
    return source


def _found(source: Source, line: int) -> tuple[_Loop, ast.If]:
    for loop in ast.walk(source.function):
        if not isinstance(loop, _Loop):
            continue
        for each in loop.body:
            if isinstance(each, ast.If) and spans(each.test, line):
                if each.orelse or not _leaves(source, loop, each.body[-1]):
                    raise Unclear("the branch goes on with the loop")
                return loop, each
    raise Unclear("no loop breaks at that line")


def _leaves(source: Source, loop: _Loop, last: ast.stmt) -> bool:
    """Whether a statement breaks the loop, or returns what is returned behind it."""
    if isinstance(last, ast.Break):
        return True
    following = source.following(loop)[:1]
    return isinstance(last, ast.Return) and [ast.dump(last)] == [
        ast.dump(each) for each in following
    ]


class _Masked:
    """One loop, and what replaces parts of it."""

    def __init__(self, source: Source, loop: _Loop, branch: ast.If) -> None:
        self.source, self.loop, self.branch = source, loop, branch
        place = loop.body.index(branch)
        self.before, self.after = loop.body[:place], loop.body[place + 1 :]
        self.inside = branch.body[:-1]
        every = [*self.before, *self.inside, *self.after]
        refuse_leaving(loop, [branch.body[-1]])
        self.grown = grown_in(source, loop, [*self.before, *self.after])
        if self.grown and self._endless():
            raise Unclear(f"`{self.grown[0].name}` grows until data end the loop")
        growing = [each.statement for each in self.grown]
        for each in every:
            if each not in growing:
                self._refuse(each)
        self.taken = source.names
        later = read_later(source.function, loop)
        counters = _counters(loop, later) if not self._endless() else set()
        live = (later | read_again(loop)) - counters
        longer = {each.name for each in self.grown}
        if longer & set(_bound(self.inside)):
            raise Unclear("what grows is changed where the loop ends")
        self.kept = [name for name in _bound(every) if name in live and name not in longer]
        target = set(_bound([loop])) - set(_bound(loop.body))
        if target & later:
            raise Unclear("the loop's own variable is used behind it")
        known = source.bound_before(loop)
        unknown = [name for name in [*longer, *self.kept] if name not in known]
        first = {n for each in self.before for n in _names(each)}
        self.fresh = [] if self._endless() else [n for n in unknown if n in first - longer]
        """Names that each iteration binds before its test, and that have no value before."""
        unknown = [name for name in unknown if name not in self.fresh]
        if unknown:
            raise Unclear(f"`{unknown[0]}` has no value before the loop")
        self.done = free_name("_done", self.taken)
        self.torch = source.torch

    def pieces(self) -> list[Piece]:
        """The pieces that replace parts of the text."""
        source, loop, branch = self.source, self.loop, self.branch
        outer, at = source.indent(loop), source.indent(branch)
        device = self._device()
        starts = [f"{self.done} = {self.torch}.zeros((), dtype={self.torch}.bool{device})"]
        starts += [each.begun(self.torch, device) for each in self.grown]
        starts += [f"{name} = None" for name in self.fresh]
        text = "".join(f"{each}\n{outer}" for each in starts)
        found = [Piece(source.start(loop), source.start(loop), text), *self._cut(outer)]
        masked = [] if self._endless() else self.before
        found += self._block(masked)
        lines = []
        test = f"{_predicate(source.of(branch.test))}.reshape(())"
        if self.inside:
            stops = free_name("_stops", self.taken)
            lines.append(
                f"{stops} = {self.torch}.logical_and({test}, {self.torch}.logical_not({self.done}))"
            )
            names = [name for name in self.kept if name in _bound(self.inside)]
            lines += [f"{self._before(name)} = {name}" for name in names]
            for each in self.inside:
                if each.lineno == branch.lineno:
                    raise Unclear("the branch is on one line")
                text = source.of(each)
                if isinstance(each, ast.AugAssign):
                    text = self._out_of_place(each)
                if "\n" in text:
                    raise Unclear("a statement before the `break` spans lines")
                lines.append(text)
            lines += [
                f"{name} = {self.torch}.where({stops}, {name}, {self._before(name)})"
                for name in names
            ]
            test = stops  # what the test reads may have changed
        lines.append(f"{self.done} = {self.torch}.logical_or({self.done}, {test})")
        end = source.end(branch.body[-1])
        found.append(Piece(source.start(branch), end, f"\n{at}".join(lines)))
        found += self._block(self.after)
        if self._endless() and isinstance(loop, ast.While):
            going = f"{self.torch}.logical_not({self.done})"
            found.append(Piece(source.start(loop.test), source.end(loop.test), going))
        return found

    def _cut(self, indent: str) -> list[Piece]:
        """What grew is cut behind the loop."""
        lines, found = list[str](), list[Piece]()
        for each in self.grown:
            more, pieces = cut_behind(self.source, self.loop, each)
            lines += more
            found += pieces
        end = self.source.line_end(self.loop.body[-1])
        return [*found, Piece(end, end, "".join(f"\n{indent}{each}" for each in lines))]

    def _block(self, body: list[ast.stmt]) -> list[Piece]:
        """A part of the loop's body, whose results count only until the loop breaks."""
        if not body:
            return []
        source = self.source
        at = source.indent(body[0])
        names = [name for name in self.kept if name in _bound(body)]
        found = []
        for each in body:
            for node in ast.walk(each):
                if isinstance(node, ast.AugAssign):
                    start, end = source.start(node), source.end(node)
                    found.append(Piece(start, end, self._out_of_place(node)))
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Subscript):
                value, target = each.value, source.of(each.targets[0])
                text = f"{self.torch}.where({self.done}, {target}, {source.of(value)})"
                found.append(Piece(source.start(value), source.end(value), text))
        head = "".join(f"{self._before(name)} = {name}\n{at}" for name in names)
        tail = "".join(f"\n{at}{name} = {self._kept_or_new(name)}" for name in names)
        longer = [each for each in self.grown if each.statement in body]
        tail += "".join(f"\n{at}{each.counted(self.torch, self.done)}" for each in longer)
        start, end = source.start(body[0]), source.line_end(body[-1])
        return [*found, Piece(start, start, head), Piece(end, end, tail)]

    def _kept_or_new(self, name: str) -> str:
        """The value of a name: that from before, once the loop has ended."""
        before = self._before(name)
        made = f"{self.torch}.where({self.done}, {before}, {name})"
        return f"{name} if {before} is None else {made}" if name in self.fresh else made

    def _out_of_place(self, node: ast.AugAssign) -> str:
        """`h += y` as `h = h + (y)`, so that the value before it is kept."""
        first, last = out_of_place(self.source, node)
        return f"{first.text}{self.source.of(node.value)}{last.text}"

    def _before(self, name: str) -> str:
        return free_name(f"_{name.strip('_')}_before", self.taken)

    def _endless(self) -> bool:
        """Whether the loop is `while True`."""
        loop = self.loop
        return (
            isinstance(loop, ast.While)
            and isinstance(loop.test, ast.Constant)
            and bool(loop.test.value)
        )

    def _device(self) -> str:
        """The device of a tensor that the loop carries, or makes longer."""
        for grown in self.grown:
            if grown.dim is not None:
                return f", device={grown.name}.device"
        for name in [each for each in self.kept if each not in self.fresh]:
            if not is_number(assigned_before(self.source, self.loop, name)):
                return f", device={name}.device"
        return ""

    def _refuse(self, statement: ast.stmt) -> None:
        """Raises Unclear for a statement whose effect is not on names or elements."""
        plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        own = lists_within(self.loop)
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                whole = plain and isinstance(statement, ast.Assign) and statement.targets[0] is node
                if isinstance(node, ast.Attribute) or not whole:
                    raise Unclear(f"the loop writes to `{ast.unparse(node)}`")
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
                called = node.value.func if isinstance(node.value, ast.Call) else None
                into = called.value if isinstance(called, ast.Attribute) else None
                adds = getattr(called, "attr", "") == "append"
                if not adds or not isinstance(into, ast.Name) or into.id not in own:
                    raise Unclear(f"the loop runs `{ast.unparse(node)}` for its effect")


def _bound(body: list[ast.stmt] | list[_Loop]) -> list[str]:
    """The names that statements bind, those of comprehensions left out."""
    inner = {
        id(node)
        for each in body
        for made in ast.walk(each)
        if isinstance(made, ast.comprehension)
        for node in ast.walk(made.target)
    }
    names = [
        node.id
        for each in body
        for node in ast.walk(each)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in inner
    ]
    return list(dict.fromkeys(names))


def _names(statement: ast.stmt) -> list[str]:
    """The names that a plain assignment binds."""
    if not isinstance(statement, ast.Assign):
        return []
    targets = [
        inner
        for each in statement.targets
        for inner in (each.elts if isinstance(each, ast.Tuple) else [each])
    ]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _counters(loop: _Loop, later: set[str]) -> set[str]:
    """Names that count the iterations of a `while` loop by plain numbers, for its own test."""
    if not isinstance(loop, ast.While):
        return set()
    asked = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
    counted = {
        each.target.id
        for each in loop.body
        if isinstance(each, ast.AugAssign)
        and isinstance(each.target, ast.Name)
        and is_number(each.value)
    }
    if asked & counted & later:
        raise Unclear("what the loop counts is used behind it")
    return asked & counted


def _predicate(test: str) -> str:
    """A test's text as a tensor in brackets."""
    made = predicate(cst.parse_expression(test))
    return f"({cst.Module(body=[]).code_for_node(made)})"
