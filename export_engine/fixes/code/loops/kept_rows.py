"""A list of what data select, `if score[i] > 0.5: kept.append(x[i])`, as an index by a mask.

How many elements the list has is known at run time only. Every iteration adds its element, and its
test; behind the loop the tests select among the stacked elements, as eager's list has them.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.comprehensions import comprehension_as_loop, free_name
from export_engine.fixes.code.editing.conditions import Unclear, predicate_text
from export_engine.fixes.code.editing.liveness import stored
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.loops.kept_uses import Uses, uses_of
from export_engine.fixes.code.loops.list_starts import start_dropped
from export_engine.fixes.code.loops.row_values import RowValues

_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.While, ast.Try, ast.With)


class Kept(NamedTuple):
    """A text whose lists are tensors of what a mask selects."""

    made: Rewritten
    empty: tuple[tuple[str, str], ...]
    """Pairs of the text as it was and as it is made, in which a test has one answer: for each list
    whose empty case has a value of its own. Both have to compute the same."""
    untyped: bool = False
    """Whether an empty list becomes a tensor of floats in eager."""


def kept_by_mask(
    text: str, line: int, *, at_once: bool, nonempty: bool = False, asked: bool = False
) -> Kept:
    """The text with the lists that the test at a line appends to as tensors.

    Args:
        text: of the file.
        line: of the test, in a loop or in a list comprehension.
        at_once: whether to compute the mask of all elements, without the loop.
        nonempty: whether what would be a tensor of floats without an element is checked to have
            one.
        asked: whether what asks if a list is empty asks the tensor, and stays.

    Raises:
        Unclear: there is none, or a list is used in a way that no tensor has.
    """
    form = comprehension_as_loop(text, line, filtered=True)
    if form is not None:
        text, line = form.text, form.line + 1
    source = Source(text, line)
    return _Selection(source, line, nonempty, asked).kept(at_once=at_once)


def fills_a_list(text: str, line: int) -> bool:
    """Whether the test at a line decides what is appended to a list."""
    source = Source(text, line)
    for node in ast.walk(source.function):
        if isinstance(node, ast.If) and spans(node.test, line) and not node.orelse:
            return any(map(_is_append, node.body))
        if isinstance(node, ast.comprehension) and any(spans(each, line) for each in node.ifs):
            return True
    return False


class _Selection:
    """A branch that appends, the loops around it, and the lists."""

    def __init__(self, source: Source, line: int, nonempty: bool, asked: bool) -> None:
        self.source, self.nonempty, self.asked = source, nonempty, asked
        self.loops, self.branch = _found(source, line)
        self.taken = source.names
        self.ways = [self.branch.body, self.branch.orelse]
        self.before = [each for each in self.branch.body if not _is_append(each)]
        self.lists = [(way, _appended(way)) for way in self.ways]
        self.names = [name for _, found in self.lists for name, _ in found]
        if not self.names:
            raise Unclear("the branch appends to no list")
        if len(set(self.names)) < len(self.names):
            raise Unclear("the branch appends twice, or either way, to a list")
        for name in self.names:
            self._begins(name)
        self._refuse_effects()

    def kept(self, *, at_once: bool) -> Kept:
        """The text with the lists as tensors, and what has to be the same where one is empty."""
        source, test = self.source, self.branch.test
        pieces, empty = list[Piece](), list[tuple[str, str]]()
        uses = {name: self._uses(name) for name in self.names}
        for each in uses.values():
            pieces += each.pieces
        answers = ("False and", " & False"), ("True or", " | True")
        for (_, found), (asked, mask) in zip(self.lists, answers, strict=True):
            if any(uses[name].guarded for name, _ in found):
                start, end = source.start(test), source.end(test)
                theirs = source.changed([Piece(start, end, f"{asked} ({source.of(test)})")])
                ours = source.changed([*pieces, *self._made(at_once, mask)])
                empty.append((theirs.text, ours.text))
        untyped = any(each.untyped for each in uses.values())
        return Kept(source.changed([*pieces, *self._made(at_once)]), tuple(empty), untyped)

    def _uses(self, name: str) -> Uses:
        return uses_of(self.source, name, self.loops[0], asked=self.asked)

    def _made(self, at_once: bool, also: str = "") -> list[Piece]:
        """The loop as a selection.

        Args:
            at_once: without the loop.
            also: what the mask is combined with.
        """
        return self._at_once(also) if at_once else self._stacked(also)

    def _at_once(self, also: str) -> list[Piece]:
        """The loop as an index of whole tensors by one mask."""
        source, loop = self.source, self.loops[-1]
        if len(self.loops) > 1 or loop.body != [self.branch] or self.before:
            raise Unclear("the loop does more than to select")
        rows = RowValues(source, loop)
        test, indent = rows.of(self.branch.test) + self._as_bool(), source.indent(loop)
        mask = free_name("_kept", self.taken)
        lines = [f"{mask} = ({test}){also}" if also else f"{mask} = {test}"]
        for place, (_, found) in enumerate(self.lists):
            chosen = mask if place == 0 else f"~{mask}"
            lines += [f"{name} = {rows.of(value)}[{chosen}]" for name, value in found]
            lines += self._checks(found)
        text = f"\n{indent}".join(lines)
        starts = [start_dropped(source, loop, name) for name in self.names]
        made = Piece(source.start(loop), source.line_end(loop.body[-1]), text)
        return [made, *(each for each in starts if each is not None)]

    def _stacked(self, also: str) -> list[Piece]:
        """Every element appended, each with its test, and the selection behind the loops."""
        source, branch = self.source, self.branch
        at, outer = source.indent(branch), self.loops[0]
        mask, test = free_name("_kept", self.taken), predicate_text(source.of(branch.test))
        inside = [source.of(each) for each in self.before]
        inside += [f"{mask}.append(({test}){self._as_bool()}.reshape(()){also})"]
        inside += [source.of(each) for each in branch.body if _is_append(each)]
        inside += [source.of(each) for each in branch.orelse]
        indent, torch = source.indent(outer), source.torch
        after = []
        for place, (_, found) in enumerate(self.lists):
            chosen = f"{torch}.stack({mask})" if place == 0 else f"~{torch}.stack({mask})"
            for name, value in found:
                joined = "tensor" if self._counts(value) else "stack"
                after.append(f"{name} = {torch}.{joined}({name})[{chosen}]")
            after += self._checks(found)
        end = source.line_end(outer.body[-1])
        start = source.start(outer)
        return [
            Piece(start, start, f"{mask} = []\n{indent}"),
            Piece(source.start(branch), source.line_end(branch), f"\n{at}".join(inside)),
            Piece(end, end, "".join(f"\n{indent}{each}" for each in after)),
        ]

    def _counts(self, value: ast.expr) -> bool:
        """Whether a value is a plain number: the variable of a loop over numbers."""
        for loop in self.loops:
            called = getattr(getattr(loop.iter, "func", None), "id", "")
            target = loop.target
            if called == "enumerate" and isinstance(target, ast.Tuple):
                target = target.elts[0]
            if called in ("range", "enumerate") and ast.unparse(target) == ast.unparse(value):
                return True
        return False

    def _as_bool(self) -> str:
        """What makes the test a bool, which selects: a number would index."""
        test = self.branch.test
        asked = isinstance(test, ast.Compare | ast.BoolOp)
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        return "" if asked or negated else ".bool()"

    def _checks(self, found: list[tuple[str, ast.expr]]) -> list[str]:
        """`torch.stack` takes no empty list, so that eager fails where nothing is selected.

        `torch.tensor` makes floats of it, as no mask does.
        """
        for name, _ in found:
            uses = self._uses(name)
            if uses.fails_empty or (self.nonempty and uses.untyped):
                return [f"{self.source.torch}._check({name}.shape[0] > 0)"]
        return []

    def _begins(self, name: str) -> ast.stmt:
        """Where a list begins empty, before the outermost of the loops that fill it.

        Raises:
            Unclear: it does not, or the loops use it in another way.
        """
        while self.loops:
            block = next(each for each in _blocks(self.source.function) if self.loops[0] in each)
            before = block[: block.index(self.loops[0])]
            made = [each for each in before if name in stored(each, [])]
            if made:
                break
            self.loops.pop(0)
        else:
            raise Unclear(f"`{name}` does not start as an empty list before the loop")
        between = before[before.index(made[-1]) + 1 :]
        names = [
            node
            for each in [*between, self.loops[0]]
            for node in ast.walk(each)
            if isinstance(node, ast.Name) and node.id == name
        ]
        if not _is_empty(made[-1], name):
            raise Unclear(f"`{name}` does not start as an empty list before the loop")
        if len(names) > 1:
            raise Unclear(f"`{name}` is read while it is collected")
        return made[-1]

    def _refuse_effects(self) -> None:
        own = {n for each in self.before for n in stored(each, [])}
        outside = {
            n.id
            for n in ast.walk(self.source.function)
            if isinstance(n, ast.Name) and not spans(self.branch, n.lineno)
        }
        if own & outside:
            raise Unclear("the branch binds what is used elsewhere")
        for each in [*self.branch.body, *self.branch.orelse]:
            if not isinstance(each, ast.Assign) and not _is_append(each):
                raise Unclear(f"the branch runs `{ast.unparse(each).splitlines()[0]}`")
            for node in ast.walk(each):
                called = node.func if isinstance(node, ast.Call) else None
                name = called.attr if isinstance(called, ast.Attribute) else ""
                writes = isinstance(node, ast.Subscript | ast.Attribute)
                if writes and not isinstance(getattr(node, "ctx", None), ast.Load):
                    raise Unclear(f"the branch writes to `{ast.unparse(node)}`")
                if (name.endswith("_") and not name.endswith("__")) or name == "pop":
                    raise Unclear(f"`{ast.unparse(node)}` changes a value in place")


def _found(source: Source, line: int) -> tuple[list[ast.For], ast.If]:
    """The loops around the `if` whose test is at a line, outermost first, and that."""
    for branch in ast.walk(source.function):
        if not isinstance(branch, ast.If) or not spans(branch.test, line):
            continue
        around: list[ast.For] = []
        body: list[ast.stmt] = [branch]
        for loop in sorted(_around(source.function, branch), key=lambda each: -each.lineno):
            if body[0] not in loop.body or loop.orelse:
                break
            around.insert(0, loop)
            body = [loop]
        if not around:
            break
        if any(isinstance(node, _LEAVES) for node in ast.walk(around[0])):
            raise Unclear("the loop may be left, or go on, in another way")
        return around, branch
    raise Unclear("there is no `if` in a loop at that line")


def _around(function: ast.AST, branch: ast.If) -> list[ast.For]:
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.For) and any(each is branch for each in ast.walk(node))
    ]


def _blocks(function: ast.AST) -> list[list[ast.stmt]]:
    parts = (getattr(node, part, 0) for node in ast.walk(function) for part in ("body", "orelse"))
    return [each for each in parts if isinstance(each, list)]


def _is_empty(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives a name an empty list: `a = []`, `a, b = [], []`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return False
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=False)
        value = next((v for t, v in pairs if ast.unparse(t) == name), value)
    return ast.unparse(value) in ("[]", "list()")


def _is_append(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    called = call.func if isinstance(call, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "append"


def _appended(block: list[ast.stmt]) -> list[tuple[str, ast.expr]]:
    """The lists to which a block appends, each with the value."""
    found = []
    for each in block:
        if not _is_append(each):
            continue
        assert isinstance(each, ast.Expr)
        assert isinstance(each.value, ast.Call)
        assert isinstance(each.value.func, ast.Attribute)
        owner, args = each.value.func.value, each.value.args
        if not isinstance(owner, ast.Name) or len(args) != 1 or each.value.keywords:
            raise Unclear(f"`{ast.unparse(each)}` appends to no list of a name")
        found.append((owner.id, args[0]))
    return found
