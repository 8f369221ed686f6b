"""What a loop carries from one iteration to the next, and what it collects."""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.liveness import nodes_about, read_later
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.editing.views import may_be_view
from export_engine.fixes.code.loops.loop_indexing import Indexed, asked_for_kind, indexed
from export_engine.fixes.code.loops.loop_parts import Names, iterated, names_of, unbound


class Output(NamedTuple):
    """What an iteration gives that is collected."""

    name: str
    """Of its stacked values."""
    statement: ast.stmt
    """That collects it."""
    value: ast.expr
    into: str
    """The list, or the preallocated tensor, as an expression."""
    place: Indexed | None
    """Where in the tensor; None for a list."""
    in_front: bool = False
    """Whether it goes to the front of the list: `outs.insert(0, out)`."""


class LoopState:
    """One loop of a function, understood; Unclear is raised where it cannot be."""

    def __init__(self, source: Source, loop: ast.For, unrolled: bool) -> None:
        self.source, self.loop = source, loop
        self.taken = source.names
        self.count, self.elements = iterated(source, loop)
        self.pieces = self._kept_whole()
        self.outputs = self._outputs()
        self.begun = {out.into for out in self.outputs if begins(source, loop, out.into)}
        """Lists that have elements before the loop."""
        self.names = names_of(loop.body, [each.statement for each in self.outputs])
        self.before = source.bound_before(loop)
        self.later = read_later(source.function, loop)
        self.carried, self.last = self._carried(self.names)
        self.unrolled = unrolled or self._asks_for_first()
        self._refuse_parameters()

    def free(self, name: str) -> str:
        """A name like this one that the function does not use."""
        return free_name(name, self.taken)

    def _kept_whole(self) -> list[Piece]:
        """Tensors that are unbound before the loop, as tensors that iterate the same."""
        pieces = []
        for name in {n.id for n in ast.walk(self.loop.iter) if isinstance(n, ast.Name)}:
            made = assigned(self.source.function, name)
            whole = unbound(self.source, made.value) if made is not None else None
            if made is not None and whole is not None:
                start, end = self.source.start(made.value), self.source.end(made.value)
                pieces.append(Piece(start, end, whole))
        return pieces

    def _outputs(self) -> list[Output]:
        found: list[Output] = []
        for each in self.loop.body:
            into: ast.expr | None = None
            value: ast.expr | None = None
            place, in_front = None, False
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
                into, value, in_front = _collected(each.value)
            elif isinstance(each, ast.AugAssign) and isinstance(each.value, ast.List):
                into = each.target if len(each.value.elts) == 1 else None
                value = each.value.elts[0] if into is not None else None
            elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Subscript):
                target = each.targets[0]
                if self.count is not None and len(each.targets) == 1:
                    place = indexed(self.source, target, self.count.name)
                if place is not None:
                    if any(
                        isinstance(n, ast.Constant) and n.value is None for n in ast.walk(target)
                    ):
                        raise Unclear(f"`{self.source.of(target)}` adds a dim")
                    into, value = target.value, each.value
            if into is None or value is None:
                continue
            if not isinstance(into, ast.Name) or any(out.into == into.id for out in found):
                raise Unclear(f"`{self.source.of(into)}` is collected in several places")
            name = self.free(f"_out{len(found)}")
            found.append(Output(name, each, value, into.id, place, in_front))
        inner = [n for each in self.loop.body for n in ast.walk(each)]
        asked = asked_for_kind(self.loop.body)
        for out in found:
            uses = [n for n in inner if isinstance(n, ast.Name) and n.id == out.into]
            uses = [n for n in uses if n not in asked] if out.place is not None else uses
            if len(uses) > 1:
                raise Unclear(f"`{out.into}` is read while it is collected")
        return found

    def _carried(self, names: Names) -> tuple[list[str], list[str]]:
        """What goes from one iteration to the next, and what only its last value is used of."""
        targets = {n.id for n in ast.walk(self.loop.target) if isinstance(n, ast.Name)}
        if targets & (self.later | set(names.bound)):
            raise Unclear("the loop's own variable is used or bound elsewhere")
        every = dict.fromkeys([*names.bound, *names.written])
        carried = [name for name in every if name in names.live]
        last = [name for name in every if name in self.later and name not in carried]
        if any(name not in names.certain for name in last):
            raise Unclear("a value that is used behind the loop is not bound in each iteration")
        return carried, last

    def _refuse_parameters(self) -> None:
        given = self.source.function.args
        names = {each.arg for each in [*given.posonlyargs, *given.args, *given.kwonlyargs]}
        written = [name for name in self.names.written if name in names]
        if written:
            raise Unclear(f"the loop writes to the argument `{written[0]}`")
        for out in self.outputs:
            known = out.place is not None or out.into in self.begun
            if not known and not _is_empty(self.source, out.into, self.loop):
                raise Unclear(f"`{out.into}` does not start as an empty list")

    def firsts(self) -> list[ast.Compare]:
        """Tests whether an iteration is the first."""
        count = self.count
        if count is None or count.reverse or count.first is None:
            return []
        return [
            node
            for each in self.loop.body
            for node in ast.walk(each)
            if isinstance(node, ast.Compare)
            and isinstance(node.left, ast.Name)
            and node.left.id == count.name
            and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.Gt)
            and isinstance(node.comparators[0], ast.Constant)
            and node.comparators[0].value == count.first
            and len(node.ops) == 1
        ]

    def _asks_for_first(self) -> bool:
        """Whether the first iteration is another: `if t == 0`, or a value that starts as None."""
        starts = [assigned_before(self.source, self.loop, name) for name in self.carried]
        plain = any(isinstance(each, ast.Constant) for each in starts)
        missing = any(name not in self.before for name in self.carried)
        return plain or missing or bool(self.firsts())

    def rebound(self, name: str) -> float:
        """The last line of the statement behind the loop that gives a list's name another value."""
        return rebound(self.source, self.loop, name)


