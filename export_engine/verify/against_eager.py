"""Checks an exported program against the eager model, on fresh inputs of sizes it never saw.

A symbolic dim proves nothing: a hidden guard may reject sizes in the range, and a baked-in value is
right only for the example. Only a run shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import torch

from export_engine.attempt import Agreement, Exported, Request, Trial, as_module
from export_engine.capture import as_exported, model_kept, values_of_call
from export_engine.defects import log_internal_error
from export_engine.findings import ops_of
from export_engine.process import Deadline, raise_if_interrupted, sandbox
from export_engine.progress import Progress
from export_engine.torch_internals import callable_module, contexts_left
from export_engine.verify.asking_line import find_asking_line
from export_engine.verify.compare_outputs import compare_calls
from export_engine.verify.fresh_inputs import fresh_request
from export_engine.verify.isolated_run import (
    Call,
    call,
    call_with_gradients_if_needed,
    run,
)
from export_engine.verify.missing_values import missing_values
from export_engine.verify.numbers_in_code import find_code_numbers, find_numbers
from export_engine.verify.program_under_test import patience_with
from export_engine.verify.refusals import refusal
from export_engine.verify.uninitialized import memory_filled_in_calls
from export_engine.verify.untraced_sizes import (
    Sizes,
    choose_sizes,
    evaluate_size,
    iter_doubled,
    name_choice,
    sizes_of,
)

__all__ = ["check"]

_STATE = (
    "The model returns a different result on a second call: it keeps state that the program lacks."
)


def check(
    exported: Exported,
    trials: int = 4,
    progress: Callable[[Progress], None] | None = None,
) -> Agreement:
    """Runs both and compares.

    Args:
        exported: an attempt that was made here, with its Request.
        trials: how many sizes to try; a program without symbolic sizes is run on fresh values.
        progress: called before each trial.

    Returns:
        The trials; none for a program from a file, which has no eager model beside it.

    Raises:
        KeyboardInterrupt: the user interrupted; the model is unchanged.
    """
    request = exported.request
    if request is None:
        return Agreement(())
    missing = missing_values(exported.program, request)
    if missing:
        return Agreement((), reason=f"{missing[0].lower()}{missing[1:-1]}")
    sizes = sizes_of(exported)
    items: list[Trial] = []
    calls: list[Request] = []
    with (
        sandbox(),
        contexts_left(values_of_call(as_module(request.target), request)),
        as_exported(request),
        model_kept(request.target) as restore,
        memory_filled_in_calls(op.name for op in ops_of(exported.program)),
    ):
        program = callable_module(exported.program)
        patience = patience_with(exported)
        run_both = partial(_trial, program, restore=restore, patience=patience)

        def run_eager(wrapped: Callable[[Any], Any], call: Request, seed: int) -> object:
            try:
                return run(wrapped(request.target), call, seed, patience=patience)
            finally:
                restore()

        own = run_both(request, {}, 0, grad=torch.is_grad_enabled())
        plans = _plans(exported, sizes, trials)
        for number, choice in enumerate(chain(plans, _iter_doubled(sizes, trials, items))):
            raise_if_interrupted()
            if progress:
                most = max(trials, number)
                progress(Progress(number, most, "comparing with eager", "fix"))
            wanted = {
                path: [evaluate_size(size, choice) for size in dims]
                for path, dims in sizes.dims.items()
            }
            called = name_choice(sizes, choice) if choice != sizes.examples else {}
            other = fresh_request(request, wanted, seed=number)
            calls.append(other)
            bad = number == 0 and own.outcome in ("differs", "refused")
            items.append(own if bad else run_both(other, called, number))
        items = _with_line(exported, items, calls, run_eager)
        second = None
        if {trial.outcome for trial in items} <= {"agrees", "eager-fails"}:
            second = _second_call(program, request.target, calls, restore, patience)
    if second is not None:
        return Agreement((*items, second), baked=_STATE)
    if all(trial.outcome == "eager-fails" for trial in items):
        items.insert(0, own)  # a model that checks its values takes only some: the user's own
    return Agreement(tuple(items))


def _second_call(
    program: torch.nn.Module,
    target: Any,
    calls: list[Request],
    restore: Callable[[], None],
    patience: Deadline,
) -> Trial | None:
    """A call after another one, if only the model's result differs from a call on its own.

    A cache that is rebuilt, or that grows, changes no answer; a state in Python does, and a program
    has none.
    """
    for first, second in ((calls[-1], calls[0]), (calls[0], calls[-1])):
        eager, ours = (
            _after(value, first, second, restore, patience) for value in (target, program)
        )
        if eager is not None and ours is not None:
            difference = compare_calls(ours, eager)
            if not difference.same:
                return Trial(
                    {}, "differs", difference.error, f"in a second call, {difference.detail}"
                )
    return None


def _after(
    called: Callable[..., Any],
    first: Request,
    second: Request,
    restore: Callable[[], None],
    patience: Deadline,
) -> Call | None:
    """A second call, and all is as before; None where one is refused."""
    try:
        run(called, first, 1, patience=patience)  # another seed: what it draws may be kept
        return call(called, second, 0, patience=patience)
    except Exception as error:  # noqa: BLE001 - the model may refuse sizes by whatever it likes
        log_internal_error(error, "comparing with eager")
        return None
    finally:
        restore()


def _plans(exported: Exported, sizes: Sizes, most: int) -> Iterator[dict[Any, int]]:
    """The example's own sizes, with its values and with fresh ones, then others of the one list.

    Of those that are not pressing as many as were asked for; fewer where nothing may vary.
    """
    yield sizes.examples
    if not sizes.symbols:
        yield from [sizes.examples] * min(most, 2)
        return
    plain = 0
    for choice in choose_sizes(sizes, find_numbers(exported)):
        plain += not choice.pressing
        if choice.pressing or plain <= most:
            yield choice.values


def _with_line(
    exported: Exported,
    found: list[Trial],
    calls: list[Request],
    run_eager: Callable[[Callable[[Any], Any], Request, int], object],
) -> list[Trial]:
    """The comparisons, and of the first that differs the user's line that asks for its size."""
    outcomes = [trial.outcome for trial in found]
    differ = [n for n, trial in enumerate(found) if trial.outcome == "differs" and trial.sizes]
    if not differ or "agrees" not in outcomes:
        return found
    differing = differ[0]
    good = outcomes.index("agrees")

    def run_at(wrapped: Callable[[Any], Any], wrong: bool) -> object:
        number = differing if wrong else good
        return run_eager(wrapped, calls[number], number)

    numbers = find_code_numbers(exported.request.target if exported.request else None)
    place = find_asking_line(run_at, numbers, found[differing].sizes)
    return [
        replace(trial, place=place) if n == differing else trial for n, trial in enumerate(found)
    ]


