"""Rows that are read where a test says that there are any: `if len(hits) > 0: n = hits[0].item()`.

Read of the tensor with rows of zeros beside its own, they are there for all data, so that both ways
can be computed, and one selected. The rows are such as the test keeps eager from reading: a way
that reads more of them raises in the program as it does in eager.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans

_MOST_ROWS = 8
"""That a test may ask for."""


_ENDS = ("padded", "padded_in_front")
"""Of names of tensors: with rows behind its own, which index from 0; and from -1."""


class Asked(NamedTuple):
    """A test of how many rows a tensor has."""

    tensor: str
    rows: int
    """It has so many at least, where the test holds."""
    elements: bool
    """Whether it counts elements, of which a row may have none."""
    holds: bool
    """Whether the rows are there in the first way, or in the other one."""


def hits_padded(text: str, line: int) -> tuple[Rewritten, int]:
    """The text with what a choice at a line reads of guarded rows read of a padded tensor.

    Returns:
        The text, and the line of the test there, which is a comparison.

    Raises:
        Unclear: there is no such choice, or a way reads the tensor otherwise.
    """
    source = Source(text, line)
    node, statement = _choice_at(source, line)
    asked = _asked(node.test)
    guarded, other = (node.body, node.orelse) if asked.holds else (node.orelse, node.body)
    if isinstance(node, ast.If) and not node.orelse and not asked.holds:
        guarded = _rest(source, node)
    names = {end: free_name(f"_{asked.tensor.strip('_')}_{end}", source.names) for end in _ENDS}
    reads = _reads(guarded, asked.tensor)
    if not reads:
        raise Unclear(f"the way that is guarded reads no row of `{asked.tensor}`")
    _refuse_divisions(guarded, asked.tensor)
    first, last = 0, 0
    both = len({row < 0 for _, row in reads}) > 1
    pieces: list[Piece] = []
    for read, row in reads:
        needed = row + 1 if row >= 0 else -row
        if needed > asked.rows:
            raise Unclear(f"`{source.of(read)}` may not be there where the test holds")
        first, last = max(first, needed if row < 0 else 0), max(last, needed if row >= 0 else 0)
        padded = names["padded" if row >= 0 or not both else "padded_in_front"]
        pieces.append(Piece(source.start(read.value), source.end(read.value), padded))
    least = max(
        (row + 1 if row >= 0 else -row for _, row in _reads(other, asked.tensor)), default=0
    )
    if least > asked.rows:
        raise Unclear("the other way reads more rows than the test asks for")
    if least and _is_within_a_choice(statement, node):
        raise Unclear("the rows that the other way reads need be there only where it is chosen")
    indent = source.indent(statement)
    head: list[str] = []
    for rows, in_front in ((last, False), (first, True)):
        if rows:
            name = names["padded_in_front" if in_front and both else "padded"]
            zeros = f"{asked.tensor}.new_zeros(({rows}, *{asked.tensor}.shape[1:]))"
            parts = f"{zeros}, {asked.tensor}" if in_front else f"{asked.tensor}, {zeros}"
            head.append(f"{name} = {source.torch}.cat([{parts}])")
    if least:
        head.insert(0, f"{source.torch}._check({asked.tensor}.shape[0] >= {least})")
    at = source.start(statement)
    pieces.append(Piece(at, at, "".join(f"{each}\n{indent}" for each in head)))
    count = f"{asked.tensor}.{'numel()' if asked.elements else 'shape[0]'}"
    test = f"{count} >= {asked.rows}" if asked.holds else f"{count} < {asked.rows}"
    pieces.append(Piece(source.start(node.test), source.end(node.test), test))
    return source.changed(pieces), line + len(head)


def _rest(source: Source, node: ast.If) -> list[ast.stmt]:
    """What runs where the test of an early return does not hold."""
    if not isinstance(node.body[-1], ast.Return):
        return []
    return source.following(node)


def _choice_at(source: Source, line: int) -> tuple[ast.If | ast.IfExp, ast.stmt]:
    """The choice whose test is at a line, and the statement that it is in."""
    for statement in ast.walk(source.function):
        if not isinstance(statement, ast.stmt) or not spans(statement, line):
            continue
        if isinstance(statement, ast.If) and spans(statement.test, line):
            if source.text.startswith("elif", source.start(statement)):
                raise Unclear("an `elif` is reached only where the tests before it fail")
            return statement, statement
        if isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
            for node in ast.walk(statement):
                if isinstance(node, ast.IfExp) and spans(node.test, line):
                    return node, statement
    raise Unclear("there is no choice at that line")


def _asked(test: ast.expr) -> Asked:
    """What a test asks of a number of rows.

    Raises:
        Unclear: it asks something else.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found = _asked(test.operand)
        return found._replace(holds=not found.holds)
    if not isinstance(test, ast.Compare):
        tensor, elements = _counted(test)
        return Asked(tensor, 1, elements, holds=True)
    if len(test.ops) != 1 or not isinstance(test.comparators[0], ast.Constant):
        raise Unclear("the test is more than one comparison with a number")
    (tensor, elements), number = _counted(test.left), test.comparators[0].value
    if type(number) is not int or not 0 <= number < _MOST_ROWS:
        raise Unclear("the test is not about a few rows")
    match test.ops[0]:
        case ast.Gt():
            found = Asked(tensor, number + 1, elements, holds=True)
        case ast.GtE():
            found = Asked(tensor, number, elements, holds=True)
        case ast.Lt():
            found = Asked(tensor, number, elements, holds=False)
        case ast.LtE():
            found = Asked(tensor, number + 1, elements, holds=False)
        case ast.NotEq() if number == 0:
            found = Asked(tensor, 1, elements, holds=True)
        case ast.Eq() if number == 0:
            found = Asked(tensor, 1, elements, holds=False)
        case _:
            raise Unclear("the test does not say how many rows there are at least")
    if found.rows < 1 or (elements and found.rows > 1):
        raise Unclear("the test does not say how many rows there are at least")
    return found


