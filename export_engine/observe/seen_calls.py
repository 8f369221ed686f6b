"""The calls that were seen: the sizes of each, and copies of some inputs, within a budget."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from export_engine.attempt import signature_of
from export_engine.defects import log_internal_error
from export_engine.shapes import leaves_of
from export_engine.torch_internals import pytree
from export_engine.verify import copy_leaf

MOST_BYTES = 256 * 2**20
"""The default memory for copies of inputs."""
_MOST_CALLS = 20_000
"""How many calls of other sizes are kept apart; further ones are only counted."""

Part = tuple[str, ...]
"""The kind of a leaf, apart from its sizes: its path, then `tensor` and its dtype, `int`,
`None`."""
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Call:
    """A call's arguments, without the values in its tensors."""

    build: tuple[Part, ...]
    """The kind of each leaf."""
    sizes: tuple[tuple[int, ...], ...]
    """Per leaf: the sizes of a tensor, or an int in a tuple of its own."""


@dataclass
class Seen:
    """Calls of one build and the same sizes."""

    times: int = 0
    example: Arguments | None = None
    """Copies of what the first of them was given; None where there was no room."""


@dataclass
class SeenCalls:
    """Every call that returned, by what it passed."""

    target: Callable[..., Any]
    most_bytes: int = MOST_BYTES
    seen: dict[Call, Seen] = field(default_factory=dict)
    missed: int = 0
    """Calls that could not be read, or were too many to tell apart."""
    bytes: int = 0
    """Bytes of the copies."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def times(self) -> int:
        """How many calls there were."""
        return sum(item.times for item in self.seen.values()) + self.missed

    def before(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[], None]:
        """Reads a call's inputs before it runs; the result is called once it has returned."""
        try:
            leaves = leaves_of(signature_of(self.target), args, kwargs)
            parts = [_part(leaf.path, leaf.value) for leaf in leaves]
            call = Call(tuple(part for part, _ in parts), tuple(sizes for _, sizes in parts))
            copied = self._copy_inputs(call, args, kwargs)
        except Exception as error:  # noqa: BLE001 - the user's call goes on whatever it passes
            log_internal_error(error, "reading the inputs of a call")
            return self._miss
        return lambda: self._add(call, copied)

    def _copy_inputs(
        self, call: Call, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Arguments, int] | None:
        """Copies of the inputs, with the bytes they take; None if not needed or without room."""
        with self._lock:
            is_known = call in self.seen
            first = all(seen_call.build != call.build for seen_call in self.seen)
            left = self.most_bytes - self.bytes
        if is_known or (not first and _bytes_of((args, kwargs)) > left):
            return None
        memo: dict[int, Any] = {}
        copies = pytree.tree_map(lambda leaf: copy_leaf(leaf, memo), (tuple(args), dict(kwargs)))
        return copies, _bytes_of(copies)

    def _add(self, call: Call, copied: tuple[Arguments, int] | None) -> None:
        with self._lock:
            if call not in self.seen and len(self.seen) >= _MOST_CALLS:
                self.missed += 1
                return
            known = self.seen.setdefault(call, Seen())
            known.times += 1
            if known.example is None and copied is not None:
                known.example, taken = copied
                self.bytes += taken

    def _miss(self) -> None:
        with self._lock:
            self.missed += 1


def _part(path: str, value: Any) -> tuple[Part, tuple[int, ...]]:
    """The kind of a leaf, and its sizes."""
    if isinstance(value, torch.Tensor):
        layout = "" if value.layout is torch.strided else f" {value.layout}"
        kind = f"a {str(value.dtype).removeprefix('torch.')} tensor of {value.dim()} dims{layout}"
        return (path, "tensor", kind, str(value.device)), tuple(value.shape)
    if value is None:
        return (path, "None"), ()
    if type(value) is int:
        return (path, "int"), (value,)
    if isinstance(value, bool | float | str | complex):
        return (path, "value", repr(value)), ()
    return (path, "value", f"a {type(value).__name__}"), ()


def _bytes_of(tree: Any) -> int:
    """The memory of the tensors in a tree, and in the attributes of its other leaves."""
    total, waiting, numbers = 0, list(pytree.tree_leaves(tree)), set[int]()
    while waiting:
        leaf = waiting.pop()
        if id(leaf) in numbers:
            continue
        numbers.add(id(leaf))
        if isinstance(leaf, torch.Tensor):
            total += leaf.numel() * leaf.element_size()
        elif hasattr(leaf, "__dict__") and not isinstance(leaf, type | torch.nn.Module):
            waiting += pytree.tree_leaves(list(vars(leaf).values()))
    return total
