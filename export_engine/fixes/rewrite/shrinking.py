"""A loop that takes the first of what is left, and drops others by a test: non-maximum suppression.

`while order.numel() > 0` changes length in each iteration. Over all elements, with a mask of
those left, it keeps one length, and becomes a scan like other loops.
"""

from __future__ import annotations

import ast
from typing import Any

from export_engine.fixes.code.text_edits import CannotRewrite, last_name
from export_engine.fixes.rewrite.analysis import Liveness, is_in_place
from export_engine.fixes.rewrite.emit import emit
from export_engine.fixes.rewrite.form import (
    Block,
    Function,
    Namer,
    as_tuple,
    change_blocks,
    change_children,
    find_loaded,
    find_names,
    find_stored,
    let,
    load,
    mark,
)
from export_engine.fixes.rewrite.selected import find_mask

NO_ELEMENT = "stack expects a non-empty TensorList"
"""Begins the error of `torch.stack([])`."""
_LENGTHS = ("{}.numel()", "len({})", "{}.shape[0]", "{}.size(0)")
_SOME = ("{} > 0", "{} != 0", "{} >= 1", "{}", "0 < {}")
_ONE = ("{} == 1", "{} <= 1", "{} < 2")
_NONE = ("{} == 0", "{} < 1", "not {}")
_OF_ALL = frozenset(
    {
        *("sum", "mean", "max", "min", "any", "all", "prod", "std", "var", "norm", "softmax"),
        *("cumsum", "sort", "argsort", "topk", "argmax", "argmin", "amax", "amin", "median"),
        *("size", "numel", "len", "cumprod", "unique", "flip", "roll"),
    }
)
"""How an element's value may depend on the others."""


def loop_with_mask(function: Function) -> tuple[Function, str]:
    """A function whose loops over what is left go over all elements; the same without any.

    Beside it a text of which each iteration also computes every second element by itself, and
    raises an error where that differs: an element's value is of the others as well, then.

    Raises:
        CannotRewrite: such a loop does more.
    """
    forms = [_with_mask(function, is_probed) for is_probed in (False, True)]
    same = forms[0] is function
    return forms[0], "" if same else emit(forms[1], forms[1].node.body)


def _with_mask(function: Function, is_probed: bool) -> Function:
    names = Namer(find_names(function.node))

    def replace(node: ast.stmt) -> Block:
        if isinstance(node, ast.While) and not node.orelse:
            stored = sorted(find_loaded(node.test) & find_stored(*node.body))
            for queue in (name for name in stored if _asks(node.test, name, _SOME)):
                try:
                    return _Masked(function.node, node, queue, names).find_loop(is_probed)
                except CannotRewrite as reason:
                    raise CannotRewrite(
                        f"`{queue}` changes length every iteration, while_loop and scan require "
                        f"fixed shapes, and a mask does not help: {reason}"
                    ) from reason
        return [change_blocks(node, replace, lambda part: part)]

    return function.with_body([new for old in function.node.body for new in replace(old)])


def _asks(test: ast.expr, name: str, forms: tuple[str, ...]) -> bool:
    text = ast.unparse(test)
    return any(text == form.format(length.format(name)) for form in forms for length in _LENGTHS)


