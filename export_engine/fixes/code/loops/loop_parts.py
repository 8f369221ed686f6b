"""A Python loop over a dynamic length, taken apart: what it iterates, carries and collects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.liveness import follow, stored
from export_engine.fixes.code.editing.text_edits import Piece, Source

_LEAVES = (
    *(ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Try),
    *(ast.Raise, ast.Global, ast.Nonlocal, ast.Delete, ast.Import, ast.ImportFrom, ast.With),
)
WAYS = ("_then", "_otherwise")
"""Begin the names of functions that are the ways of a torch.cond."""


class Element(NamedTuple):
    """A part of each iteration that comes from a tensor."""

    target: str
    """The names that it is bound to in an iteration."""
    tensor: str
    """The tensor whose first dim is iterated, as an expression."""


class Range(NamedTuple):
    """The numbers that a loop counts through."""

    name: str
    """Of the loop's number."""
    start: str
    stop: str
    reverse: bool

    @property
    def first(self) -> int | None:
        """The first number, where it stands in the code."""
        return int(self.start) if self.start.isdigit() else None

    @property
    def length(self) -> str:
        """How many there are, as an expression."""
        return self.stop if self.first == 0 else f"({self.stop}) - ({self.start})"


def loop_at(source: Source, line: int) -> ast.For:
    """The loop at a line, or the one over what is unbound at that line.

    Raises:
        Unclear: there is none.
    """
    loops = [node for node in ast.walk(source.function) if isinstance(node, ast.For)]
    found = [each for each in loops if each.lineno <= line <= (each.iter.end_lineno or 0)]
    if not found:
        found = [
            each
            for each in loops
            if isinstance(each.iter, ast.Name)
            and (made := assigned(source.function, each.iter.id)) is not None
            and made.lineno <= line <= (made.end_lineno or 0)
        ]
    if not found:
        raise Unclear("there is no loop at that line")
    loop = max(found, key=lambda node: node.lineno)
    if loop.orelse or loop.body[0].lineno == loop.lineno:
        raise Unclear("the loop has an `else`, or is on one line")
    refuse_leaving(loop)
    return loop


def refuse_leaving(loop: ast.For | ast.While, allowed: Iterable[ast.stmt] = ()) -> None:
    """Raises Unclear for a loop that another function's body cannot hold.

    Args:
        loop: that is looked through.
        allowed: statements that may leave it.
    """
    known = list(allowed)
    for made in ast.walk(loop):
        if isinstance(made, ast.FunctionDef) and made.name.startswith(WAYS):
            known += [node for node in ast.walk(made) if isinstance(node, ast.stmt)]
    for node in ast.walk(loop):
        if isinstance(node, _LEAVES) and node not in known:
            raise Unclear(f"the loop has `{ast.unparse(node).split()[0]}`")
        if isinstance(node, ast.Name) and node.id == "super":
            raise Unclear("the loop calls super()")
        if isinstance(node, ast.NamedExpr | ast.ClassDef) or (
            isinstance(node, ast.FunctionDef) and node not in known
        ):
            raise Unclear("the loop binds names inside of an expression")


def iterated(source: Source, loop: ast.For) -> tuple[Range | None, list[Element]]:
    """What a loop counts, and the tensors whose elements it binds.

    Raises:
        Unclear: it iterates something else.
    """
    called = _called(loop.iter)
    counted = _counted(loop.iter)
    if counted is not None:
        if not isinstance(loop.target, ast.Name):
            raise Unclear("the loop's number is unpacked")
        return _range(source, loop.target.id, *counted), []
    if called == "enumerate":
        assert isinstance(loop.iter, ast.Call)
        if len(loop.iter.args) != 1 or not isinstance(loop.target, ast.Tuple):
            raise Unclear("enumerate does not start at 0")
        index, value = loop.target.elts
        if not isinstance(index, ast.Name):
            raise Unclear("the loop's number is unpacked")
        elements = _elements(source, value, loop.iter.args[0])
        count = f"{bracketed(elements[0].tensor)}.shape[0]"
        return Range(index.id, "0", count, False), elements
    listed = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    if isinstance(listed, ast.Attribute) and listed.attr == "tolist":
        made = listed.value
        if not isinstance(made, ast.Call) or source.of(made.func) != f"{source.torch}.arange":
            raise Unclear("the loop is over numbers that a tensor holds")
        if made.keywords or not isinstance(loop.target, ast.Name):
            raise Unclear("the loop's number is unpacked")
        return _range(source, loop.target.id, made, False), []
    return None, _elements(source, loop.target, loop.iter)


