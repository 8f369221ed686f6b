"""Runs a model with a code fix and without it in eager, also on inputs that take the other branch.

An export shows nothing of a branch that the example does not take. A fix of a data-dependent loop
is tried on values and sizes at which the loop skips iterations.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import torch

from export_engine.attempt import Edit, EditError, Exported, Request, apply_edits
from export_engine.capture import as_exported, model_kept
from export_engine.defects import log_internal_error
from export_engine.findings import ops_of
from export_engine.process import Deadline, undone
from export_engine.shapes import Pinned, Static
from export_engine.torch_internals import pytree
from export_engine.traced_sizes import leaf_values, with_leaves, with_size
from export_engine.verify import (
    compare,
    find_code_numbers,
    fresh_request,
    memory_filled_in_calls,
    run,
)

REACHED = "Export Explorer: this branch is taken"
"""The message of the error that a probe raises."""
RAISES = f"(_ for _ in ()).throw(LookupError({REACHED!r}))"
"""An expression that raises it."""
_MOST_DIMS = 3
_MOST_SIZES = 4
_LARGEST = 256
_FEW = range(1, 3), range(2)
_MANY = range(1, 13), range(6)
"""Seeds of fresh values, and sizes."""
_SEEDS_OF_ONES = range(20, 24)
_FACTORS = (0.0, -1.0, 1e-3, 1e3)


def agrees(
    request: Request,
    edit: Edit,
    probes: tuple[Edit, ...] = (),
    *,
    rejected: str = "",
    fewest: int = 1,
) -> bool:
    """Whether an edited model answers as it did, on every input that it takes without the edit.

    Args:
        request: with the edits in effect so far.
        edit: to be tried.
        probes: each raises an error of text `REACHED` where a way is taken that the edit changes.
            Each must be reached by an input on which both agree, in a result with elements; else
            the agreement shows nothing. Floats of other magnitudes only refute: zeros agree with
            much.
        rejected: begins the error with which the edited model may reject an input, except the
            example.
        fewest: how many inputs have to reach each probe: more, where agreement may be by chance.
    """
    with as_exported(request):
        usual = list(_inputs(request, *(_FEW if fewest == 1 else _MANY)))
        inputs = [*usual, *_of_other_magnitudes(request, edit)]
        patience = Deadline()
        accepted = _find_accepted(request, edit, list(enumerate(inputs)), patience, rejected)
        telling = [(n, r) for n, r, tells in accepted if tells and n < len(usual)]

        def is_reached(probe: Edit) -> bool:
            edits, count = request.with_edit(probe).edits, 0
            with closing(_run_each(edits, telling, patience)) as results:
                for _, result in results:
                    count += isinstance(result, Exception) and REACHED in str(result)
                    if count == fewest:
                        return True
            return False

        if probes and not telling:
            return False
        return bool(accepted) and all(map(is_reached, probes))


def takes_what_eager_takes(request: Request, edit: Edit, found: Exported) -> bool:
    """Whether a program answers other values that the model takes, in the example's sizes, as it.

    The ways of torch.cond share what torch assumes of sizes: of every input may be asserted what
    only one of them needs. Memory that nobody wrote is filled alike on both sides.
    """
    program = found.program.module()
    filled = memory_filled_in_calls(op.name for op in ops_of(found.program))
    with as_exported(request), filled, torch.no_grad():
        inputs = [*_inputs(request, _FEW[0], range(0)), *_of_other_magnitudes(request, edit)]
        patience = Deadline()
        taken = _find_results(request.edits, list(enumerate(inputs)), patience)
        for number, theirs in taken.items():
            try:
                with _keep_buffers(program):
                    ours = run(program, inputs[number], seed=number, patience=patience)
                if not compare(ours, theirs).same:
                    return False
            except Exception as error:  # noqa: BLE001 - a program may refuse by whatever it likes
                log_internal_error(error, "running a program on an input that the model accepts")
                return False
    return True


@undone
def _keep_buffers(program: Callable[..., Any]) -> Iterator[None]:
    """While a program may write its buffers, which the next input has to find as they were."""
    buffers = list(program.buffers()) if isinstance(program, torch.nn.Module) else []
    before = [buffer.detach().clone() for buffer in buffers]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, value in zip(buffers, before, strict=True):
                buffer.copy_(value)


def agrees_at(request: Request, edit: Edit, others: Sequence[Request]) -> bool:
    """Whether an edited model answers as it did, on the example and on other inputs.

    Args:
        request: with the edits in effect so far.
        edit: to be tried.
        others: requests of the same model. The model has to take at least one without the edit;
            else the agreement shows nothing.
    """
    with as_exported(request):
        accepted = _find_accepted(request, edit, list(enumerate([request, *others])), Deadline())
    return any(number > 0 for number, _, _ in accepted)


def _find_accepted(
    request: Request,
    edit: Edit,
    inputs: list[tuple[int, Request]],
    patience: Deadline,
    rejected: str = "",
) -> list[tuple[int, Request, bool]]:
    """The inputs that the model takes without an edit; none if it answers otherwise with it.

    Each with whether its result has elements, in which another answer would show: where their
    number depends on the input, more than one.
    """
    theirs = _find_results(request.edits, inputs, patience)
    accepted = [pair for pair in inputs if pair[0] in theirs]
    if not accepted:
        return []
    with closing(_run_each(request.with_edit(edit).edits, accepted, patience)) as results:
        for number, result in results:
            if isinstance(result, BaseException):
                if not (number and rejected and str(result).startswith(rejected)):
                    return []
            elif not compare(result, theirs[number]).same:
                return []
    shapes = {number: _shapes(result) for number, result in theirs.items()}
    return [(n, r, _has_elements(shapes[n], shapes.values())) for n, r in accepted]


def _shapes(result: Any) -> list[tuple[int, ...]]:
    """Shapes of the values that a model returns; anything but a tensor counts as a scalar."""
    return [tuple(getattr(leaf, "shape", ())) for leaf in pytree.tree_leaves(result)]


def _has_elements(shapes: list[tuple[int, ...]], others: Iterable[list[tuple[int, ...]]]) -> bool:
    """Whether a result's tensors have elements, and in a dim that varies more than one row."""
    alike = [groups for groups in others if list(map(len, groups)) == list(map(len, shapes))]
    for at, shape in enumerate(shapes):
        varies = [len({groups[at][dim] for groups in alike}) > 1 for dim in range(len(shape))]
        if all(size > int(vary) for size, vary in zip(shape, varies, strict=True)):
            return True
    return False


