"""`torch.LongTensor(numbers)` as torch.tensor with its dtype, which takes numbers from data."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.liveness import nodes_about
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans

DTYPES = {
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
    "HalfTensor": "float16",
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
}
"""What a type of tensors is called, and its dtype."""


def made_by_tensor(text: str, line: int) -> Rewritten:
    """The text with the tensors that a line makes of lists by their type made by torch.tensor.

    Raises:
        Unclear: there is none; of a number such a type makes a tensor of that size.
    """
    source, pieces = Source(text, line), list[Piece]()
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not spans(node, line) or node.keywords:
            continue
        owner, _, name = source.of(node.func).rpartition(".")
        listed = len(node.args) == 1 and is_list(source, node.args[0])
        if name in DTYPES and owner == source.torch and listed:
            made = f"{owner}.tensor({source.of(node.args[0])}, dtype={owner}.{DTYPES[name]})"
            pieces.append(Piece(source.start(node), source.end(node), made))
    if not pieces:
        raise Unclear("no list is made a tensor by its type there")
    return source.changed(pieces)


def is_list(source: Source, value: ast.expr) -> bool:
    """Whether it is a list, or a name that is only ever given one."""
    if not isinstance(value, ast.Name):
        return isinstance(value, ast.List | ast.ListComp)
    given = [
        pair
        for node in nodes_about(source.function, value.id)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for pair in _pairs(target, node.value)
        if isinstance(pair[0], ast.Name) and pair[0].id == value.id
    ]
    return bool(given) and all(isinstance(each, ast.List | ast.ListComp) for _, each in given)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    return [(target, value)]
