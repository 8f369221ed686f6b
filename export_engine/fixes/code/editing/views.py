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
