"""Random generators: Python's, NumPy's, and torch's on each device."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def generators_kept() -> Iterator[None]:
    """Restores the generators on exit.

    Only global ones: a generator that the user made is an object of the model's like any other.
    NumPy and accelerators first used inside had no state to restore.
    """
    states = [(put_back, state()) for state, put_back in _generators()]
    try:
        yield
    finally:
        for put_back, state in states:
            put_back(state)


def seed(number: int) -> None:
    """Seeds all, Python's and NumPy's too, so that a baked-in value differs from a call's."""
    random.seed(number)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(number)
    if torch is not None:
        torch.manual_seed(number)


def _generators() -> Iterator[tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """The getter and the setter of each generator's state."""
    yield random.getstate, random.setstate
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        yield numpy.random.get_state, numpy.random.set_state
    torch = sys.modules.get("torch")
    if torch is None:
        return
    yield torch.get_rng_state, torch.set_rng_state
    for device in (torch.cuda, torch.xpu):
        if device.is_initialized():
            yield device.get_rng_state_all, device.set_rng_state_all
