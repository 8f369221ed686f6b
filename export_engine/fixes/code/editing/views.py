"""Whether a value may be another one, or a view of it."""

from __future__ import annotations

import ast


def may_be_view(value: ast.expr) -> bool:
    """Whether a value may be an input of the branch, or a view of one."""
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
        return True
    called = value.func if isinstance(value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else ""
    return name in _VIEWS or any(word in name.lower() for word in ("drop", "identity"))


_VIEWS = frozenset(
    {
        *("t", "view", "view_as", "reshape", "transpose", "permute", "squeeze", "unsqueeze"),
        *("expand", "expand_as", "flatten", "unflatten", "narrow", "select", "detach", "to"),
        *("contiguous", "float", "half", "bfloat16", "double", "type_as", "movedim", "swapaxes"),
        *("diagonal", "broadcast_to"),
    }
)
"""Functions of tensors that may return their input, or a view of it."""


def roots_of_views(tree: ast.AST) -> dict[str, str]:
    """For each name that is bound to what may be a view: the text of what it may be one of."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not may_be_view(node.value):
            continue
        root: ast.expr = node.value
        while isinstance(root, ast.Subscript | ast.Call) or (
            isinstance(root, ast.Attribute) and not isinstance(root.value, ast.Name)
        ):
            root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(root, ast.Attribute) and root.attr in _VIEWS:
                root = root.value
        for target in node.targets:
            if isinstance(target, ast.Name):
                found[target.id] = ast.unparse(root)
    return found
