"""A training step, shown: the joint graph of its forward and backward pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.exploration import Exploration
from explorer.session.entry import Entry
from explorer.session.notebook_cells import cell_names
from explorer.session.session import Session


def explore_joint(
    model: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    title: str = "",
    cells: Mapping[str, str] | None = None,
) -> Exploration:
    """Traces a training step: a call that gives a loss, with the backward pass of autograd.

    Nothing is trained. The result is a graph: it can be read, queried, compared, counted
    (`.cost()`) and saved as a page. Its overlay `pass` says of each op whether it is of the forward
    pass, or which op it is the gradient of: `overlay.pass:backward*` in a query.

    Args:
        model: a module that returns the loss; or a function of one, `loss_fn(model, x, y)`.
        args: the call's positional arguments; modules among them count as held by the function.
        kwargs: its keyword arguments.
        title: the call's title; `model(...)` by default.
        cells: Python's file name of each notebook cell, and the name to show for it; by default
            those of the notebook that runs this.

    Raises:
        JointFailed: torch cannot trace the call, or nothing in its result needs a gradient.
        TypeError: `model` cannot be called, or not with these arguments.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.attempt import Request, name_of
    from export_engine.capture import capture_joint

    request = Request(
        target=model,
        args=tuple(args),
        kwargs=dict(kwargs or {}),
        title=title or f"{name_of(model)}(…)",
        cells=cell_names() if cells is None else dict(cells),
    )
    return Exploration(Session([Entry.of(capture_joint(request), "joint")]))
