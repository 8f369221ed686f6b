"""A non-strict export that ends once the model has run: what runs may be asked, at less cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import hook


class NoGraph(RuntimeError):
    """The model ran on torch.export's fake inputs; no graph was made."""


@undone
def graphs_left_out() -> Iterator[None]:
    """While inside, a non-strict export runs the model once, as it would, and raises `NoGraph`.

    Where this torch has no such names, an export goes on to its program.
    """
    needed = (torch_has.MAKE_GRAPH, torch_has.REPARAMETRIZE, torch_has.PYTHON_DISPATCHER)
    with hook(torch_has.MAKE_GRAPH, lambda _: _run) if all(needed) else nullcontext():
        yield


def _run(mod: Any, args: Any, kwargs: Any, weights: Any, *_: Any, **__: Any) -> Any:
    """Runs a model whose weights and inputs are fake, in the place of what traces it."""
    held = torch_has.REPARAMETRIZE.value(
        mod, weights, tie_weights=True, strict=True, stack_weights=True
    )
    with held, torch_has.PYTHON_DISPATCHER.value():
        mod(*args, **(kwargs or {}))
    raise NoGraph("The model ran; no graph was requested.")
