"""A snapshot of everything a model reaches: what its objects hold, and its tensors' values.

It follows attributes, container items, slots and what the user's functions use, from the model and
its arguments. Objects of the standard library and of torch are skipped, except modules, optimizers,
containers, buffers of bytes and text, random generators, and what is kept by thread or by context.
An advanced iterator stays advanced. `hidden_state.py` has what no attribute shows.
"""

from __future__ import annotations

import functools
import operator
import sys
import threading
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from export_engine.capture.sandbox.hidden_state import iter_caches, states
from export_engine.capture.sandbox.real_type import is_of, package_of
from export_engine.defects import log_internal_error
from export_engine.torch_internals import is_fake, set_times_written, times_written, to_strided

_MOST_OBJECTS = 200_000
_MOST_COPIED = 2**31
"""Bytes of parameters."""
_MOST_LOOSE = 2**28
"""Bytes of tensors that are neither parameters nor buffers, copied for a trace."""
_LIBRARIES = frozenset({*sys.stdlib_module_names, "torch", "numpy"})
_OF_LIBRARIES = (
    *(torch.nn.Module, torch.optim.Optimizer),
    *(types.SimpleNamespace, functools.partial, threading.local),
)
"""Classes whose instances hold state of the model."""
_NOT_HELD = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType)
_CONTAINERS: tuple[Any, ...] = (list, set, deque)
_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), torch.dtype, torch.device})


class Reached:
    """The snapshot."""

    def __init__(self, roots: Iterable[Any], traced: torch.nn.Module | None = None) -> None:
        """Takes the snapshot.

        Args:
            roots: where to start.
            traced: a module that is not called but traced: that writes neither to its parameters
                nor to its buffers, whose values are not copied.
        """
        self._held: list[tuple[Any, tuple[Any, ...]]] = []
        self._slots: list[tuple[Any, str, Any]] = []
        self._states: list[tuple[Callable[[Any], Any], Any]] = []
        self._arrays: list[tuple[Any, Any]] = []
        self._kinds: set[type] = set()
        tensors: list[torch.Tensor] = []
        waiting = deque(roots)
        seen: dict[int, Any] = {}  # keep the objects alive: ids are reused
        while waiting and len(seen) < _MOST_OBJECTS:
            result = waiting.popleft()
            if type(result) in _ATOMS or id(result) in seen:
                continue
            seen[id(result)] = result
            if is_of(result, torch.Tensor):
                tensors.append(result)
            waiting.extend(self._visit(result))
        self._tensors: list[_KeptTensor] = []
        for tensor in tensors:
            if not is_fake(tensor) and not is_lazy(tensor):
                _try_restore(lambda: self._tensors.append(_KeptTensor(tensor)))  # noqa: B023
        if traced is None:
            self._copy_values()
        else:
            self._copy_loose({id(tensor) for tensor in (*traced.parameters(), *traced.buffers())})

    def restore(self) -> None:
        """Restores everything that changed. Failures are logged, and the rest is still restored."""
        for value, held in self._held:
            if not _same(contents(value), held):
                _try_restore(functools.partial(_refill, value, held))
        for owner, name, value in self._slots:
            if _slot(owner, name) is not value:
                _try_restore(functools.partial(_set_slot, owner, name, value))
        for write, state in self._states:
            _try_restore(functools.partial(write, state))
        for array, copied in self._arrays:
            if array.tobytes() != copied.tobytes():
                _try_restore(functools.partial(_copy_array, array, copied))
        for tensor in self._tensors:
            _try_restore(tensor.restore)

    def _copy_values(self) -> None:
        parameters = [e for e in self._tensors if is_of(e.tensor, torch.nn.Parameter)]
        small = sum(_bytes(parameter.tensor) for parameter in parameters) <= _MOST_COPIED
        for tensor in self._tensors:
            if small or not is_of(tensor.tensor, torch.nn.Parameter):
                _try_restore(tensor.copy)

    def _copy_loose(self, traced: set[int]) -> None:
        """Copies the tensors that a trace may write to: the model's own that torch does not know.

        Args:
            traced: ids of those that it replaces by fake tensors.
        """
        left = _MOST_LOOSE
        for tensor in self._tensors:
            if id(tensor.tensor) not in traced and _bytes(tensor.tensor) <= left:
                left -= _bytes(tensor.tensor)
                _try_restore(tensor.copy)

    def _visit(self, each: Any) -> Iterator[Any]:
        """Snapshots and returns what an object holds."""
        if is_of(each, _NOT_HELD):
            return
        held = contents(each)
        if held is not None:
            self._held.append((each, held))
            yield from held
        elif is_of(each, tuple | frozenset):
            yield from each
        elif is_of(each, types.MethodType):
            yield each.__self__
            yield each.__func__
        elif is_of(each, types.FunctionType):
            yield from (each.__dict__, each.__defaults__, each.__kwdefaults__)
            return
        self._states.extend(states(each))
        if type(each) not in self._kinds:
            self._kinds.add(type(each))
            yield from iter_caches(type(each))
        if _is_array(each):
            self._arrays.append((each, each.copy()))
        if _has_attributes(each):
            yield from self._attributes(each)

    def _attributes(self, each: Any) -> Iterator[Any]:
        kind = threading.local if is_of(each, threading.local) else object
        attributes = _slot(each, "__dict__", kind)
        if type(attributes) is dict:
            yield attributes
        if is_of(each, functools.partial):
            yield from (each.func, each.args, each.keywords)
        for name in _slot_names(type(each)):
            value = _slot(each, name)
            self._slots.append((each, name, value))
            yield value


