"""From a call to an Exploration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from os import PathLike
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration
from explorer.session.entry import Entry
from explorer.session.given_program import entry_of, is_exported_program, programs_in
from explorer.session.notebook_cells import cell_names
from explorer.session.session import Session
from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from export_engine.attempt import Attempt, Request
    from export_engine.progress import Progress


def explore(
    model: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    both: bool = False,
    fix: bool = False,
    spec: bool = False,
    without_weights: bool = False,
    joint: bool = False,
    title: str = "",
    cells: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Exports a call; returns an Exploration, whether or not it succeeds.

    Args:
        model: a module, or any other callable. An ExportedProgram is opened, as by `explorer.view`.
        args: the call's positional arguments.
        kwargs: its keyword arguments.
        dynamic_shapes: the dynamic sizes: the short language, `"x: batch, _"`, a Shapes, or
            anything that `torch.export.export` accepts.
        strict: trace the bytecode instead of running the Python.
        both: try both modes.
        fix: if the export fails, apply fixes that are not lossy until it succeeds or none is left.
        spec: export with torch's ShapesSpec in place of Dims: sizes are unbacked, not specialized
            on 0 and 1. Needs torch 2.14.
        without_weights: export a copy of the module on the meta device, which takes no memory;
            checks that need values are skipped. The module itself is unchanged.
        joint: trace a training step, a call that returns a loss, with autograd's backward pass.
            Nothing is trained. The result is a graph: it can be read, queried, compared, counted
            (`.cost()`) and saved as a page. Its overlay `pass` labels each op as forward, or with
            the op whose gradient it computes: `overlay.pass:backward*` in a query. Modules among
            the arguments count as the function's own. No other option works with it.
        title: the call's title; `model(...)` by default.
        cells: Python's file name of each notebook cell, and the name to show for it; by default
            those of the notebook that runs this.
        progress: called on each module that tracing enters, and as fixes are tried.

    Raises:
        TypeError: `model` cannot be called, or not with these arguments.
        ShapesError: `dynamic_shapes` do not fit the call.
        WrongArgument: `without_weights`, and `model` is not a module, or cannot be copied; or
            `joint`, and another option.
        JointFailed: torch cannot trace the step, or nothing in its result needs a gradient.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.attempt import Request, name_of
    from export_engine.shapes import Shapes, ShapesError
    from export_engine.torch_internals import find_attached_spec

    if not isinstance(args, tuple | list):
        raise TypeError(
            f"args is a {type(args).__name__}. Pass the positional arguments as a tuple: "
            "explore(model, (x,))"
        )
    if joint:
        if dynamic_shapes is not None or any((strict, both, fix, spec, without_weights)):
            raise WrongArgument(
                "explore(joint=True) traces a training step and supports no other option."
            )
        return _trace_joint(model, tuple(args), dict(kwargs or {}), title, cells)
    if is_exported_program(model):
        call = (tuple(args), dict(kwargs or {})) if args or kwargs else None
        return Exploration(Session([entry_of(model, title, call)]))
    program: object = model
    if isinstance(program, str | PathLike) or programs_in(program) is not None:
        raise TypeError(
            f"{type(model).__name__} is not a model. explorer.view opens programs and files."
        )
    if without_weights:
        from export_engine.capture import copy_without_weights

        model, args, kwargs = copy_without_weights(model, tuple(args), kwargs or {})
    value = Shapes.parse(dynamic_shapes) if isinstance(dynamic_shapes, str) else dynamic_shapes
    attached = find_attached_spec(model)
    if attached is not None and value is not None and value is not attached:
        raise ShapesError(
            "@dynamic_spec already defines the dynamic sizes of this call; leave out dynamic_shapes"
        )
    if spec and value is not None:
        shapes = value
        if not isinstance(value, Shapes):
            shapes = Shapes.from_torch(value, model, tuple(args), dict(kwargs or {}))
        value = shapes.to_spec()
    name = name_of(model)
    request = Request(
        target=model,
        args=tuple(args),
        kwargs=dict(kwargs or {}),
        dynamic_shapes=value,
        strict=strict,
        title=title or f"{name}(…)",
        cells=cell_names() if cells is None else dict(cells),
    )
    modes = (False, True) if both else (strict,)
    return export_requests(
        *(request.with_changes(strict=mode) for mode in modes), fix=fix, progress=progress
    )


def export_requests(
    *requests: Request,
    fix: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Exports requests, which are tried beside each other.

    Args:
        requests: of one call.
        fix: see `explore`.
        progress: see `explore`.
    """
    session = Session(
        [Entry.of(_explain_attempt(request, progress), request.mode) for request in requests]
    )
    if fix and not session.entry.ok:
        with suppress(KeyboardInterrupt):  # keep the failure and its fixes
            session.autofix(session.current, progress)
    return Exploration(session)


def _trace_joint(
    model: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    title: str,
    cells: Mapping[str, str] | None,
) -> Exploration:
    from export_engine.attempt import Request, name_of
    from export_engine.capture import capture_joint

    request = Request(
        target=model,
        args=args,
        kwargs=kwargs,
        title=title or f"{name_of(model)}(…)",
        cells=cell_names() if cells is None else dict(cells),
    )
    return Exploration(Session([Entry.of(capture_joint(request), "joint")]))


def _explain_attempt(request: Request, progress: Callable[[Progress], None] | None) -> Attempt:
    """An attempt; one that failed comes with its diagnosis and fixes."""
    from export_engine.attempt import Failed
    from export_engine.capture import capture
    from export_engine.fixes import explain

    attempt = capture(request, progress)
    return explain(attempt, progress) if isinstance(attempt, Failed) else attempt
