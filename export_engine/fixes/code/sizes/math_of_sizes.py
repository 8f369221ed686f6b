"""A number that Python computes of a size, as an op: `int(math.log2(n))`, `math.isqrt(n)`.

No symbol stands for the logarithm, the root or the greatest common divisor of a size. An op
computes it when the program runs, and `.item()` reads it, as a number that is data-dependent.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from export_engine.attempt import Edit, Failed, Fix, Kind, Request, text_in_effect
from export_engine.diagnose import diagnose
from export_engine.fixes.code.editing.bound_names import find_assignment
from export_engine.fixes.code.editing.eager_trials import agrees_at
from export_engine.fixes.code.editing.edited_text import find_fixing_places
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)
from export_engine.fixes.code.editing.try_edit import code_fix, try_edit
from export_engine.fixes.code.sizes.padded_transforms import iter_padding_pieces
from export_engine.fixes.code.sizes.scalar_ops import ScalarOps
from export_engine.fixes.excluded_calls import resize
from export_engine.progress import Progress, Report
from export_engine.shapes import leaf_values, shapes_of
from export_engine.source import original_file

_KINDS = frozenset({Kind.SHAPES_VIOLATED, Kind.OWN_ERROR, Kind.GRAPH_BREAK, Kind.NUMPY})
_TITLE = "Compute a number from the size with torch ops in `{function}`"
_WHY = (
    "Python needs a concrete int here, which specializes the size. Ops compute the same at run "
    "time, and `.item()` returns a data-dependent number."
)
_SIZES = (*range(2, 11), 15, 16, 17, 25, 31, 32, 33, 36, 63, 64, 65)
"""Where a number in floats may be one off: around powers and squares, and others between."""
_MOST_ELEMENTS = 2**20


def suggest_size_ops(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The number at a diagnosed line by ops, compared with Python's at many sizes."""
    yield from _suggest(attempt, progress, all_ints=False)


def without_bounds(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The same of every int that is computed of a size: `n // 3` is 1 at sizes that torch bounds.

    Of a number that is data-dependent, torch asks for no bounds.
    """
    yield from _suggest(attempt, progress, all_ints=True)


def _suggest(attempt: Failed, progress: Report | None, *, all_ints: bool) -> Iterator[Fix]:
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind not in _KINDS:
        return
    for place in find_fixing_places(attempt):
        text, line = text_in_effect(request.edits, place.file, place.line)
        try:
            rewritten = by_ops(text, line, all_ints=all_ints)
        except CannotRewrite:
            continue
        title = _TITLE.format(function=rewritten.function)
        if progress:
            progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
        edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
        fix = code_fix(request, diagnosis, edit, title=title, why=_WHY)
        if fix is None:
            continue
        if not fix.is_known_to_export and (all_ints or not _another(request, edit)):
            continue
        if agrees_at(request, edit, list(_at_other_sizes(request))):
            yield fix
            return


def _another(request: Request, edit: Edit) -> bool:
    """Whether an edited model fails by another number of a size, which is computed next."""
    attempt = try_edit(request, edit)
    return isinstance(attempt, Failed) and diagnose(attempt).kind in _KINDS


def by_ops(text: str, line: int, *, all_ints: bool = False) -> Rewritten:
    """The text with each int that a line computes of a size as an op, and its number read back.

    Args:
        text: of the file.
        line: of the numbers, or of what is done with them.
        all_ints: also those that torch keeps symbolic, as `n // 3` and `max(n, 5)`.

    Raises:
        CannotRewrite: that line needs no concrete size, or no op computes this expression.
    """
    source = Source(text, line)
    ops = ScalarOps(source, all_ints=all_ints)
    statements = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.stmt) and spans(node, line) and not hasattr(node, "body")
    ]
    for other_statements in (statements, _that_name(source, statements)):
        pieces = [
            Piece(source.start(node), source.end(node), f"{other_text}.item()")
            for statement in other_statements
            for node, other_text in _ints(ops, statement)
        ]
        if pieces:
            return source.replace([*pieces, *_of_powers(source, other_statements)])
    raise CannotRewrite("that line needs no concrete size")


def _of_powers(source: Source, statements: list[ast.stmt]) -> Iterator[Piece]:
    """Of a name for a power: a check that says it is at least 1, and the transforms of its length.

    torch cannot know it of a number that is data-dependent.
    """
    for statement in statements:
        match statement:
            case ast.Assign([ast.Name(name)], ast.BinOp(ast.Constant(int(base)), op, _)):
                if base < 1 or not isinstance(op, ast.Pow | ast.LShift):
                    continue
                after = source.line_after(statement)
                check = f"{source.indent(statement)}{source.torch}._check({name} >= 1)\n"
                yield Piece(after, after, check)
                yield from iter_padding_pieces(source, name)


def _that_name(source: Source, statements: list[ast.stmt]) -> list[ast.stmt]:
    """Where the names get their values that some statements read."""
    read = [node.id for one in statements for node in ast.walk(one) if isinstance(node, ast.Name)]
    nodes = (find_assignment(source.function, name) for name in dict.fromkeys(read))
    return [node for node in nodes if node is not None]


def _ints(ops: ScalarOps, node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """The outermost expressions that are ints, and the ops that compute them."""
    if isinstance(node, ast.expr):
        try:
            scalar = ops.compile_expression(node)
        except CannotRewrite:
            pass
        else:
            if scalar.kind == "int":
                yield node, scalar.text
                return
            if scalar.kind == "plain":
                return
    for inner in ast.iter_child_nodes(node):
        yield from _ints(ops, inner)


def _at_other_sizes(request: Request) -> Iterator[Request]:
    """The call with one name's size changed, to each size that is small enough to run on."""
    shapes = shapes_of(request)
    if shapes is None:
        return
    for name in shapes.dims():
        for size in _SIZES:
            other = resize(request, shapes, name, size)
            values = leaf_values(other).values()
            elements = sum(math.prod(value.shape) for value in values if hasattr(value, "shape"))
            if elements <= _MOST_ELEMENTS:
                yield other
