"""Checks an exported program against the eager model, on fresh inputs of sizes it never saw.

A symbolic dim proves nothing: a hidden guard may reject sizes in the range, and a baked-in value is
right only for the example. Only a run shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from export_engine.attempt import Agreement, Exported, Request, Trial
from export_engine.capture import in_eval_mode, model_kept
from export_engine.defects import passed_over
from export_engine.process import raise_if_interrupted, sandbox
from export_engine.progress import Progress
from export_engine.verify.compare_outputs import compare
from export_engine.verify.fresh_inputs import fresh_request
from export_engine.verify.isolated_run import run
from export_engine.verify.refusals import refusal
from export_engine.verify.untraced_sizes import Sizes, choices, evaluated, shown, sizes_of

__all__ = ["check"]


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
        KeyboardInterrupt: the user interrupted; the model is as it was.
    """
    request = exported.request
    if request is None:
        return Agreement(())
    sizes = sizes_of(exported)
    found: list[Trial] = []
    with (
        sandbox(),
        in_eval_mode(request.target, request.eval_mode),
        model_kept(request.target) as restore,
    ):
        program = exported.program.module()
        own = _trial(program, request, {}, 0, restore, grad=torch.is_grad_enabled())
        for number, choice in enumerate(_plans(sizes, trials)):
            raise_if_interrupted()
            if progress:
                progress(Progress(number, trials, "comparing with eager", "fix"))
            wanted = {
                path: [evaluated(size, choice) for size in dims]
                for path, dims in sizes.dims.items()
            }
            called = shown(sizes, choice) if choice != sizes.examples else {}
            other = fresh_request(request, wanted, seed=number)
            bad = number == 0 and own.outcome in ("differs", "refused")
            found.append(own if bad else _trial(program, other, called, number, restore))
    if all(each.outcome == "eager-fails" for each in found):
        found.insert(0, own)  # a model that checks its values takes only some: the user's own
    return Agreement(tuple(found))


def forgets(exported: Exported, others: int = 3) -> bool:
    """Whether eager answers a call the same after another one, of other values or sizes, as before.

    A cache that is rebuilt, or that grows, changes no answer; a state does.

    Raises:
        KeyboardInterrupt: the user interrupted; the model is as it was.
    """
    request = exported.request
    if request is None:
        return False
    sizes = sizes_of(exported)
    calls = []
    for number, choice in enumerate(_plans(sizes, others)):
        wanted = {
            path: [evaluated(size, choice) for size in dims] for path, dims in sizes.dims.items()
        }
        calls.append(fresh_request(request, wanted, seed=number))
    with (
        sandbox(),
        in_eval_mode(request.target, request.eval_mode),
        model_kept(request.target) as restore,
    ):
        alone = [_answer(request.target, each, restore) for each in calls]
        pairs = [(one, other) for one in range(len(calls)) for other in range(len(calls))]
        for before, after in pairs:
            raise_if_interrupted()
            if alone[before] is not None and alone[after] is not None:
                run(request.target, calls[before], 0)
                found = _answer(request.target, calls[after], restore)
                if found is None or not compare(found[0], alone[after][0]).same:  # type: ignore[index]
                    return False
    return any(each is not None for each in alone)


def _answer(target: Any, request: Request, restore: Callable[[], None]) -> tuple[Any] | None:
    """What eager answers, and the model is as before; None where it refuses the call."""
    try:
        return (run(target, request, 0),)
    except Exception as error:  # noqa: BLE001 - the model may refuse sizes by whatever it likes
        passed_over(error, "comparing with eager")
        return None
    finally:
        restore()


def _plans(sizes: Sizes, most: int) -> Iterator[dict[Any, int]]:
    """The example's own sizes, with its values and with fresh ones, then others.

    Fewer where nothing may vary.
    """
    yield sizes.examples
    others = list(choices(sizes, most)) if sizes.symbols else [sizes.examples] * min(most, 2)
    yield from others


def _trial(
    program: torch.nn.Module,
    request: Request,
    sizes: dict[str, int],
    seed: int,
    restore: Callable[[], None],
    grad: bool = False,
) -> Trial:
    """One run of each; the program shares its buffers with the model, so both start fresh."""
    try:
        eager = run(request.target, request, seed, grad)
    except Exception as error:  # noqa: BLE001 - the model may refuse sizes by whatever it likes
        passed_over(error, "comparing with eager")
        return Trial(sizes, "eager-fails", detail=refusal(error))
    finally:
        restore()
    try:
        ours = run(program, request, seed, grad)
    except Exception as error:  # noqa: BLE001 - so may the program
        passed_over(error, "comparing with eager")
        return Trial(sizes, "refused", detail=refusal(error))
    finally:
        restore()
    found = compare(ours, eager)
    return Trial(sizes, "agrees" if found.same else "differs", found.error, found.detail)
