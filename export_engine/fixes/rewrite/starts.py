"""The first value of a carried name, if the user's code gives it none of its kind."""

from __future__ import annotations

import ast
from typing import Any

import torch

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.facts import Value
from export_engine.fixes.rewrite.form import Block, call, let, parse_expression


def write_starts(values: dict[str, Value]) -> Block:
    """The first values of names that get others: zeros of no dims, which torch.where broadcasts."""
    starts: Block = []
    for name, value in sorted(values.items()):
        start = let(name, call("torch.zeros", ast.Tuple([], ast.Load()), **_dtype(value)))
        start.is_start = True  # type: ignore[attr-defined]
        starts.append(start)
    return starts


def dtype_of(start: Value, after: Value) -> dict[str, ast.expr]:
    """The dtype of a number that becomes a tensor, where torch would choose another."""
    own = _OF_NUMBERS.get(start.kind, torch.get_default_dtype())
    return keyword_of_dtype(after.dtype, own)


def _dtype(value: Value) -> dict[str, ast.expr]:
    return keyword_of_dtype(_OF_NUMBERS.get(value.kind, value.dtype), torch.get_default_dtype())


_OF_NUMBERS = {"bool": torch.bool, "int": torch.int64}
"""The dtypes of Python's numbers by kind; of floats, it is torch's default."""


def keyword_of_dtype(dtype: torch.dtype | None, own: torch.dtype) -> dict[str, ast.expr]:
    """The keyword of a call for a dtype, unless it is unknown, or what torch chooses itself."""
    return {} if dtype in (own, None) else {"dtype": parse_expression(str(dtype))}


def zeros_of(value: Value, known: dict[str, Value], fill: ast.expr | None = None) -> ast.expr:
    """A tensor of a value's shape and dtype, in terms of the names that are known.

    Raises:
        CannotRewrite: no known name has a size of it.
    """
    if value.kind != "tensor":
        kind = {"bool": False, "int": 0}.get(value.kind, 0.0)
        return call("torch.tensor", fill or ast.Constant(kind))
    alike = [
        n
        for n, v in sorted(known.items())
        if v.kind == "tensor" and _same(v.shape, value.shape) and v.dtype == value.dtype
    ]
    if alike:
        name = parse_expression(alike[0])
        if fill is None:
            return call("torch.zeros_like", name)
        return call("torch.full_like", name, fill)
    sizes = [_size(item, known) for item in value.shape]
    shape = ast.Tuple(sizes, ast.Load())
    expressions = _dtype(value)
    if fill is None:
        return call("torch.zeros", shape, **expressions)
    return call("torch.full", shape, fill, **expressions)


def _same(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    return len(one) == len(two) and all(str(a) == str(b) for a, b in zip(one, two, strict=True))


def _size(size: Any, known: dict[str, Value]) -> ast.expr:
    if isinstance(size, int):
        return ast.Constant(size)
    for name, value in sorted(known.items()):
        if value.kind == "int" and str(value.constant) == str(size):
            return parse_expression(name)
        for dim, item in enumerate(value.shape):
            if str(item) == str(size):
                return parse_expression(f"{name}.shape[{dim}]")
    raise CannotRewrite("the loop carries a size that is not the size of an input")