def _called(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else None
    return called.id if isinstance(called, ast.Name) else ""


def _counted(node: ast.expr) -> tuple[ast.Call, bool] | None:
    """The `range` behind what is iterated, and whether backwards; None where there is none."""
    if isinstance(node, ast.Call) and _called(node) == "range":
        return node, False
    turned = _turned(node)
    inner = turned if turned is not None else node
    if isinstance(inner, ast.Call) and _called(inner) in ("list", "tuple") and inner.args:
        inner = inner.args[0]
    if inner is node:
        return None
    found = _counted(inner)
    return (found[0], found[1] != (turned is not None)) if found is not None else None


def _turned(node: ast.expr) -> ast.expr | None:
    """What `reversed(x)`, or `x[::-1]`, goes through backwards; None for something else."""
    if isinstance(node, ast.Call) and _called(node) == "reversed" and len(node.args) == 1:
        return node.args[0]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return node.value if ast.unparse(node.slice) == "::-1" else None
    return None


def _range(source: Source, index: str, node: ast.Call, reverse: bool) -> Range:
    texts = [source.of(each) for each in node.args]
    match texts:
        case [stop]:
            return Range(index, "0", stop, reverse)
        case [start, stop]:
            return Range(index, start, stop, reverse)
        case [start, "-1", "-1"] if not reverse:
            last = node.args[0]
            if isinstance(last, ast.BinOp) and ast.unparse(last).endswith(" - 1"):
                return Range(index, "0", source.of(last.left), True)
    raise Unclear("the loop counts in steps")


def _elements(source: Source, target: ast.expr, value: ast.expr) -> list[Element]:
    if _called(value) == "zip" and isinstance(value, ast.Call):
        if not isinstance(target, ast.Tuple) or len(target.elts) != len(value.args):
            raise Unclear("zip's elements are not unpacked")
        pairs = zip(target.elts, value.args, strict=True)
        return [each for name, inner in pairs for each in _elements(source, name, inner)]
    turned = _turned(value)
    if turned is not None:
        return [
            Element(name, f"{tensor}.flip(0)") for name, tensor in _elements(source, target, turned)
        ]
    if not isinstance(target, ast.Name):
        raise Unclear("an element is unpacked")
    if isinstance(value, ast.Name):
        before = assigned(source.function, value.id)
        if before is not None and unbound(source, before.value) is not None:
            return [Element(target.id, value.id)]
    made = unbound(source, value) or _listed(source, value)
    if made is None and isinstance(value, ast.Call) and _last_name(value.func) in _PIECES:
        raise Unclear(f"the pieces of `{source.of(value)}` need not be of one length")
    return [Element(target.id, made or source.of(value))]


def _listed(source: Source, value: ast.expr) -> str | None:
    """The tensor of `n.tolist()`: its elements are tensors of one number each."""
    called = value.func if isinstance(value, ast.Call) and not value.args else None
    listed = isinstance(called, ast.Attribute) and called.attr == "tolist"
    return source.of(called.value) if listed and isinstance(called, ast.Attribute) else None


_PIECES = ("split", "chunk", "tensor_split", "split_with_sizes")


def _last_name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def unbound(source: Source, value: ast.expr) -> str | None:
    """`x.unbind(1)` as a tensor that iterates the same; None for another expression."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    args = [source.of(each) for each in value.args] + [
        source.of(each.value) for each in value.keywords if each.arg == "dim"
    ]
    owner = source.of(value.func.value)
    if owner == source.torch and args:
        owner, *args = args
    if value.func.attr == "unbind":
        dim = args[0] if args else "0"
        return owner if dim == "0" else f"{owner}.movedim({dim}, 0)"
    if value.func.attr == "split" and args and args[0] == "1":
        dim = args[1] if len(args) > 1 else "0"
        return f"{owner}.movedim({dim}, 0).unsqueeze({dim}{' + 1' if '-' not in dim else ''})"
    return None


class Names(NamedTuple):
    """The names that a loop's body binds."""

    bound: list[str]
    """All of them, in order."""
    live: set[str]
    """Those that an iteration reads before it binds them."""
    certain: set[str]
    """Those that every iteration binds."""
    written: list[str]
    """Names whose value is written to: `h[0] = x`, `h.mul_(x)`."""


def names_of(body: Iterable[ast.stmt], apart: Iterable[ast.stmt]) -> Names:
    """The names of a body.

    Args:
        body: of the loop.
        apart: its statements that collect an output, whose targets do not count.
    """
    live: set[str] = set()
    skipped = list(apart)
    certain = follow(body, set(), live, skipped)
    bound = [name for each in body for name in stored(each, skipped)]
    written = [name for each in body for name in _written(each, skipped)]
    live |= set(written)
    return Names(list(dict.fromkeys(bound)), live, certain, list(dict.fromkeys(written)))


def _written(node: ast.AST, apart: list[ast.stmt]) -> Iterator[str]:
    """Names of what a statement writes to; raises Unclear for what it writes besides."""
    for each in ast.walk(node) if node not in apart else ():
        target: ast.expr | None = None
        if isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store):
            target = each
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            called = each.value.func
            name = called.attr if isinstance(called, ast.Attribute) else ""
            if not name.endswith("_") or name.endswith("__"):
                raise Unclear(f"the loop runs `{ast.unparse(each)}` for its effect")
            assert isinstance(called, ast.Attribute)
            target = called.value
        if target is None:
            continue
        root = target
        while isinstance(root, ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name):
            raise Unclear(f"the loop writes to `{ast.unparse(target)}`")
        yield root.id


def bracketed(text: str) -> str:
    """An expression in brackets, unless they would change nothing before an attribute."""
    whole = ast.Name | ast.Attribute | ast.Call | ast.Subscript
    return text if isinstance(ast.parse(text, mode="eval").body, whole) else f"({text})"


def with_head_changed(
    text: str,
    line: int,
    pieces_of: Callable[[Source, ast.For | ast.comprehension], list[Piece]],
) -> str:
    """The text with the loop, or the comprehension, whose head is at a line changed.

    Args:
        text: of the file.
        line: of what the loop goes through.
        pieces_of: the changes of a loop; none for one that is left as it is.
    """
    try:
        source = Source(text, line)
    except Unclear:
        return text
    for loop in ast.walk(source.function):
        if isinstance(loop, ast.For | ast.comprehension) and loop.iter.lineno == line:
            pieces = pieces_of(source, loop)
            if pieces:
                return source.changed(pieces).text
    return text
