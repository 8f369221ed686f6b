"""Which names code can set, and whether it fills containers, from its bytecode."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

import torch

from export_engine.capture.sandbox.real_type import package_of
from export_engine.source import function_behind
from export_engine.torch_internals import forward_hooks
from export_engine.trace import Owner


class Slot(NamedTuple):
    """A place that holds a value, and its setter."""

    owner: Owner
    name: str
    where: str
    read: Callable[[], Any]
    write: Callable[[Any], None]


@dataclass
class Writes:
    """Objects that code can write to."""

    names: dict[Owner, set[str]] = field(default_factory=dict)
    anything: bool = False
    """Whether it sets names that are not in its text."""
    containers: bool = False

    def can_set(self, slot: Slot) -> bool:
        """Whether it can set a place."""
        name = slot.name.rpartition(".")[2]
        return self.anything or name in self.names.get(slot.owner, ())


def writes_of(codes: Iterable[CodeType]) -> Writes:
    """Objects that functions, and functions nested in them, can write to."""
    writes = Writes()
    for code in codes:
        for inner_code in _iter_code(code):
            _add(inner_code, writes)
    return writes


def names_set_by_torch(module: torch.nn.Module) -> set[str]:
    """Attributes of a module that torch's own code sets in a call, and that no other class sets.

    `torch.nn.LSTM` keeps its weights once more in `_flat_weights`; the hooks of weight norm and of
    pruning compute a weight before each call.
    """
    classes = [cls for cls in type(module).__mro__ if package_of(cls) != "builtins"]
    torch_own = [
        cls for cls in classes if package_of(cls) == "torch" and cls is not torch.nn.Module
    ]
    others = [cls for cls in classes if package_of(cls) != "torch"]
    hooks = [
        forward_hook
        for forward_hook in forward_hooks(module)
        if package_of(type(forward_hook)) == "torch"
    ]
    named = {
        text
        for hook in hooks
        for text in getattr(hook, "__dict__", {}).values()
        if isinstance(text, str)
    }
    return (_set_names(torch_own) | named) - _set_names(others)


def _set_names(classes: Iterable[type]) -> set[str]:
    """Attributes that methods of classes set, but for `__init__`."""
    functions = [
        function
        for cls in classes
        for name, value in vars(cls).items()
        if name != "__init__" and (function := function_behind(value)) is not None
    ]
    return writes_of([function.__code__ for function in functions]).names.get(
        "class attribute", set()
    )


def _add(code: CodeType, found: Writes) -> None:
    names = {*code.co_names}
    found.anything = found.anything or not names.isdisjoint(_BY_NAME)
    found.containers = found.containers or not names.isdisjoint(_FILLING)
    for instruction in dis.get_instructions(code):
        if instruction.opname in _SETTING:
            found.names.setdefault(_SETTING[instruction.opname], set()).add(str(instruction.argval))
        elif instruction.opname in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"):
            found.containers = True
        elif instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("="):
            found.containers = True  # `+=` extends a list


def _iter_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _iter_code(constant)


_SETTING: dict[str, Owner] = {
    "STORE_GLOBAL": "global",
    "DELETE_GLOBAL": "global",
    "STORE_DEREF": "closure",
    "DELETE_DEREF": "closure",
    "STORE_ATTR": "class attribute",
    "DELETE_ATTR": "class attribute",
}
_BY_NAME = {"setattr", "delattr", "globals", "vars", "exec", "eval", "__dict__", "__setattr__"}
_FILLING = {
    *("append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem"),
    *("remove", "discard", "clear", "add", "update", "setdefault", "sort", "reverse"),
    *("intersection_update", "difference_update", "symmetric_difference_update"),
    *("__setitem__", "__delitem__", "setitem", "delitem", "iadd", "shuffle"),
    *("heappush", "heappop", "heapify", "heapreplace", "heappushpop"),
    *("insort", "insort_left", "insort_right"),
}
"""Method names that fill or empty a container."""