class _KeptTensor:
    """A snapshot of a tensor."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self._alias = tensor.detach()
        self._wanted = tensor.requires_grad
        self._grad = tensor.grad if tensor.is_leaf else None
        self._written = times_written(tensor)
        self._value: torch.Tensor | None = None

    def copy(self) -> None:
        """Also keeps its values: some kernels write without bumping the version counter."""
        if not self.tensor.is_meta:
            self._value = self._alias.clone()

    def restore(self) -> None:
        tensor, alias = self.tensor, self._alias
        if _place(tensor) != _place(alias):  # `tensor.data = other`, or resized
            tensor.data = alias
        if tensor.is_leaf:
            if tensor.requires_grad != self._wanted:
                tensor.requires_grad_(self._wanted)
            if tensor.grad is not self._grad:
                tensor.grad = self._grad
        if self._value is not None and not torch.equal(to_strided(alias), to_strided(self._value)):
            with torch.inference_mode(tensor.is_inference()), torch.no_grad():
                alias.copy_(self._value)
        if times_written(tensor) != self._written:
            set_times_written(tensor, self._written)


def _place(tensor: torch.Tensor) -> tuple[Any, ...]:
    strided = tensor.layout is torch.strided and type(tensor) in (torch.Tensor, torch.nn.Parameter)
    where = (tensor.stride(), tensor.data_ptr()) if strided else ()
    return tensor.shape, tensor.dtype, tensor.device, where


def contents(value: Any) -> tuple[Any, ...] | None:
    """A container's items, keys before values; only of plain classes, since others may run code."""
    if is_of(value, dict):
        mapping = OrderedDict if is_of(value, OrderedDict) else dict
        return (*mapping.keys(value), *mapping.values(value))
    for kind in _CONTAINERS:
        if is_of(value, kind):
            return tuple(kind.__iter__(value))
    return None


def _same(now: tuple[Any, ...] | None, held: tuple[Any, ...]) -> bool:
    """Whether these are the identical objects; `==` would compare tensors."""
    return now is not None and len(now) == len(held) and all(map(operator.is_, now, held))


def _refill(value: Any, held: tuple[Any, ...]) -> None:
    """Restores a container's items by its base class's methods."""
    if is_of(value, dict):
        kind = OrderedDict if is_of(value, OrderedDict) else dict
        kind.clear(value)
        half = len(held) // 2
        for key, item in zip(held[:half], held[half:], strict=True):
            kind.__setitem__(value, key, item)
    elif is_of(value, set):
        set.clear(value)
        set.update(value, held)
    else:
        base: Any = list if is_of(value, list) else deque
        base.clear(value)
        base.extend(value, held)


def _has_attributes(value: Any) -> bool:
    if is_of(value, (*_OF_LIBRARIES, torch.Tensor)):
        return True
    return package_of(type(value)) not in _LIBRARIES


def _slot_names(cls: type) -> list[str]:
    return [
        name
        for base in cls.__mro__
        for name, member in vars(base).items()
        if isinstance(member, types.MemberDescriptorType) and package_of(base) not in _LIBRARIES
    ]


_EMPTY = object()


def _slot(owner: Any, name: str, kind: Any = object) -> Any:
    try:
        return kind.__getattribute__(owner, name)
    except AttributeError:
        return _EMPTY


def _set_slot(owner: Any, name: str, value: Any) -> None:
    if value is _EMPTY:
        object.__delattr__(owner, name)
    else:
        object.__setattr__(owner, name, value)


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and is_of(value, numpy.ndarray) and value.flags.writeable


def _copy_array(array: Any, values: Any) -> None:
    array[...] = values


def _try_restore(step: Callable[[], Any]) -> None:
    try:
        step()
    except Exception as error:  # noqa: BLE001 - what remains must be put back all the same
        log_internal_error(error, "putting back what the model holds")


def _bytes(tensor: torch.Tensor) -> int:
    """Bytes of a copy; for a sparse tensor an upper bound, the size of a dense one."""
    return tensor.numel() * tensor.element_size()
