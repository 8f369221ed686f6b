"""A loop that takes the first of what is left, and drops others by a test: non-maximum suppression.

`while order.numel() > 0` has another length in each iteration. Over all elements, with a mask of
those left, it keeps one length, and becomes a scan as any other loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from export_engine.attempt import Edit, Failed, Fix, Kind, NoFix, text_in_effect
from export_engine.fixes.code.eager_trials import agrees
from export_engine.fixes.code.text_edits import CannotRewrite, Piece, Source, free_name, spans
from export_engine.fixes.code.try_edit import (
    COSTS_GRADIENTS,
    leads_on,
    make_fix,
    try_without_gradients,
    with_edit,
)
from export_engine.fixes.rewrite.analysis import Liveness
from export_engine.fixes.rewrite.offer import in_mode
from export_engine.fixes.rewrite.rewriting import rewrite
from export_engine.progress import Progress, Report
from export_engine.source import original_file

_KINDS = (
    Kind.BRANCH_ON_DATA,
    Kind.BRANCH_ON_UNBACKED,
    Kind.OUTPUT_FROM_DATA,
    Kind.GRAPH_BREAK,
    Kind.LOOP_ON_DATA,
)
_TITLE = "Run the loop around line {line} over all elements, with a mask"
_WHY = (
    "The list of remaining elements changes length every iteration; a mask keeps one length. "
    "Checked against eager: the test of an element does not depend on others."
)
_GIVES_UP = (
    "Every iteration runs, including those that eager skips. The program rejects length 0 and "
    "runs only on backends that support scan."
)
_NO_ELEMENT = "stack expects a non-empty TensorList"
"""Begins the error of `torch.stack([])`."""
_LEFT = (
    "Cannot rewrite the loop around line {line}: `{name}` changes length every iteration; "
    "while_loop and scan require fixed shapes{why}."
)


def suggest_nms(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """The loop around a diagnosed line for all elements; or why it is left."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind not in _KINDS or not diagnosis.stack:
        return
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    name = shrinks(text, line)
    if not name:
        return
    title, said = _TITLE.format(line=place.line), partial(_LEFT.format, line=place.line, name=name)
    if progress:
        progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
    file = original_file(place.file)
    try:
        form, probed = over_all(text, line), over_all(text, line, probed=True)
        whole = Edit(file, text, form.text, (form.function,))
        compared = replace(whole, after=probed.text)
        if not agrees(request, compared, rejected=_NO_ELEMENT):
            yield NoFix(said(why=". A scan with a mask computes a different result"))
            return
        rewritten = rewrite(with_edit(request, whole), place.file, form.text, form.line)
    except CannotRewrite as reason:
        yield NoFix(said(why=f". A mask does not help: {reason}"))
        return
    edit = replace(whole, after=rewritten.edit.after)
    strict = request.strict or rewritten.needs_strict
    result, quiet = try_without_gradients(request.with_changes(strict=strict), edit)
    if result is None or not leads_on(result, diagnosis, edit):
        yield NoFix(said(why=". A scan with a mask does not export"))
        return
    yield make_fix(
        request,
        edit,
        result,
        title=title if strict == request.strict else f"{title}, and export in strict mode",
        why=_WHY,
        gives_up=f"{_GIVES_UP} {COSTS_GRADIENTS}" if quiet else _GIVES_UP,
        change=partial(in_mode, edit=edit, is_quiet=quiet, is_strict=rewritten.needs_strict),
        stack=diagnosis.stack,
    )


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
        bound = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name)]
        for name in {n.id for n in bound if isinstance(n.ctx, ast.Store)}:
            if _asks(loop.test, name, _SOME):
                return name
    return ""


def _asks(test: ast.expr, name: str, forms: tuple[str, ...]) -> bool:
    text = ast.unparse(test)
    return any(text == form.format(length.format(name)) for form in forms for length in _LENGTHS)


