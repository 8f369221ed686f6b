"""Fixes of a cache by size: what it keeps is computed from the symbolic size instead.

`if n not in self.masks: self.masks[n] = made(n)` looks a size up, which needs its number. A program
keeps no dict, so the dict saves it nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from export_engine.attempt import Edit, Failed, Fix, Kind, text_in_effect
from export_engine.diagnose import SizeLookedUp, SizesViolated
from export_engine.fixes.code.editing.eager_trials import agrees_at
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    free_name,
    spans,
)
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress, Report
from export_engine.shapes import with_size
from export_engine.source import original_file

_STEPS = (1, 2)
"""By how much the sizes differ from the example's that are compared in eager."""


def suggest_without_cache(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The dict at a diagnosed line without its lookups."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return
    facts = diagnosis.facts
    if diagnosis.kind is not Kind.SHAPES_VIOLATED:
        return
    if isinstance(facts, SizeLookedUp):
        groups = [facts.dims]
    elif isinstance(facts, SizesViolated):
        groups = [problem.dims for problem in facts.problems]
    else:
        return
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    try:
        rewritten, kept = without_lookups(text, line)
    except CannotRewrite:
        return
    title = f"Compute without the cache `{kept}` in line {place.line}"
    if progress:
        progress(Progress(0, 0, title.lower(), "fix"))
    edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
    others = [
        with_size(request, [dim.place for dim in dims], dims[0].example + step)
        for dims in groups
        for step in _STEPS
    ]
    if not agrees_at(request, edit, others):
        return
    why = (
        "A dict finds a key by its hash, and a symbolic size has none. The program computes "
        "what was kept from the size. Compared with eager at other sizes."
    )
    fix = code_fix(request, diagnosis, edit, title=title, why=why)
    if fix is not None:
        yield fix


def without_lookups(text: str, line: int) -> tuple[Rewritten, str]:
    """The text with the dict that is asked at a line taken as empty, and the dict.

    Raises:
        CannotRewrite: none is asked there, or the function does not make what the dict lacks.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if isinstance(node, ast.expr) and spans(node, line):
            asked = _split_lookup(node)
            if asked is not None:
                kept, key = map(source.of, asked)
                return source.replace(_pieces(source, kept, key)), kept
    raise CannotRewrite("no dict is asked at that line")


def _split_lookup(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The dict and the key of `key in kept`, of `kept.get(key)`, and of `kept[key]`."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return (node.comparators[0], node.left) if len(node.ops) == 1 else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        empty = all(isinstance(e, ast.Constant) and e.value is None for e in node.args[1:])
        if node.func.attr == "get" and node.args and empty and not node.keywords:
            return node.func.value, node.args[0]
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    return None


def _pieces(source: Source, kept: str, key: str) -> list[Piece]:
    pieces: list[Piece] = []
    name, stored = free_name("_made", source.names), False
    bound = [n for n in ast.walk(source.function) if isinstance(n, ast.Name) and n.id == key]
    if sum(isinstance(other_node.ctx, ast.Store) for other_node in bound) > 1:
        raise CannotRewrite(f"`{key}` is bound twice")
    for node in ast.walk(source.function):
        asked = _split_lookup(node) if isinstance(node, ast.expr) else None
        if asked is None or source.of(asked[0]) != kept:
            continue
        assert isinstance(node, ast.expr)
        if source.of(asked[1]) != key:
            raise CannotRewrite(f"`{kept}` is asked for another key")
        if isinstance(node, ast.Subscript):
            stored |= isinstance(node.ctx, ast.Store)
            text = name
        elif isinstance(node, ast.Compare):
            text = str(isinstance(node.ops[0], ast.NotIn))
        else:
            text = "None"
        pieces.append(Piece(source.start(node), source.end(node), text))
    if not stored:
        raise CannotRewrite(f"what `{kept}` lacks is made elsewhere")
    return pieces