def assigned_before(source: Source, loop: ast.For | ast.While, name: str) -> ast.expr | None:
    """The last value that a name is given before a loop; None where it is not a plain one."""
    found: list[tuple[int, ast.expr]] = []
    for node in nodes_about(source.function, name):
        if not isinstance(node, ast.Assign) or node.lineno >= loop.lineno:
            continue
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == name:
                found.append((node.lineno, node.value))
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                found += [
                    (node.lineno, value)
                    for each, value in zip(target.elts, node.value.elts, strict=False)
                    if isinstance(each, ast.Name) and each.id == name
                ]
    return max(found, key=lambda each: each[0])[1] if found else None


def _collected(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None, bool]:
    """The list that a call adds to, what it adds, and whether to the front; else None of both."""
    if isinstance(call.func, ast.Attribute) and not call.keywords:
        match call.func.attr, call.args:
            case "append", [value]:
                return call.func.value, value, False
            case "insert", [ast.Constant(value=0), value]:
                return call.func.value, value, True
    return None, None, False


def _is_empty(source: Source, name: str, loop: ast.For) -> bool:
    """Whether a name is an empty list where a loop begins."""
    made = assigned_before(source, loop, name)
    listed = isinstance(made, ast.List) and not made.elts
    called = isinstance(made, ast.Call) and ast.unparse(made) == "list()"
    uses = [
        n
        for n in nodes_about(source.function, name)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        if n.lineno < loop.lineno
    ]
    return (listed or called) and not uses


def begins(source: Source, loop: ast.For, name: str) -> int:
    """How many elements a list of a name is known to have where a loop begins; 0 if unknown."""
    made = assigned_before(source, loop, name)
    if not isinstance(made, ast.List) or any(isinstance(each, ast.Starred) for each in made.elts):
        return 0
    block = next((each for each in _blocks(source.function) if loop in each), [])
    added = [each for each in block if each.lineno < loop.lineno and _adds_to(each, name)]
    uses = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        if made.lineno < node.lineno < loop.lineno
    ]
    read = [
        node.value
        for node in ast.walk(source.function)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    ]
    plain = [use for use in uses if use not in read]
    return len(made.elts) + len(added) if len(plain) == len(added) else 0


def _blocks(function: ast.AST) -> list[list[ast.stmt]]:
    parts = (
        getattr(node, part, None) for node in ast.walk(function) for part in ("body", "orelse")
    )
    return [each for each in parts if isinstance(each, list)]


def _adds_to(statement: ast.stmt, name: str) -> bool:
    """Whether a statement is `outs.append(x)` of a list."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    into, _, _ = _collected(call) if isinstance(call, ast.Call) else (None, None, False)
    return isinstance(into, ast.Name) and into.id == name


def may_be_given(loop: ast.For | ast.While, name: str) -> bool:
    """Whether a loop may bind a name to what it was given, or to a view of that."""
    return any(
        any(binds(target, name) for target in node.targets)
        and any(
            may_be_view(value)
            for value in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
        )
        for each in loop.body
        for node in ast.walk(each)
        if isinstance(node, ast.Assign)
    )


def rebound(source: Source, loop: ast.For | ast.While, name: str) -> float:
    """The last line of the statement behind a loop that gives a name another value."""
    for each in source.following(loop):
        if isinstance(each, ast.Assign) and any(binds(target, name) for target in each.targets):
            return each.end_lineno or each.lineno
    return float("inf")


def binds(target: ast.expr, name: str) -> bool:
    """Whether a target of an assignment binds a name."""
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(target))