class QueueLoop:
    """One loop, and what each of its statements is; CannotRewrite is raised where it does more."""

    mask: ast.expr | None = None
    """The test of what stays."""

    def __init__(self, source: Source, loop: ast.While) -> None:
        self.source, self.loop = source, loop
        names = {n.id for n in ast.walk(loop.test) if isinstance(n, ast.Name)} - {"len"}
        self.queue = next((name for name in names if _asks(loop.test, name, _SOME)), "")
        if not self.queue:
            raise CannotRewrite("the loop does not run until no element is left")
        self.heads: set[str] = set()
        self.rest: set[str] = set()
        """Names of all but the first."""
        self.found: dict[str, ast.expr] = {}
        """Names of the indices at which a test holds, and that test."""
        self.is_cut = False
        self.into = ""
        self.dropped: list[ast.stmt] = []
        self.kept: list[ast.Assign] = []
        for statement in loop.body:
            if self.mask is not None:
                raise CannotRewrite("the loop continues after its filter")
            self._read(statement)
        if self.mask is None or not self.into:
            raise CannotRewrite("the loop collects nothing, or drops nothing")
        carried = Liveness.of(list(self.kept), set()) & self.names()
        if carried:
            raise CannotRewrite(f"`{min(carried)}` is carried to the next iteration")
        if not any(_begins(node, self.into) for node in ast.walk(source.function)):
            raise CannotRewrite(f"`{self.into}` does not start as an empty list")

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
            raise CannotRewrite(f"the loop runs `{ast.unparse(each).splitlines()[0]}`")
        if not isinstance(target, ast.Name):
            raise CannotRewrite(f"the loop writes to `{source.of(each.targets[0])}`")
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
            raise CannotRewrite(f"the loop runs `{ast.unparse(call)}` for its side effect")
        if self.into or len(call.args) != 1 or not self.is_head(call.args[0]):
            raise CannotRewrite(
                "the loop collects something other than the first remaining element"
            )
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
            raise CannotRewrite(f"`{self.queue}` is not filtered by a test")
        index = value.slice
        if isinstance(index, ast.BinOp) and ast.unparse(index.right) == "1":
            later = isinstance(index.op, ast.Add) and ast.unparse(value.value) == self.queue
            if not later or self.is_cut or not isinstance(index.left, ast.Name):
                raise CannotRewrite(f"`{self.queue}` is not filtered by a test")
            test = self.found.get(index.left.id)
        elif not self.is_rest(value.value):
            raise CannotRewrite(f"`{self.queue}` is not filtered by a test")
        else:
            expression = self.found.get(index.id) if isinstance(index, ast.Name) else None
            test = expression if expression is not None else self._where(index) or index
        if test is None or not self._is_test(test):
            raise CannotRewrite(f"`{self.queue}` is not filtered by a test")
        self.mask = test

    def _where(self, node: ast.expr) -> ast.expr | None:
        """The test of `torch.where(t)[0]`, and of `nonzero` in one dim; None for another value."""
        torch = self.source.torch
        match node:
            case ast.Subscript(value=ast.Call(args=[test], keywords=[]) as call, slice=place):
                if ast.unparse(call.func) == f"{torch}.where" and ast.unparse(place) == "0":
                    return test
            case ast.Call(func=ast.Attribute(value=inner, attr="squeeze" | "view" | "flatten")):
                result = inner if isinstance(inner, ast.Call) else None
                if result is not None and ast.unparse(result.func) == f"{torch}.nonzero":
                    return result.args[0] if len(result.args) == 1 else None
                if isinstance(result, ast.Call) and getattr(result.func, "attr", "") == "nonzero":
                    return result.func.value if isinstance(result.func, ast.Attribute) else None
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
                nodes = [n for n in self.kept if ast.unparse(n.targets[0]) == name]
                return len(nodes) == 1 and self._is_test(nodes[0].value)
        return False

    def names(self) -> set[str]:
        """The names of what an iteration computes."""
        return {ast.unparse(node.targets[0]) for node in self.kept}

    def varies(self, node: ast.expr) -> bool:
        """Whether a value depends on what is left."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return bool(names & {self.queue, *self.heads, *self.rest, *self.found})


_OF_ALL = frozenset(
    {
        *("sum", "mean", "max", "min", "any", "all", "prod", "std", "var", "norm", "softmax"),
        *("cumsum", "sort", "argsort", "topk", "argmax", "argmin", "amax", "amin", "median"),
        *("size", "numel", "len", "cumprod", "unique", "flip", "roll"),
    }
)
"""What an element's value may have of the others."""


