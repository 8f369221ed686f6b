"""A case: a model as a user writes it, the shapes that are asked for, and calls of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch

Call = Callable[[], "tuple[Any, ...] | dict[str, Any]"]
"""Makes the arguments of a call; a dict is keyword arguments."""
_T = TypeVar("_T", bound=Callable[..., Any])
NON_STRICT = (False,)
STRICT = (True,)
BOTH = (False, True)


class Case(NamedTuple):
    """One case; the first of its calls is the example."""

    name: str
    """With its topic: `loops/neighbours`."""
    make: Callable[[], Any]
    """Makes what is exported."""
    shapes: Any
    """In the short language, or as torch takes it; None where every size is static."""
    calls: Sequence[Call]
    modes: tuple[bool, ...] = BOTH
    """Strict or not."""
    eval_mode: bool = False
    source: str = ""
    """The text that defines it."""

    def build(self) -> Any:
        """A new model; always with the same weights."""
        torch.manual_seed(7)
        made = self.make()
        return made.eval() if self.eval_mode else made

    def call(self, number: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call."""
        torch.manual_seed(number)
        made = self.calls[number]()
        return ((), dict(made)) if isinstance(made, Mapping) else (made, {})


CASES: dict[str, Case] = {}
"""All of them by name, filled by the modules of `tests.fixes.cases`."""


def add(
    name: str,
    make: Callable[[], Any],
    *shapes_and_calls: Any,
    modes: tuple[bool, ...] = BOTH,
    eval_mode: bool = False,
) -> None:
    """Adds a case of the calling module.

    Args:
        name: the case's own name.
        make: makes what is exported.
        shapes_and_calls: what is dynamic, left out where nothing is, and then the calls.
        modes: the modes in which it is tried.
        eval_mode: whether the model is switched to eval mode.
    """
    calls = [each for each in shapes_and_calls if callable(each)]
    shapes = next((each for each in shapes_and_calls if not callable(each)), None)
    topic = calls[0].__module__.rpartition(".")[2]
    full = f"{topic}/{name}"
    if full in CASES:
        raise ValueError(f"Two cases are called {full}.")
    CASES[full] = Case(full, make, shapes, calls, modes, eval_mode, _text_of(calls[0]))


@cache
def _text_of_file(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")


def _text_of(call: Any) -> str:
    return _text_of_file(call.__code__.co_filename)


def case(*shapes_and_calls: Any, **options: Any) -> Callable[[_T], _T]:
    """Adds a class, or a function, as a case of its own name; see `add`."""

    def decorate(model: _T) -> _T:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", model.__name__).replace("_", "-").lower()
        make: Callable[[], Any] = model if isinstance(model, type) else lambda: model
        add(name, make, *shapes_and_calls, **options)
        return model

    return decorate
