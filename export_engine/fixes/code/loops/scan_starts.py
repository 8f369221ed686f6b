"""What a scan starts with: each carried value a tensor of its own, as an iteration gives it.

torch's scan tells its inputs apart by identity. A tensor that starts two carried values, or that
the body reads besides, is taken for the carried value, and the program computes something else. It
asks that strides do not change from one iteration to the next, as those of a view do.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.text_edits import Source
from export_engine.fixes.code.editing.views import may_be_view
from export_engine.fixes.code.loops.loop_state import binds

_LISTED = (ast.Tuple, ast.List, ast.ListComp)


def started(source: Source, loop: ast.For, name: str) -> str:
    """A carried value as a scan starts with it: a copy where its tensor may have another name."""
    made = _last(source, loop.lineno, name)
    if made is None:
        return name
    value = _value_of(made, name)
    given = value is None or _is_given(value) or len(made.targets) > 1
    strided = isinstance(value, ast.Subscript) or (value is not None and _is_view(value))
    if not given and not strided and not _is_taken(source, loop, name):
        return name
    if value is not None and _is_tensor(source, loop, value):
        kept = f"memory_format={source.torch}.contiguous_format"
        return f"{name}.clone({kept if strided else ''})"
    return f"{source.torch}.utils._pytree.tree_map({source.torch}.clone, {name})"


def _last(source: Source, line: int, name: str) -> ast.Assign | None:
    """The last assignment of a name above a line."""
    found = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Assign) and node.lineno < line
        if any(binds(target, name) for target in node.targets)
    ]
    return max(found, key=lambda each: each.lineno, default=None)


def _value_of(made: ast.Assign, name: str) -> ast.expr | None:
    """The part of an assigned value that a name gets; None where it cannot be told."""
    for target in made.targets:
        if isinstance(target, ast.Name):
            if target.id == name:
                return made.value
        elif isinstance(target, ast.Tuple) and isinstance(made.value, ast.Tuple):
            for each, value in zip(target.elts, made.value.elts, strict=False):
                if isinstance(each, ast.Name) and each.id == name:
                    return value
    return None


def _is_given(value: ast.expr) -> bool:
    """Whether a value is, or holds, a tensor that may have another name, or that it holds twice."""
    if isinstance(value, ast.Tuple | ast.List):
        return any(map(_is_given, value.elts))
    if isinstance(value, ast.BinOp):
        return any(isinstance(each, ast.List | ast.Tuple) for each in (value.left, value.right))
    if isinstance(value, ast.Subscript):  # of a tensor it is a new one, of a list not
        return not isinstance(value.slice, ast.Tuple | ast.Slice)
    return may_be_view(value)


def _is_view(value: ast.expr) -> bool:
    """Whether a value is what a function like `transpose` returns, or a name for one."""
    return isinstance(value, ast.Call | ast.Name) and may_be_view(value)


def _is_taken(source: Source, loop: ast.For, name: str) -> bool:
    """Whether something else is given a name's value before the loop: `first = h`."""
    values = [
        node.value
        for node in ast.walk(source.function)
        if isinstance(node, ast.Assign) and node.lineno < loop.lineno
    ]
    return any(
        _given_by(part) == name for value in values for part in getattr(value, "elts", [value])
    )


def _given_by(value: ast.expr) -> str:
    """The name whose tensor a value may be: of `h`, and of `h.to(x)`; else empty."""
    while isinstance(value, ast.Call) and may_be_view(value):
        assert isinstance(value.func, ast.Attribute)
        value = value.func.value
    return value.id if isinstance(value, ast.Name) else ""


def _is_tensor(source: Source, loop: ast.For, value: ast.expr, depth: int = 0) -> bool:
    """Whether a value is one tensor, as far as the code tells; not so a tuple or a parameter."""
    if isinstance(value, ast.Name):
        made = _last(source, loop.lineno, value.id)
        inner = _value_of(made, value.id) if made is not None else None
        return inner is not None and depth < 4 and _is_tensor(source, loop, inner, depth + 1)
    if isinstance(value, ast.BinOp):
        return not _is_given(value)
    return not isinstance(value, _LISTED)
