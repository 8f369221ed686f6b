"""Restores a model after it is called or traced: everything it reaches, and its tensors.

While tracing, `restored_attributes.py` restores attributes, and reports what they were set to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from export_engine.attempt import Request, as_module
from export_engine.capture.sandbox.namespace_snapshot import Surroundings
from export_engine.capture.sandbox.object_snapshot import Reached
from export_engine.process import undone
from export_engine.trace import Recording


@undone
def model_kept(target: Callable[..., Any]) -> Iterator[Callable[[], None]]:
    """Undoes what calls inside do to a model, its tensors included; yields an early undo.

    Tensors are copied once. Parameters, which a call rarely mutates, are skipped if their copies
    would fill the memory.

    Args:
        target: a module or another callable.
    """
    module = as_module(target)
    surroundings = Surroundings(target, module)
    reached = Reached([module, target, *surroundings.values])

    def restore() -> None:
        surroundings.restore()
        reached.restore()

    try:
        yield restore
    finally:
        restore()


@undone
def in_eval_mode(target: Callable[..., Any], wanted: bool) -> Iterator[None]:
    """Switches a model to eval mode, if wanted, and back.

    A model may do more in `eval()` than set a mode, such as merge adapters into its weights.
    """
    if not wanted:
        yield
        return
    with model_kept(target):
        as_module(target).eval()
        yield


@undone
def surroundings_kept(request: Request, record: Recording) -> Iterator[None]:
    """Undoes what a trace does to everything a call reaches.

    Args:
        request: the call.
        record: of the trace; gets what was undone for names that functions reach.
    """
    module = as_module(request.target)
    surroundings = Surroundings(request.target, module)
    roots = [module, request.target, request.args, dict(request.kwargs), *surroundings.values]
    reached = Reached(roots, traced=module)
    try:
        yield
    finally:
        record.changes.extend(surroundings.restore(record.depends))
        reached.restore()
