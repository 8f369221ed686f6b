"""Random generators: Python's, NumPy's, and torch's on each device."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def generators_kept() -> Iterator[None]:
    """Restores the generators on exit.

    Only global ones: a generator that the user made is an object of the model's like any other.
    NumPy and accelerators first used inside had no state to restore.
    """
    states: list[tuple[Callable[[Any], Any], Any]] = []
    for state, put_back in _generators():
        with suppress(RuntimeError):  # a GPU that has failed tells nothing until Python ends
            states.append((put_back, state()))
    try:
        yield
    finally:
        for put_back, state in states:
            with suppress(RuntimeError):
                put_back(state)


def seed(number: int) -> None:
    """Seeds all, Python's and NumPy's too, so that a baked-in value differs from a call's.

    `torch.manual_seed` would also seed each device that was not used so far, once it is used, in
    place of the user's own seed; and note the caller's stack for it, which takes milliseconds.
    """
    random.seed(number)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(number)
    if torch is None:
        return
    torch.default_generator.manual_seed(number)
    for device in _list_accelerators(torch):
        device.manual_seed_all(number)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(number)


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
    for device in _list_accelerators(torch):
        yield device.get_rng_state_all, device.set_rng_state_all
    if torch.backends.mps.is_available():
        yield torch.mps.get_rng_state, torch.mps.set_rng_state


def _list_accelerators(torch: Any) -> list[Any]:
    """The modules of the accelerators that were used in this process."""
    return [device for device in (torch.cuda, torch.xpu) if device.is_initialized()]
