"""Values that a block makes for itself: what it writes to them, nothing else sees."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def made_in(tree: ast.Module, known: Iterable[str] = ()) -> set[str]:
    """Names that a block binds to nothing but values that are made there.

    Args:
        tree: of the block.
        known: names that are bound before it, which are left out.
    """
    made, others = set[str](), {*known}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names = {each.id for each in node.targets if isinstance(each, ast.Name)}
            (made if _is_new(node.value) else others).update(names)
        elif isinstance(node, ast.Tuple | ast.List | ast.For | ast.comprehension | ast.NamedExpr):
            others |= _unpacked(node)
    return made - others


def _unpacked(node: ast.AST) -> set[str]:
    """Names that are bound to what a value holds, or to what is known by no name of its own."""
    target = getattr(node, "target", node)
    return {
        each.id
        for each in ast.walk(target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _is_new(value: ast.expr) -> bool:
    if isinstance(value, ast.Dict | ast.List | ast.Set | ast.ListComp | ast.DictComp):
        return True
    called = value.func if isinstance(value, ast.Call) else None
    if isinstance(called, ast.Name):
        return called.id in ("dict", "list", "set")
    return isinstance(called, ast.Attribute) and called.attr in _MAKING


_MAKING = frozenset(
    {
        *("zeros", "ones", "empty", "full", "eye", "arange", "linspace", "clone", "cat", "stack"),
        *("zeros_like", "ones_like", "empty_like", "full_like"),
        *("new_zeros", "new_ones", "new_empty", "new_full"),
    }
)
"""Functions whose result shares memory with nothing."""