def _iter_doubled(sizes: Sizes, most: int, found: list[Trial]) -> Iterator[dict[Any, int]]:
    """Multiples of the example's sizes, where the model takes none of the others for a symbol."""
    example = name_choice(sizes, sizes.examples)
    varied = {
        name
        for trial in found
        if trial.outcome != "eager-fails"
        for name, size in trial.sizes.items()
        if size != example.get(name)
    }
    if not example.keys() <= varied:
        yield from islice(iter_doubled(sizes), most)


def _trial(
    program: torch.nn.Module,
    request: Request,
    sizes: dict[str, int],
    seed: int,
    restore: Callable[[], None],
    patience: Deadline,
    grad: bool = False,
) -> Trial:
    """One run of each; the program shares its buffers with the model, so both start fresh."""
    try:
        eager = call_with_gradients_if_needed(
            lambda needed: call(request.target, request, seed, grad or needed, patience=patience),
            restore,
        )
    except Exception as error:  # noqa: BLE001 - the model may refuse sizes by whatever it likes
        log_internal_error(error, "comparing with eager")
        return Trial(sizes, "eager-fails", detail=refusal(error))
    finally:
        restore()
    try:
        ours = call(program, request, seed, grad, patience=patience)
    except Exception as error:  # noqa: BLE001 - so may the program
        log_internal_error(error, "comparing with eager")
        return Trial(sizes, "refused", detail=refusal(error))
    finally:
        restore()
    difference = compare_calls(ours, eager)
    if not difference.same:
        return Trial(
            sizes,
            "differs",
            difference.error,
            difference.detail,
            of_inputs=difference.of_inputs,
        )
    return Trial(
        sizes, "agrees", difference.error, strides=difference.strides, reach=difference.reach
    )
