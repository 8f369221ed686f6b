"""A failure that a user reported, restated: a small model of our own, and how it was called."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import torch

Inputs = Callable[[int], "tuple[Any, ...] | dict[str, Any]"]
"""The arguments of call 0, the example, and of 1 and 2, which have other values and sizes. A dict
is keyword arguments."""
_HERE = "# <- here"
_T = TypeVar("_T", bound=type)


class Reported(NamedTuple):
    """A reported failure."""

    name: str
    address: str
    model: Callable[[], Any]
    """Makes the model."""
    inputs: Inputs
    shapes: Any
    """What was wanted dynamic: in the short language, or as torch takes it; None: nothing."""
    file: str
    lines: tuple[int, ...]
    """Where the failure is, from 1; empty if it is about the call."""

    def build(self) -> Any:
        """A new model, in eval mode; always with the same weights."""
        torch.manual_seed(7)
        made = self.model()
        return made.eval() if isinstance(made, torch.nn.Module) else made

    def call(self, number: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call."""
        torch.manual_seed(number)
        given = self.inputs(number)
        return ((), dict(given)) if isinstance(given, Mapping) else (given, {})


REPORTED: list[Reported] = []
"""All of them, filled by the modules beside this one."""


def reported(address: str, inputs: Inputs, shapes: Any = None) -> Callable[[_T], _T]:
    """Adds a model as a reported failure; its line that fails ends in `# <- here`.

    Args:
        address: where it was reported.
        inputs: how the model is called.
        shapes: what was wanted dynamic.
    """

    def add(model: _T) -> _T:
        lines, first = inspect.getsourcelines(model)
        marked = tuple(first + n for n, text in enumerate(lines) if text.rstrip().endswith(_HERE))
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", model.__name__).lower()
        file = inspect.getsourcefile(model) or ""
        REPORTED.append(Reported(name, address, model, inputs, shapes, file, marked))
        return model

    return add
