"""Plain numbers that a branch on data changes, `run += 1` or `triggered = True`, as tensors.

Python has to know a number; a tensor of one is computed at run time. The branch that changes them
can then be rewritten as any other. Only ints and bools: torch has them as Python has.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.assignments import out_of_place
from export_engine.fixes.code.editing.conditions import Unclear, predicate_text
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, branch_at

_Anchor = ast.For | ast.While | ast.If
_CLAMPS = {"max": ("maximum", "min"), "min": ("minimum", "max")}
_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


def numbers_as_tensors(text: str, line: int) -> tuple[Rewritten, int]:
    """The text with the plain numbers that the branch at a line changes as tensors.

    Returns:
        The text, and the line of the branch in it.

    Raises:
        Unclear: it changes none, or one is used in a way that only a number is.
    """
    source = Source(text, line)
    states = _States(source, branch_at(source, line))
    return source.changed(states.pieces()), line + len(states.starts)


class _States:
    """The numbers that the code around a branch changes."""

    def __init__(self, source: Source, branch: ast.If) -> None:
        self.source, self.torch = source, source.torch
        loops = [
            node
            for node in ast.walk(source.function)
            if isinstance(node, ast.For | ast.While) and branch in set(ast.walk(node))
        ]
        self.anchor: _Anchor = min(loops, key=lambda each: each.lineno, default=branch)
        if source.text.startswith("elif", source.start(self.anchor)):
            raise Unclear("an `elif` is reached only where the tests before it fail")
        self.counted = {name for each in loops for name in _counts(each)}
        self.starts = self._starts(branch)

    def _starts(self, branch: ast.If) -> dict[str, str]:
        """What the names begin with; those that the branch changes, and what goes with them."""
        changed = _changed(self.anchor)
        if isinstance(self.anchor, ast.While):
            changed -= _names(self.anchor.test)
        found = {
            name: value
            for name in sorted(changed)
            if (value := _number_before(self.source, self.anchor, name)) is not None
        }
        if not found.keys() & _changed(branch):
            raise Unclear("the branch changes no plain number")
        for node in ast.walk(self.anchor):
            if isinstance(node, ast.For) and found.keys() & _names(node.target):
                raise Unclear("a loop counts with a number that the branch changes")
        return found

    def pieces(self) -> list[Piece]:
        source, anchor = self.source, self.anchor
        at, indent = source.start(anchor), source.indent(anchor)
        begun = "".join(
            f"{name} = {self.torch}.tensor({value})\n{indent}"
            for name, value in self.starts.items()
        )
        return [Piece(at, at, begun), *self._inside(), *self._behind()]

    def _is_state(self, node: ast.AST) -> bool:
        return bool(_names(node) & self.starts.keys())

    def _inside(self) -> list[Piece]:
        """What changes the numbers, on tensors."""
        found: list[Piece] = []
        for node in ast.walk(self.anchor):
            if isinstance(node, ast.AugAssign) and self._is_state(node.target):
                if not isinstance(node.target, ast.Name) or not isinstance(node.op, _WHOLE):
                    raise Unclear(f"`{self.source.of(node)}` writes by a number that data change")
                found += out_of_place(self.source, node)
                if not _is_plain(node.value):
                    found += self._valued(node.value)
            elif isinstance(node, ast.Assign) and self._is_bound(node):
                if not isinstance(node.targets[0], ast.Name) or len(node.targets) > 1:
                    raise Unclear(f"`{self.source.of(node)}` binds several names")
                found += self._valued(node.value)
        return found

    def _is_bound(self, node: ast.Assign) -> bool:
        names = [each for target in node.targets for each in ast.walk(target)]
        stored = {n.id for n in names if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return bool(stored & self.starts.keys())

    def _valued(self, value: ast.expr) -> list[Piece]:
        """The value of a number as that of a tensor."""
        source = self.source
        start, end = source.start(value), source.end(value)
        match value:
            case _ if _is_plain(value) or (_names(value) and _names(value) <= self.counted):
                return [Piece(start, end, f"{self.torch}.tensor({source.of(value)})")]
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
                return [Piece(start, end, predicate_text(source.of(value)))]
            case ast.Call(func=ast.Name(id="max" | "min" as called), args=[one, other]):
                if value.keywords or self._is_state(value) is False:
                    return []
                return [Piece(start, end, self._clamped(called, one, other))]
            case ast.Name() | ast.Compare():
                return []
            case ast.BinOp(left=left, right=right) if isinstance(value.op, _WHOLE):
                for each in (left, right):
                    if not isinstance(each, ast.Name | ast.BinOp) and not _is_plain(each):
                        raise Unclear(f"`{source.of(value)}` may be more than an int")
                return []
        raise Unclear(f"`{source.of(value)}` may be more than an int")

    def _clamped(self, called: str, one: ast.expr, other: ast.expr) -> str:
        """`max(a, b)` of tensors, or of one and a number."""
        name, bound = _CLAMPS[called]
        first, second = self.source.of(one), self.source.of(other)
        if self._is_state(one) and self._is_state(other):
            return f"{self.torch}.{name}({first}, {second})"
        if self._is_state(other):
            first, second = second, first
        return f"{self.torch}.clamp({first}, {bound}={second})"

    def _behind(self) -> list[Piece]:
        """What uses the numbers behind the loop: their tensors, or their values."""
        found: list[Piece] = []
        last = self.anchor.end_lineno or 0
        for node in ast.walk(self.source.function):
            if getattr(node, "lineno", 0) <= last:
                continue
            if isinstance(node, ast.Call) and self._makes_a_tensor(node):
                found += self._as_tensor(node)
            elif isinstance(node, ast.Return) and node.value is not None:
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for each in values:
                    if isinstance(each, ast.Name) and each.id in self.starts:
                        end = self.source.end(each)
                        found.append(Piece(end, end, ".item()"))
        return found

    def _makes_a_tensor(self, node: ast.Call) -> bool:
        makers = (f"{self.torch}.tensor", f"{self.torch}.as_tensor")
        return self.source.of(node.func) in makers and self._is_state(node)

    def _as_tensor(self, node: ast.Call) -> list[Piece]:
        source = self.source
        if len(node.args) != 1:
            raise Unclear(f"`{source.of(node)}` has more than a number")
        given = node.args[0]
        values = given.elts if isinstance(given, ast.List | ast.Tuple) else [given]
        if not all(isinstance(each, ast.Name) and each.id in self.starts for each in values):
            raise Unclear(f"`{source.of(node)}` has other values, too")
        made = source.of(given)
        if len(values) > 1 or given is not values[0]:
            made = f"{self.torch}.stack([{', '.join(map(source.of, values))}])"
        more = ", ".join(map(source.of, node.keywords))
        made = f"{made}.to({more})" if more else made
        return [Piece(source.start(node), source.end(node), made)]


def _is_plain(value: ast.expr | None) -> bool:
    """Whether an int or a bool stands there."""
    inner = value.operand if isinstance(value, ast.UnaryOp) else value
    signed = not isinstance(value, ast.UnaryOp) or isinstance(value.op, ast.USub)
    return signed and isinstance(inner, ast.Constant) and type(inner.value) in (int, bool)


def _changed(statement: ast.stmt) -> set[str]:
    """The names that a statement's blocks assign, but for those that loops bind."""
    return {
        each.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign | ast.AugAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for each in ast.walk(target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _counts(loop: ast.For | ast.While) -> set[str]:
    """What a loop counts with: the `i` of `range` and `enumerate`."""
    called = getattr(getattr(getattr(loop, "iter", None), "func", None), "id", "")
    if not isinstance(loop, ast.For) or called not in ("range", "enumerate"):
        return set()
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
    return _names(first)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _number_before(source: Source, anchor: _Anchor, name: str) -> str | None:
    """The int or bool that a name is known to be where a loop, or a branch, begins.

    Only where it is given in the same block, or in the function's own, and nowhere between.
    """
    given: list[tuple[ast.stmt, ast.expr | None]] = []
    for node in ast.walk(source.function):
        if not isinstance(node, ast.stmt) or node.lineno >= anchor.lineno:
            continue
        if isinstance(node, ast.Assign):
            given += [(node, value) for value in _given(node, name)]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and name in _names(node.target):
            given.append((node, node.value if isinstance(node, ast.AnnAssign) else None))
    blocks = [source.function.body, *_blocks_with(source.function, anchor)]
    if not given:
        return None
    statement, value = max(given, key=lambda each: each[0].lineno)
    if not any(statement in block for block in blocks):
        return None
    otherwise = [  # as by a loop, or a `with`
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        if (statement.end_lineno or 0) < node.lineno < anchor.lineno
    ]
    if otherwise:
        return None
    return ast.unparse(value) if value is not None and _is_plain(value) else None


def _given(node: ast.Assign, name: str) -> list[ast.expr | None]:
    """The values that an assignment gives a name; None for one that is not known."""
    found: list[ast.expr | None] = []
    for target in node.targets:
        if isinstance(target, ast.Name) and target.id == name:
            found.append(node.value)
        elif isinstance(target, ast.Tuple) and name in _names(target):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else []
            pairs = zip(target.elts, values, strict=False)
            known = [v for t, v in pairs if isinstance(t, ast.Name) and t.id == name]
            found += known or [None]
    return found


def _blocks_with(function: ast.AST, statement: ast.stmt) -> list[list[ast.stmt]]:
    parts = (
        getattr(node, part, None) for node in ast.walk(function) for part in ("body", "orelse")
    )
    return [each for each in parts if isinstance(each, list) and statement in each]