class _Masked:
    """One loop, what each of its statements is, and the other loop."""

    def __init__(
        self, function: ast.FunctionDef, loop: ast.While, queue: str, names: Namer
    ) -> None:
        self.function, self.loop, self.queue, self.names = function, loop, queue, names
        self.heads: set[str] = set()
        self.rest: set[str] = set()
        """Names of all but the first."""
        self.tests: dict[str, ast.expr] = {}
        """Names of the indices at which a test holds, and that test."""
        self.mask: ast.expr | None = None
        """The test of what stays."""
        self.is_cut = False
        self.into = ""
        self.kept: list[tuple[ast.stmt, str, ast.expr]] = []
        """The values of an iteration: the statement, the name and the value."""
        self.ordered: dict[str, str] = {}
        """By tensor: its name in the order of what is left; scan takes no two views of one."""
        self.some = ""
        """The name of a mask of some elements, where only they are computed."""
        self.turn = names.new("t")

    @property
    def computed(self) -> set[str]:
        """The names of what an iteration computes."""
        return {name for _, name, _ in self.kept}

    # -- what the statements are ----------------------------------------------------------------

    def _read(self, node: ast.stmt) -> None:
        match node:
            case _ if self.mask is not None:
                raise CannotRewrite("the loop continues after its filter")
            case ast.If(test, [ast.Break()], []):
                if _asks(test, self.queue, _NONE if self.is_cut else _ONE):
                    return
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "append"), [value])):
                if self.into or not self.is_head(value):
                    raise CannotRewrite("the loop collects something other than the first element")
                self.into = name
                return
            case ast.Assign([ast.Name(id=name)], value):
                if self.is_head(value):
                    self.heads.add(name)
                elif name == self.queue:
                    self._shrink(value)
                elif self.is_rest(value):
                    self.rest.add(name)
                elif (asked := _find_test(value)) is not None:
                    self.tests[name] = asked
                else:
                    self.kept.append((node, name, value))
                return
        raise CannotRewrite(f"the loop runs `{ast.unparse(node).splitlines()[0]}`")

    def is_head(self, node: ast.expr) -> bool:
        """Whether a value is the first of what is left."""
        match node:
            case ast.Call(ast.Attribute(inner, "item"), []) | ast.Call(ast.Name("int"), [inner]):
                return self.is_head(inner)
            case ast.Name(id=name):
                return name in self.heads
        return not self.is_cut and ast.unparse(node) == f"{self.queue}[0]"

    def is_rest(self, node: ast.expr) -> bool:
        """Whether a value is all but the first."""
        text = ast.unparse(node)
        return text in self.rest or text == (self.queue if self.is_cut else f"{self.queue}[1:]")

    def _shrink(self, value: ast.expr) -> None:
        """`order = order[1:]`, or what drops others by a test."""
        if self.is_rest(value) and not self.is_cut:
            self.is_cut = True
            return
        test: ast.expr | None = None
        match value:
            case ast.Subscript(ast.Name(id=of), ast.BinOp(ast.Name(id=name), ast.Add(), one)):
                if of == self.queue and not self.is_cut and ast.unparse(one) == "1":
                    test = self.tests.get(name)
            case ast.Subscript(of_rest, index) if self.is_rest(of_rest):
                name = index.id if isinstance(index, ast.Name) else ""
                test = self.tests.get(name) or _find_test(index) or index
        if test is None or not self._is_test(test):
            raise CannotRewrite(f"`{self.queue}` is not filtered by a test")
        self.mask = test

    def _is_test(self, node: ast.expr) -> bool:
        """Whether a value is a comparison, so that it selects and does not index."""
        match node:
            case ast.UnaryOp(ast.Invert(), inner):
                return self._is_test(inner)
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr(), right):
                return self._is_test(left) and self._is_test(right)
            case ast.Name(id=name):
                values = [value for _, own, value in self.kept if own == name]
                return len(values) == 1 and self._is_test(values[0])
        return isinstance(node, ast.Compare)

    # -- the other loop -------------------------------------------------------------------------

    def find_loop(self, is_probed: bool) -> Block:
        """The loop over all elements, and what it needs before."""
        loop, queue, turn = self.loop, self.queue, self.turn
        for statement in loop.body:
            self._read(statement)
        if self.mask is None or not self.into:
            raise CannotRewrite("the loop collects nothing, or drops nothing")
        if carried := Liveness.of([n for n, _, _ in self.kept], set()) & self.computed:
            raise CannotRewrite(f"`{min(carried)}` is carried to the next iteration")
        if not any(_begins(node, self.into) for node in ast.walk(self.function)):
            raise CannotRewrite(f"`{self.into}` does not start as an empty list")
        reads = (n for n in ast.walk(self.function) if isinstance(n, ast.Name))
        later = {n.id for n in reads if n.lineno > (loop.end_lineno or 0)}
        if later & (find_stored(*loop.body) - {self.into}):
            raise CannotRewrite("a value of an iteration is used after the loop")
        here, left, first = map(self.names.new, ("here", "left", "is_first"))
        body = [mark(let(n, self._over_all(value)), node) for node, n, value in self.kept]
        mask = ast.unparse(self._over_all(self.mask))
        probes = self._find_probes(here) if is_probed else []
        ordered = [f"{name} = {tensor}[{queue}]" for tensor, name in self.ordered.items()]
        texts = [
            f"{here} = torch.arange({queue}.shape[0], device={queue}.device)",
            f"{left} = torch.ones_like({here}, dtype=torch.bool)",
            *ordered,
            f"for {turn} in range({queue}.shape[0]):",
            f"    {first} = ({left} & ({here} == {turn})).any()",
            *probes,
            f"    {left} = torch.where({first}, {left} & (({mask}) | ({here} <= {turn})), {left})",
            f"    if {first}:",
            f"        {self.into}.append({queue}[{turn}])",
        ]
        tree = ast.parse("\n".join(texts))
        for number, node in enumerate(ast.walk(tree)):
            mark(ast.copy_location(node, loop), loop, f"over {number}")
        whole = tree.body[-1]
        assert isinstance(whole, ast.For)
        whole.body[1:1] = body
        return tree.body

    def _over_all(self, node: ast.AST) -> Any:
        """A value with the first as an element, and the rest as all; it may not depend on more."""
        match node:
            case ast.Name(id=name) if self.some and name in self.computed:
                return load(f"{name}_{self.some}")
            case ast.Subscript(ast.Name() | ast.Attribute() as of, index, ast.Load()) if (
                not self.is_rest(node)
            ):
                if (rows := self._take(of, index)) is not None:
                    return mark(rows, node)
        self._refuse(node)
        return change_children(node, self._over_all)

    def _take(self, of: ast.expr, index: ast.expr) -> ast.expr | None:
        """`x[i]`, `x[i, 0]` and `x[order[1:]]` of all elements; None for another element."""
        first, *more = index.elts if isinstance(index, ast.Tuple) else [index]
        if any(self._varies(part) for part in more):
            return None
        taken: ast.expr | None = None
        if self.is_head(first):
            taken = load(self.turn)
        elif isinstance(first, ast.Slice) and first.lower is not None and first.upper is not None:
            low, high = ast.unparse(first.lower), ast.unparse(first.upper)
            if self.is_head(first.lower) and high == f"{low} + 1" and first.step is None:
                next_one = ast.BinOp(load(self.turn), ast.Add(), ast.Constant(1))
                taken = ast.Slice(load(self.turn), next_one)
        elif self.is_rest(first):
            taken = load(self.some) if self.some else ast.Slice()
        if taken is None:
            return None
        text = ast.unparse(of)
        if text not in self.ordered:
            word = "".join(c if c.isalnum() else "_" for c in text).strip("_")
            self.ordered[text] = self.names.new(f"{word}_in_order")
        rows = load(self.ordered[text])
        is_whole = isinstance(taken, ast.Slice) and taken.lower is None and not more
        return rows if is_whole else ast.Subscript(rows, as_tuple([taken, *more]), ast.Load())

    def _varies(self, node: ast.expr) -> bool:
        """Whether a value depends on what is left."""
        return bool(find_loaded(node) & {self.queue, *self.heads, *self.rest, *self.tests})

    def _refuse(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and self._varies(node):
            raise CannotRewrite(f"`{node.id}` is used for more than indexing")
        if isinstance(node, ast.NamedExpr | ast.Lambda | ast.IfExp | ast.BoolOp | ast.Await):
            raise CannotRewrite("a value is not computed in every iteration")
        if not isinstance(node, ast.Call):
            return
        name, text = last_name(node.func), ast.unparse(node)
        if is_in_place(name):
            raise CannotRewrite(f"`{text}` changes a value in place")
        if name in _OF_ALL:
            is_torch = ast.unparse(node.func) == f"torch.{name}"
            dims = [*node.args[is_torch:], *(k.value for k in node.keywords)]
            of_row = bool(dims) and ast.unparse(dims[0]) in ("1", "-1")
            of_two = is_torch and name in ("max", "min") and len(node.args) == 2
            of_two &= not node.keywords and ast.unparse(node.args[-1]) not in ("0", "-1")
            if not (of_row and name not in ("size", "len")) and not of_two:
                raise CannotRewrite(f"`{text}` may depend on all remaining elements")

    def _find_probes(self, here: str) -> list[str]:
        """Lines that compute some elements by themselves, and compare."""
        assert self.mask is not None
        nodes = [n for v in (*(v for _, _, v in self.kept), self.mask) for n in ast.walk(v)]
        sides = [s for n in nodes if isinstance(n, ast.Compare) for s in (n.left, *n.comparators)]
        values = [*(side for side in sides if not isinstance(side, ast.Constant)), self.mask]
        full = [*self.computed, *(ast.unparse(self._over_all(value)) for value in values)]
        self.some = some = self.names.new("some")
        lines = [f"{some} = {here} % 2 == 0"]
        lines += [f"{n}_{some} = {ast.unparse(self._over_all(v))}" for _, n, v in self.kept]
        halves = [f"{name}_{some}" for name in self.computed]
        halves += [ast.unparse(self._over_all(value)) for value in values]
        for whole, half in zip(full, halves, strict=True):
            lines += [
                f"if torch.is_tensor({whole}) and ({whole}).shape[:1] == {here}.shape:",
                f"    torch.testing.assert_close(({whole})[{some}], {half}, equal_nan=True)",
            ]
        return [f"    {line}" for line in lines]


def _find_test(node: ast.expr) -> ast.expr | None:
    """The test of whose indices a value is made; None for another value."""
    pair = find_mask(node)
    return pair[0] if pair is not None and pair[1] else None


def _begins(statement: ast.AST, name: str) -> bool:
    """Whether a statement binds a name to an empty list."""
    match statement:
        case ast.Assign([ast.Name(id=target)], ast.List(elts=[])):
            return target == name
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
            pairs = zip(targets, values, strict=False)
            return any(_begins(ast.Assign([one], its), name) for one, its in pairs)
    return False