def _find_results(
    edits: tuple[Edit, ...], inputs: list[tuple[int, Request]], patience: Deadline
) -> dict[int, Any]:
    """By number of an input that a model takes with edits in effect: its result."""
    results = _run_each(edits, inputs, patience)
    return {number: e for number, e in results if not isinstance(e, BaseException)}


def _run_each(
    edits: tuple[Edit, ...], inputs: list[tuple[int, Request]], patience: Deadline
) -> Generator[tuple[int, Any], None, None]:
    """The result of a model on each of numbered inputs with edits in effect, or its error.

    The first input is the example, which has all the time that it needs. At the end the model is as
    it was before.
    """
    target = inputs[0][1].target
    with model_kept(target) as restore, ExitStack() as stack:
        try:
            stack.enter_context(apply_edits(edits))
        except EditError as error:
            log_internal_error(error, "running the model with a code fix")
            yield inputs[0][0], error
            return
        for number, request in inputs:
            result: Any
            try:
                result = run(target, request, seed=number, patience=patience)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the model may refuse inputs by whatever it likes
                log_internal_error(error, "running the model in eager")
                result = error
            finally:
                restore()
            yield number, result


def _inputs(request: Request, seeds: range, sizes: range) -> Iterator[Request]:
    """The example; rows that are all alike, so that masks select little; fresh values.

    If many are requested, also masks that are all True, which random ones hardly are, and
    other sizes for dims that should be dynamic.
    """
    yield request
    yield with_leaves(request, lambda _, value: _alike(value, 0))
    yield with_leaves(request, lambda _, value: _alike(value, -1))
    shapes = {
        path: list(value.shape)
        for path, value in leaf_values(request).items()
        if isinstance(value, torch.Tensor)
    }
    for seed in seeds:
        yield fresh_request(request, shapes, seed)
    for seed in _SEEDS_OF_ONES if seeds == _MANY[0] else ():
        yield with_leaves(fresh_request(request, shapes, seed), lambda _, value: _ones(value))
    for place in _dynamic(request):
        for size in dict.fromkeys((*sizes, *(_list_code_sizes(request) if sizes else ()))):
            yield with_size(request, [place], size)


def _list_code_sizes(request: Request) -> list[int]:
    """Sizes that the code compares with, as Verify tries them."""
    code_numbers = find_code_numbers(request.target)
    return [n.value for n in code_numbers if n.rank == 0 and n.value <= _LARGEST][:_MOST_SIZES]


def _of_other_magnitudes(request: Request, edit: Edit) -> Iterator[Request]:
    """The example's floats scaled, so that a test of a norm, or of a maximum, goes either way.

    None for code with a `while`, which may not end at values that are unlike the user's.
    """
    if any(isinstance(node, ast.While) for node in ast.walk(ast.parse(edit.before))):
        return
    for factor in _FACTORS:
        yield with_leaves(request, partial(_scale, factor=factor))


def _ones(value: Any) -> Any:
    """A tensor of ints or bools filled with 1; other values as they are."""
    if not isinstance(value, torch.Tensor) or value.is_quantized:
        return value
    if value.is_floating_point() or value.is_complex() or value.layout is not torch.strided:
        return value
    return torch.ones_like(value)


def _scale(_: str, value: Any, factor: float) -> Any:
    """A float tensor times a factor; other values as they are."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    with torch.no_grad():
        return (value * factor).requires_grad_(value.requires_grad)


def _alike(value: Any, row: int) -> Any:
    """A tensor with one of its rows in all places; other values as they are."""
    if not isinstance(value, torch.Tensor) or not value.dim() or not value.numel():
        return value
    if value.layout is not torch.strided or value.is_quantized:
        return value
    with torch.no_grad():
        rows = value.reshape(-1, value.shape[-1]) if value.dim() > 1 else value.reshape(-1, 1)
        if not value.is_floating_point():
            rows = rows[:, :1].expand_as(rows)
        tensor = rows[row].expand_as(rows).reshape(value.shape).clone()
    return tensor.requires_grad_(value.requires_grad)


def _dynamic(request: Request) -> list[tuple[str, int]]:
    """One place of each dim that is to be dynamic: the smallest, as `past` beside `past + 1`."""
    shapes = request.shapes
    entries: dict[str, tuple[int, tuple[str, int]]] = {}
    for path, specs in shapes.leaves.items() if shapes is not None else ():
        for position, spec in enumerate(specs):
            if not isinstance(spec, Static | Pinned):
                name = getattr(spec, "name", f"{path} {position}")
                pair = getattr(spec, "offset", 0), (path, position)
                entries[name] = min(entries.get(name, pair), pair)
    return [place for _, place in entries.values()][:_MOST_DIMS]
