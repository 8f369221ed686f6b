"""What to call torch's symbols when there is no program to read names off: an attempt that failed.

An input's dim goes by its Dim's name, else by its place, `x.shape[0]`; a number computed from data
by the variable that holds it, else by the code that computed it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import torch

from export_engine.attempt import Attempt
from export_engine.recorder import SymbolBirth
from export_engine.shapes import Named
from export_engine.shapes.inputs import leaves_of
from export_engine.sizes.facts import shapes_of
from export_engine.sizes.places import InputPlace, birth_dims
from export_engine.stacks import Stack
from export_engine.syntax import code_of
from export_engine.targets import signature_of
from export_engine.torch_internals import expression_of

_TORCH_SYMBOL = re.compile(r"(?:s|u|zf|zuf)\d+")


def symbol_names(attempt: Attempt) -> dict[str, str]:
    """The user's name of each symbol that was recorded, by torch's name of it."""
    births = attempt.recording.births
    request = attempt.request
    if request is None:
        return {}
    paths = [
        leaf.path for leaf in leaves_of(signature_of(request.target), request.args, request.kwargs)
    ]
    places = birth_dims(births, paths)
    dims = _dim_names(attempt)
    sizes = _computed_sizes(attempt)
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
            name = "size" if birth.source else computed_name(birth, sizes.get(symbol))
            taken[name] = taken.get(name, 0) + 1
            names[symbol] = name if taken[name] == 1 else f"{name}_{taken[name]}"
    return names


def computed_name(birth: SymbolBirth, dim: int | None) -> str:
    """What to call a number that was computed from data.

    Args:
        birth: where it was computed.
        dim: of a tensor's size, which dim of it; None for a number as such.
    """
    variable = variable_of(birth.stack)
    if dim is None:
        return variable or "n"
    return f"{variable}.shape[{dim}]" if variable else "size"


def _computed_sizes(attempt: Attempt) -> dict[str, int]:
    """The dim that each size computed from data was made for, by torch's name of its symbol."""
    found: dict[str, int] = {}
    graph = attempt.recording.graph
    for node in graph.graph.nodes if graph is not None else ():
        value = node.meta.get("val", node.meta.get("example_value"))
        for tensor in value if isinstance(value, tuple | list) else (value,):
            sizes: tuple[Any, ...] = tensor.shape if isinstance(tensor, torch.Tensor) else ()
            for dim, size in enumerate(sizes):
                if isinstance(size, torch.SymInt):
                    found.setdefault(str(expression_of(size)), dim)
    return found


def variable_of(stack: Stack) -> str:
    """The variable that the innermost line gives a value; empty where it gives none, or several."""
    code = code_of(stack[-1].file) if stack else None
    statement = code.statement(stack[-1].line) if code else None
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name if not _TORCH_SYMBOL.fullmatch(name) else ""
    return ""


def _dim_names(attempt: Attempt) -> Mapping[InputPlace, str]:
    shapes = shapes_of(attempt.request) if attempt.request else None
    if not shapes:
        return {}
    return {
        InputPlace(path, position): spec.name
        for path, specs in shapes.leaves.items()
        for position, spec in enumerate(specs)
        if isinstance(spec, Named) and not spec.derived
    }