class Masked(NamedTuple):
    """A text, the function that is changed, and the line of its loop, which is a `for`."""

    text: str
    function: str
    line: int


def over_all(text: str, line: int, *, probed: bool = False) -> Masked:
    """The text with the loop around a line going through all elements, with a mask of those left.

    Args:
        text: of the file.
        line: in the loop.
        probed: whether each iteration also computes every second element by itself, and raises an
            error where that differs: an element's value is of the others as well, then.

    Raises:
        CannotRewrite: there is none, or it does more.
    """
    source = Source(text, line)
    loops = [n for n in ast.walk(source.function) if isinstance(n, ast.While) and spans(n, line)]
    if len(loops) != 1 or loops[0].orelse:
        raise CannotRewrite("there is no `while` at that line")
    return _Shrinking(source, loops[0]).form(probed)


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
        for child in ast.walk(node):
            if id(child) in done or not isinstance(child, ast.expr):
                continue
            message = self._replace_use(child)
            if message is not None:
                pieces.append(Piece(source.start(child), source.end(child), message))
                done |= {id(inner) for inner in ast.walk(child)}
                continue
            self._refuse(child)
        start, end, text = source.start(node), source.end(node), source.text
        for piece in sorted(pieces, reverse=True):
            text = text[: piece.start] + piece.text + text[piece.end :]
            end += len(piece.text) - (piece.end - piece.start)
        return text[start:end]

    def _replace_use(self, node: ast.expr) -> str | None:
        """`x[i]`, `x[i, 0]` and `x[order[1:]]`, and a name of some; None for other nodes."""
        if self.some and isinstance(node, ast.Name) and node.id in self.names():
            return f"{node.id}{self.some}"
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            return None
        owner = node.value
        if not isinstance(owner, ast.Name | ast.Attribute) or self.is_rest(node):
            return None
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        first, more = (
            entries[0],
            "".join(f", {self.source.of(expression)}" for expression in entries[1:]),
        )
        if any(self.varies(expression) for expression in entries[1:]):
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
            word = "".join(t if t.isalnum() else "_" for t in text).strip("_")
            name = free_name(f"{word}_in_order", self.taken)
            self.taken.add(name)
            self.ordered[text] = name
        return self.ordered[text]

    def _refuse(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name) and self.varies(node):
            raise CannotRewrite(f"`{node.id}` is used for more than indexing")
        if isinstance(node, ast.NamedExpr | ast.Lambda | ast.IfExp | ast.BoolOp | ast.Await):
            raise CannotRewrite("a value is not computed in every iteration")
        called = node.func if isinstance(node, ast.Call) else None
        name = getattr(called, "attr", getattr(called, "id", ""))
        if isinstance(node, ast.Call) and name in _OF_ALL:
            two = name in ("max", "min") and len(node.args) == 2 and not node.keywords
            torch = isinstance(called, ast.Attribute) and ast.unparse(called.value) == "torch"
            dims = [*(node.args[1:] if torch else node.args), *(k.value for k in node.keywords)]
            other = dims and ast.unparse(dims[0]) in ("1", "-1") and name not in ("size", "len")
            if not (other or (two and torch and ast.unparse(node.args[1]) not in ("0", "-1"))):
                raise CannotRewrite(f"`{ast.unparse(node)}` may depend on all remaining elements")
        if name.endswith("_") and not name.endswith("__"):
            raise CannotRewrite(f"`{ast.unparse(node)}` changes a value in place")

    def _probe(self, here: str, inner: str) -> list[str]:
        """Lines that compute some elements by themselves, and compare."""
        torch = self.source.torch
        assert self.mask is not None
        pairs = [(ast.unparse(node.targets[0]), node.value) for node in self.kept]
        sides = [
            side
            for value in [*(node.value for node in self.kept), self.mask]
            for node in ast.walk(value)
            if isinstance(node, ast.Compare)
            for side in (node.left, *node.comparators)
            if not isinstance(side, ast.Constant)
        ]
        self.some = free_name("some", self.taken)
        lines = [f"{self.some} = {here} % 2 == 0"]
        lines += [f"{name}{self.some} = {self._text(value)}" for name, value in pairs]
        compared = [(name, f"{name}{self.some}") for name, _ in pairs]
        some = [self._text(expression) for expression in [*sides, self.mask]]
        self.some, mask = "", self.some
        full = [self._text(expression) for expression in [*sides, self.mask]]
        compared += [(f"({one})", f"({other})") for one, other in zip(full, some, strict=True)]
        for whole, part in compared:
            lines += [
                f"if {torch}.is_tensor({whole}) and {whole}.shape[:1] == {here}.shape:",
                f"    {torch}.testing.assert_close({whole}[{mask}], {part}, equal_nan=True)",
            ]
        return [f"{inner}{line}" for line in lines]

    def form(self, probed: bool) -> Masked:
        """The text with the other loop."""
        assert self.mask is not None
        source, loop, torch, queue = self.source, self.loop, self.source.torch, self.queue
        taken = self.taken
        here, left, first, turn = (free_name(t, taken) for t in ("here", "left", "is_first", "t"))
        indent = source.indent(loop)
        lines = [f"    {first} = ({left} & ({here} == {turn})).any()"]
        for node in self.kept:
            lines.append(f"    {source.of(node.targets[0])} = {self._text(node.value)}")
        lines += self._probe(here, "    ") if probed else []
        mask = f"({self._text(self.mask)}) | ({here} <= {turn})"
        lines += [
            f"    {left} = {torch}.where({first}, {left} & ({mask}), {left})",
            f"    if {first}:",
            f"        {self.into}.append({queue}[{turn}])",
        ]
        head = f"for {turn} in range({queue}.shape[0]):"
        lines = [
            f"{here} = {torch}.arange({queue}.shape[0], device={queue}.device)",
            f"{left} = {torch}.ones_like({here}, dtype={torch}.bool)",
            *(f"{name} = {tensor}[{queue}]" for tensor, name in self.ordered.items()),
            head,
            *lines,
        ]
        if any("\n" in line for line in lines):
            raise CannotRewrite("a statement spans several lines")
        text = f"\n{indent}".join(lines).replace(_TURN, turn)
        if any(n in self.list_bound_names() for n in self._read_later()):
            raise CannotRewrite("a value of an iteration is used after the loop")
        piece = Piece(source.start(loop), source.line_end(loop.body[-1]), text)
        changed = source.replace([piece])
        at = next(n for n, part in enumerate(changed.text.split("\n"), 1) if part.strip() == head)
        return Masked(changed.text, changed.function, at)

    def list_bound_names(self) -> set[str]:
        """The names that an iteration binds."""
        return {
            n.id
            for statement in self.loop.body
            for n in ast.walk(statement)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }

    def _read_later(self) -> set[str]:
        end = self.loop.end_lineno or 0
        return {
            n.id
            for n in ast.walk(self.source.function)
            if isinstance(n, ast.Name) and n.lineno > end and isinstance(n.ctx, ast.Load)
        }


def _begins(statement: ast.AST, name: str) -> bool:
    """Whether a statement binds a name to an empty list."""
    match statement:
        case ast.Assign([ast.Name(id=target)], ast.List(elts=[])):
            return target == name
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
            pairs = zip(targets, values, strict=False)
            return any(_begins(ast.Assign([one], its), name) for one, its in pairs)
    return False


_TURN = "\0"
"""Where the number of the iteration stands in a text."""
