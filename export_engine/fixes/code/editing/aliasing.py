"""Whether a value may be another one, or a view of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping


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


TRANSPOSED = {"T": "t()", "mT": "transpose(-2, -1)"}
"""Attributes that give a view, and the calls that give it, too; `T` of no more than two dims."""


def roots_of_views(tree: ast.AST) -> dict[str, str]:
    """For each name that is bound to what may be a view: the text of what it may be one of."""
    texts: dict[str, str] = {}
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
                texts[target.id] = ast.unparse(root)
    return texts


_PARTS = frozenset(
    {
        *("chunk", "split", "split_with_sizes", "tensor_split", "unbind", "unsafe_chunk"),
        *("hsplit", "vsplit", "dsplit", "where", "nonzero"),
    }
)
"""Functions that give several views of one tensor; `torch.where(mask)` of its indices."""


def parts_of_tensors(tree: ast.AST) -> dict[str, str]:
    """For each name that may be one of several views of a tensor: the text that makes them."""
    return {
        name.id: ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _makes_parts(node.value)
        for target in node.targets
        if isinstance(target, ast.Tuple | ast.List)
        for name in target.elts
        if isinstance(name, ast.Name)
    }


def _makes_parts(value: ast.expr) -> bool:
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(value, ast.Name) or getattr(called, "attr", "") in _PARTS


def root_of(text: str, roots: Mapping[str, str]) -> str:
    """What a name is a view of, by way of all views between; itself where it is not a view."""
    seen = {text}
    while text in roots and roots[text] not in seen:
        text = roots[text]
        seen.add(text)
    return text
