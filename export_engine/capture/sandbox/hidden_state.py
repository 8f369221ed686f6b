"""State of an object that no attribute shows, and how it is restored."""

from __future__ import annotations

import array
import contextvars
import functools
import io
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from export_engine.capture.sandbox.real_type import is_of

PutBack = Callable[[Any], Any]
_UNSET = object()
_CACHED = type(functools.cache(lambda: None))
"""What `functools.lru_cache` makes."""


def states(value: Any) -> Iterator[tuple[PutBack, Any]]:
    """The setter of an object's state, and the state."""
    if is_of(value, torch.Generator):
        yield value.set_state, value.get_state()
    elif is_of(value, random.Random):
        yield value.setstate, value.getstate()
    elif is_of(value, bytearray | array.array):
        yield functools.partial(_refill, value), value[:]
    elif is_of(value, io.StringIO | io.BytesIO):
        if not value.closed:
            yield functools.partial(_rewrite, value), (value.getvalue(), value.tell())
    elif is_of(value, contextvars.ContextVar):
        yield functools.partial(_set_again, value), _read(value)
    elif is_of(value, _CACHED):
        yield functools.partial(_forget, value), value.cache_info()
    else:
        yield from _of_numpy(value)


def iter_caches(kind: type) -> Iterator[Any]:
    """The caches of a class's methods, `functools.lru_cache`, also of static ones."""
    for base in kind.__mro__:
        for value in vars(base).values():
            function = value.__func__ if is_of(value, staticmethod | classmethod) else value
            if is_of(function, _CACHED):
                yield function


def _of_numpy(value: Any) -> Iterator[tuple[PutBack, Any]]:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return
    if is_of(value, numpy.random.RandomState):
        yield value.set_state, value.get_state()
    elif is_of(value, numpy.random.Generator):
        bits = value.bit_generator
        yield functools.partial(setattr, bits, "state"), bits.state


def _refill(value: Any, before: Any) -> None:
    if value != before:
        value[:] = before


def _rewrite(value: Any, before: tuple[Any, int]) -> None:
    text, place = before
    if value.getvalue() != text:
        value.seek(0)
        value.truncate()
        value.write(text)
    value.seek(place)


def _read(value: Any) -> Any:
    try:
        return value.get()
    except LookupError:
        return _UNSET


def _set_again(value: Any, before: Any) -> None:
    """One without a default that was not set cannot be unset."""
    if before is not _UNSET and _read(value) is not before:
        value.set(before)


def _forget(cached: Any, before: Any) -> None:
    """Empties a cache that was filled meanwhile: entries of a trace are fake tensors."""
    if cached.cache_info().misses != before.misses:
        cached.cache_clear()
