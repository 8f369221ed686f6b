"""Names of torch's symbols for a failed attempt, which has no program.

An input's dim goes by its Dim's name, else by its place, `x.shape[0]`; a number computed from data
by the variable that holds it, else by the code that computed it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from export_engine.attempt import Attempt, Request, signature_of
from export_engine.shapes import Named, ShapesError, leaves_of
from export_engine.source import Stack, code_of, parse_stack_trace
from export_engine.torch_internals import expression_of
from export_engine.trace import SymbolBirth
from export_engine.traced_sizes.symbol_sources import InputPlace, birth_dims

_NUMBERS = frozenset({"item", "tolist", "int", "float", "bool", "len", "round", "max", "min"})
"""Calls that give a plain number for a tensor."""
_TORCH_SYMBOL = re.compile(r"(?:s|u|zf|zuf)\d+")


def symbol_names(attempt: Attempt) -> dict[str, str]:
    """The user's name of each symbol that was recorded, by torch's name of it."""
    births = attempt.recording.births
    request = attempt.request
    if request is None:
        return {}
    paths = call_paths(request)
    places = birth_dims(births, paths)
    dims = _dim_names(attempt)
    dims_computed = _find_computed_dims(attempt)
    names: dict[str, str] = {}
    taken: dict[str, int] = {}
    for birth in births:
        symbol = str(birth.symbol)
        if symbol in names:
            continue
        place = places.get(symbol)
        if place is not None and place.path in paths:
            names[symbol] = dims.get(place, str(place))
        else:  # of an operand of torch.cond, whose branches are traced on their own, it is a size
            name = "size" if birth.source else _find_variable_name(birth, dims_computed)
            taken[name] = taken.get(name, 0) + 1
            names[symbol] = name if taken[name] == 1 else f"{name}_{taken[name]}"
    return names


def call_paths(request: Request) -> list[str]:
    """Where the caller passes each leaf: `x`, `cache.0.key`; empty where it has no names."""
    try:
        leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    except ShapesError:  # a class without names for what is in it: that is the failure
        return []
    return [leaf.path for leaf in leaves]


def _find_variable_name(birth: SymbolBirth, dims: Mapping[str, int]) -> str:
    """The name of a data-dependent number: its variable, if certain."""
    name, value = _find_assignment(birth.stack)
    dim = dims.get(str(birth.symbol))
    if dim is not None:
        return f"{name}.shape[{dim}]" if name else "size"
    return name if name and isinstance(value, ast.Call) and _call_name(value) in _NUMBERS else "n"


def _find_assignment(stack: Stack) -> tuple[str, ast.expr | None]:
    """The one variable that the innermost line gives a value, and that value."""
    code = code_of(stack[-1].file) if stack else None
    statement = code.statement(stack[-1].line) if code else None
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            pass
        case _:
            return "", None
    return ("", None) if _TORCH_SYMBOL.fullmatch(name) else (name, value)


def _call_name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _find_computed_dims(attempt: Attempt) -> dict[str, int]:
    """The dim of its line's result that each data-dependent size is, by symbol."""
    lines = {
        str(birth.symbol): birth.stack[-1]
        for birth in attempt.recording.births
        if birth.stack and not birth.source
    }
    dims: dict[str, int] = {}
    for stack, sizes in _iter_traced_sizes(attempt):
        for symbol, dim in sizes.items():
            if stack and stack[-1] == lines.get(symbol):
                dims[symbol] = dim
    return dims


def _iter_traced_sizes(attempt: Attempt) -> Iterator[tuple[Stack, dict[str, int]]]:
    """Per op that was traced: its line, and the symbols among the sizes of what it gives."""
    graph = attempt.recording.graph
    for node in graph.graph.nodes if graph is not None else ():
        value = node.meta.get("val", node.meta.get("example_value"))
        tensors = value if isinstance(value, tuple | list) else (value,)
        sizes: dict[str, int] = {}
        for tensor in tensors:
            shape: tuple[Any, ...] = tensor.shape if isinstance(tensor, torch.Tensor) else ()
            for dim, size in enumerate(shape):
                if isinstance(size, torch.SymInt):
                    sizes.setdefault(str(expression_of(size)), dim)
        if sizes:
            yield parse_stack_trace(node.meta.get("stack_trace") or ""), sizes


def _dim_names(attempt: Attempt) -> Mapping[InputPlace, str]:
    shapes = attempt.request.shapes if attempt.request else None
    if not shapes:
        return {}
    return {
        InputPlace(path, position): spec.name
        for path, specs in shapes.leaves.items()
        for position, spec in enumerate(specs)
        if isinstance(spec, Named) and not spec.derived
    }