def _counted(node: ast.expr) -> tuple[str, bool]:
    """The name whose rows are counted, and whether it is its elements: a row has some, or one."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        (inner,) = node.args
        if isinstance(inner, ast.Name):
            return inner.id, False
    text = ast.unparse(node)
    name = text.partition(".")[0]
    if name.isidentifier() and text in (f"{name}.shape[0]", f"{name}.size(0)"):
        return name, False
    if name.isidentifier() and text in (f"{name}.numel()", f"{name}.nelement()"):
        return name, True
    raise Unclear("the test does not count rows")


def _reads(way: ast.expr | list[ast.stmt], tensor: str) -> list[tuple[ast.Subscript, int]]:
    """The rows that a way reads of a tensor, each by a plain number.

    Raises:
        Unclear: it uses the tensor otherwise.
    """
    nodes = [n for each in (way if isinstance(way, list) else [way]) for n in ast.walk(each)]
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == tensor]
    found: list[tuple[ast.Subscript, int]] = []
    for node in nodes:
        if not isinstance(node, ast.Subscript) or node.value not in uses:
            continue
        index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        try:
            row = ast.literal_eval(index)
        except ValueError:
            row = None
        if type(row) is int and isinstance(node.ctx, ast.Load):
            found.append((node, row))
    if len(found) != len(uses):
        raise Unclear(f"a way reads `{tensor}` otherwise than by the number of a row")
    return found


def _refuse_divisions(way: ast.expr | list[ast.stmt], tensor: str) -> None:
    """Raises Unclear where a way divides by what it reads: a row of zeros has it fail."""
    for each in way if isinstance(way, list) else [way]:
        for node in ast.walk(each):
            if not isinstance(node, ast.BinOp | ast.AugAssign):
                continue
            if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
                by = node.right if isinstance(node, ast.BinOp) else node.value
                if any(isinstance(n, ast.Name) and n.id == tensor for n in ast.walk(by)):
                    raise Unclear(f"a way divides by what it reads of `{tensor}`")


def _is_within_a_choice(statement: ast.stmt, node: ast.AST) -> bool:
    """Whether a value of a statement is computed only where another test holds."""
    outer = (
        each
        for each in ast.walk(statement)
        if isinstance(each, ast.IfExp | ast.BoolOp | ast.comprehension) and each is not node
    )
    return statement is not node and any(
        inner is node for each in outer for inner in ast.walk(each)
    )
