"""Padding up to a multiple, and cropping what was padded, without asking whether any is missing.

`if rest: x = pad(x, k - rest)` pads by `(k - rest) % k` for every size, `if rest == 0: return x, 0`
before it is needless then, and `if missing: x = x[:, :-missing]` crops down to `size - missing`.
What is missing is named as the user named it: that the rewrite is right is compared with eager.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from export_engine.fixes.code.branches.take_branch import one_way
from export_engine.fixes.code.calls.copied_slices import copy_slices, dims_of
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    branch_at,
    spans,
)


def missing_to_multiple(text: str, line: int) -> Rewritten:
    """The text with `if rest: x = pad(x, k - rest)` always padded, by `(k - rest) % k`.

    So is `if n % 2: x = pad(x, 1)`, by `n % 2`, and `k - rest if rest else 0` is `(k - rest) % k`.

    Args:
        text: of the file.
        line: of the test.

    Raises:
        CannotRewrite: there is no such branch.
    """
    source = Source(text, line)
    choice = _choice_at(source, line)
    if choice is not None:
        return source.replace([_missing_or_none(source, choice)])
    branch = branch_at(source, line)
    rests = {ast.unparse(node) for node in ast.walk(branch.test) if _is_rest(source, node)}
    pieces = _wrap_differences(source, branch.body, rests)
    pieces += [
        Piece(source.start(one), source.end(one), f"({source.of(branch.test)})")
        for one in _ones(branch)
    ]
    if not pieces:
        raise CannotRewrite("that line computes no padding to a multiple")
    return one_way(source.replace(pieces).text, line, True)


def without_early_return(text: str, line: int) -> Rewritten:
    """The text without `if rest == 0: return x`, where what follows pads by `k - rest`.

    Args:
        text: of the file.
        line: of the test.

    Raises:
        CannotRewrite: there is no such branch.
    """
    source = Source(text, line)
    branch = branch_at(source, line)
    if branch.orelse or not isinstance(branch.body[-1], ast.Return):
        raise CannotRewrite("that line does not return early")
    named = {node.id for node in ast.walk(branch.test) if isinstance(node, ast.Name)}
    pieces = _wrap_differences(source, source.following(branch), named)
    if not pieces:
        raise CannotRewrite("no later line computes a padding to a multiple")
    return one_way(source.replace(pieces).text, line, False)


def crop_always(text: str, line: int) -> Rewritten:
    """The text with `if missing: x = x[:, :-missing]` always cropped, by a copy by index.

    So is `x[:, :-missing] if missing else x`.

    Args:
        text: of the file.
        line: of the test.

    Raises:
        CannotRewrite: there is no such branch.
    """
    source = Source(text, line)
    choice = _choice_at(source, line)
    if choice is not None:
        rewritten, lines = source.replace(_crop_choice(source, choice)), range(line, line + 1)
    else:
        branch = branch_at(source, line)
        pieces = [
            piece for statement in branch.body for piece in _ends(source, branch.test, statement)
        ]
        if not pieces:
            raise CannotRewrite("that line crops nothing")
        rewritten = one_way(source.replace(pieces).text, branch.lineno, True)
        lines = range(branch.lineno, branch.lineno + len(branch.body))
    for number in lines:
        with suppress(CannotRewrite):
            rewritten = copy_slices(rewritten.text, number)
    return rewritten


def _crop_choice(source: Source, choice: ast.IfExp) -> list[Piece]:
    """What leaves of a conditional expression the value that is cropped, with another end."""
    for way in (choice.body, choice.orelse):
        pieces = list(_ends(source, choice.test, way))
        if pieces:
            before = Piece(source.start(choice), source.start(way), "")
            return [before, *pieces, Piece(source.end(way), source.end(choice), "")]
    raise CannotRewrite("that line crops nothing")


def _ends(source: Source, test: ast.expr, cut: ast.AST) -> Iterator[Piece]:
    """The end of each slice `x[:, :-missing]`, of what is tested, as `x.shape[1] - missing`."""
    tested = {ast.unparse(inner) for inner in ast.walk(test)}
    for node in ast.walk(cut):
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, _NAMED):
            continue
        for dim, expression in dims_of(node.slice):
            upper = expression.upper if isinstance(expression, ast.Slice) else None
            if not isinstance(upper, ast.UnaryOp) or not isinstance(upper.op, ast.USub):
                continue
            if ast.unparse(upper.operand) in tested:
                size = f"{source.of(node.value)}.shape[{dim}]"
                text = f"{size} - {_factor(source, upper.operand)}"
                yield Piece(source.start(upper), source.end(upper), text)


_NAMED = ast.Name | ast.Attribute


def _choice_at(source: Source, line: int) -> ast.IfExp | None:
    """The conditional expression at a line, where no `if` is."""
    result = None
    for node in ast.walk(source.function):
        if isinstance(node, ast.If) and spans(node.test, line):
            return None
        if isinstance(node, ast.IfExp) and spans(node.test, line):
            result = result or node
    return result


def _missing_or_none(source: Source, choice: ast.IfExp) -> Piece:
    """`k - rest if rest else 0`, or the other way round, as `(k - rest) % k`."""
    named = {node.id for node in ast.walk(choice.test) if isinstance(node, ast.Name)}
    rests = named | {ast.unparse(e) for e in ast.walk(choice.test) if _is_rest(source, e)}
    for way, other in ((choice.body, choice.orelse), (choice.orelse, choice.body)):
        if isinstance(other, ast.Constant) and other.value == 0 and other.value is not False:
            for missing, whole in _differences(way, rests):
                if missing is way:
                    text = _missing(source, missing, whole)
                    return Piece(source.start(choice), source.end(choice), text)
    raise CannotRewrite("neither operand is a padding to a multiple")


def _wrap_differences(source: Source, body: list[ast.stmt], rests: set[str]) -> list[Piece]:
    """Each `k - rest` of a block as `(k - rest) % k`."""
    return [
        Piece(source.start(node), source.end(node), _missing(source, node, whole))
        for statement in body
        for node, whole in _differences(statement, rests)
    ]


def _missing(source: Source, difference: ast.expr, whole: ast.expr) -> str:
    return f"(({source.of(difference)}) % {_factor(source, whole)})"


def _factor(source: Source, node: ast.expr) -> str:
    """A text that an operator may stand beside."""
    text = source.of(node)
    return f"({text})" if isinstance(node, ast.BinOp | ast.UnaryOp | ast.IfExp) else text


def _differences(part: ast.AST, rests: set[str]) -> list[tuple[ast.expr, ast.expr]]:
    """Each `k - rest` of a part of a program, and the `k`."""
    return [
        (node, node.left)
        for node in ast.walk(part)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        if ast.unparse(node.right) in rests
    ]


def _ones(branch: ast.If) -> list[ast.expr]:
    """Each 1 among the widths of a pad, where a size is tested for being odd."""
    test = branch.test
    if not (isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod)):
        return []
    if ast.unparse(test.right) != "2":
        return []
    return [
        one
        for statement in branch.body
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "pad"
        for widths in call.args[1:2]
        for one in ast.walk(widths)
        if isinstance(one, ast.Constant) and one.value == 1 and one.value is not True
    ]


def _is_rest(source: Source, node: ast.AST) -> bool:
    """Whether a value is the rest of a division, or a name of one."""
    if isinstance(node, ast.Name):
        return any(
            isinstance(inner, ast.Assign)
            and [ast.unparse(target) for target in inner.targets] == [node.id]
            and _is_rest(source, inner.value)
            for inner in ast.walk(source.function)
        )
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
