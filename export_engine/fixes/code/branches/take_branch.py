"""One way of a branch, without its test; of one that pads or crops, the way that fits every size.

`if rest: x = pad(x, k - rest)` pads by `(k - rest) % k` for every size, `if rest == 0: return x, 0`
before it is needless then, and `if missing: x = x[:, :-missing]` crops down to `size - missing`.
What is missing is named as the user named it: that the rewrite is right is compared with eager.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from export_engine.fixes.code.calls.copied_slices import copy_slices, dims_of
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
    with_way,
)

Branch = ast.If | ast.IfExp


def find_branch(source: Source, line: int) -> tuple[ast.stmt, Branch]:
    """The `if` whose test is at a line, else the conditional expression, with its statement.

    Raises:
        CannotRewrite: there is none.
    """
    statements = [node for node in ast.walk(source.function) if isinstance(node, ast.stmt)]
    for statement in statements:
        if isinstance(statement, ast.If) and spans(statement.test, line):
            return statement, statement
    for statement in statements:
        if isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
            for part in ast.walk(statement):
                if isinstance(part, ast.IfExp) and spans(part.test, line):
                    return statement, part
    raise CannotRewrite("there is no branch at that line")


def list_ways(branch: Branch, taken: bool) -> tuple[Sequence[ast.AST], Sequence[ast.AST]]:
    """The statements, or the expression, of the way that is taken, and of the other one."""
    if isinstance(branch, ast.If):
        return (branch.body, branch.orelse) if taken else (branch.orelse, branch.body)
    ways = [branch.body], [branch.orelse]
    return ways if taken else ways[::-1]


def one_way(text: str, line: int, taken: bool) -> Rewritten:
    """The text with the branch at a line replaced by what it guards, or by what its `else` does.

    Args:
        text: of the file.
        line: of the test.
        taken: whether the branch is kept, without its test.

    Raises:
        CannotRewrite: there is none, what is left out raises an error, what is kept leaves the
            block, or a loop might not end without what is left out.
    """
    source = Source(text, line)
    branch = find_branch(source, line)[1]
    if any(isinstance(node, ast.NamedExpr | ast.Await) for node in ast.walk(branch.test)):
        raise CannotRewrite("the test binds a name")
    if isinstance(branch, ast.IfExp):
        kept_text = f"({source.of(branch.body if taken else branch.orelse)})"
        return source.replace([Piece(source.start(branch), source.end(branch), kept_text)])
    kept, dropped = (branch.body, branch.orelse) if taken else (branch.orelse, branch.body)
    if any(isinstance(node, ast.Raise) for statement in dropped for node in ast.walk(statement)):
        raise CannotRewrite("the other branch raises an error")
    if kept and isinstance(kept[-1], ast.Raise):
        raise CannotRewrite("the branch only raises")
    if _ends_a_loop(source, branch, dropped):
        raise CannotRewrite("the other branch may end a loop")
    leaves = (ast.Return, ast.Break, ast.Continue)
    if any(isinstance(node, leaves) for statement in kept for node in ast.walk(statement)):
        raise CannotRewrite("the branch leaves the block")
    return source.replace([with_way(source, branch, kept)])


def _ends_a_loop(source: Source, branch: ast.If, dropped: list[ast.stmt]) -> bool:
    """Whether a loop around a branch may go on for ever without one of its blocks."""
    around = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.For | ast.While) and branch in ast.walk(node)
    ]
    leaves = any(isinstance(n, ast.Break | ast.Return) for s in dropped for n in ast.walk(s))
    return any(isinstance(loop, ast.While) for loop in around) or (bool(around) and leaves)


def missing_to_multiple(text: str, line: int) -> Rewritten:
    """The text with `if rest: x = pad(x, k - rest)` always padded, by `(k - rest) % k`.

    So is `if n % 2: x = pad(x, 1)`, by `n % 2`, and `k - rest if rest else 0` is `(k - rest) % k`.

    Raises:
        CannotRewrite: there is no such branch.
    """
    source = Source(text, line)
    branch = find_branch(source, line)[1]
    rests = {ast.unparse(n) for n in ast.walk(branch.test) if isinstance(n, ast.Name | ast.BinOp)}
    for taken in (True, False):
        way = list_ways(branch, taken)[0]
        pieces = [*_wrap_differences(source, way, rests), *_pad_by_rest(source, branch, way)]
        if pieces:
            return one_way(source.replace(pieces).text, line, taken)
    raise CannotRewrite("that line computes no padding to a multiple")


def without_early_return(text: str, line: int) -> Rewritten:
    """The text without `if rest == 0: return x`, where what follows pads by `k - rest`.

    Raises:
        CannotRewrite: there is no such branch.
    """
    source = Source(text, line)
    branch = find_branch(source, line)[1]
    if (
        not isinstance(branch, ast.If)
        or branch.orelse
        or not isinstance(branch.body[-1], ast.Return)
    ):
        raise CannotRewrite("that line does not return early")
    named = {node.id for node in ast.walk(branch.test) if isinstance(node, ast.Name)}
    pieces = _wrap_differences(source, source.following(branch), named)
    if not pieces:
        raise CannotRewrite("no later line computes a padding to a multiple")
    return one_way(source.replace(pieces).text, line, False)


def crop_always(text: str, line: int) -> Rewritten:
    """The text with `if missing: x = x[:, :-missing]` always cropped, by a copy by index.

    So is `x[:, :-missing] if missing else x`.

    Raises:
        CannotRewrite: there is no such branch.
    """
    source = Source(text, line)
    branch = find_branch(source, line)[1]
    for taken in (True, False):
        way = list_ways(branch, taken)[0]
        pieces = [piece for part in way for piece in _find_ends(source, branch.test, part)]
        if pieces:
            rewritten = one_way(source.replace(pieces).text, line, taken)
            first = branch.lineno if isinstance(branch, ast.If) else line
            for number in range(first, first + len(way)):
                with suppress(CannotRewrite):
                    rewritten = copy_slices(rewritten.text, number)
            return rewritten
    raise CannotRewrite("that line crops nothing")


def _find_ends(source: Source, test: ast.expr, cut: ast.AST) -> Iterator[Piece]:
    """The end of each slice `x[:, :-missing]`, of what is tested, as `x.shape[1] - missing`."""
    tested = {ast.unparse(inner) for inner in ast.walk(test)}
    for node in ast.walk(cut):
        if not isinstance(node, ast.Subscript) or not isinstance(
            node.value, ast.Name | ast.Attribute
        ):
            continue
        for dim, expression in dims_of(node.slice):
            match expression:
                case ast.Slice(upper=ast.UnaryOp(ast.USub(), missing) as upper):
                    if ast.unparse(missing) in tested:
                        size = f"{source.of(node.value)}.shape[{dim}]"
                        text = f"{size} - {_as_factor(source, missing)}"
                        yield Piece(source.start(upper), source.end(upper), text)


def _wrap_differences(source: Source, way: Sequence[ast.AST], rests: set[str]) -> list[Piece]:
    """Each `k - rest` of a block as `(k - rest) % k`."""
    return [
        Piece(
            source.start(node),
            source.end(node),
            f"(({source.of(node)}) % {_as_factor(source, node.left)})",
        )
        for part in way
        for node in ast.walk(part)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        if ast.unparse(node.right) in rests
    ]


def _as_factor(source: Source, node: ast.expr) -> str:
    """A text that an operator may stand beside."""
    text = source.of(node)
    return f"({text})" if isinstance(node, ast.BinOp | ast.UnaryOp | ast.IfExp) else text


def _pad_by_rest(source: Source, branch: Branch, way: Sequence[ast.AST]) -> Iterator[Piece]:
    """Each 1 among the widths of a pad as `n % 2`, where a size is tested for being odd."""
    match branch.test:
        case ast.BinOp(_, ast.Mod(), ast.Constant(2)):
            for call in (node for part in way for node in ast.walk(part)):
                match call:
                    case ast.Call(ast.Name("pad") | ast.Attribute(attr="pad"), [_, widths, *_]):
                        for one in ast.walk(widths):
                            if isinstance(one, ast.Constant) and one.value == 1:
                                text = f"({source.of(branch.test)})"
                                yield Piece(source.start(one), source.end(one), text)
