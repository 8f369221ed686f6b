"""torch's export options that let some calls export, each with what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from itertools import islice
from typing import Any

from export_engine.attempt import Exported, Failed, Fix, Kind, Option, Request
from export_engine.capture import as_exported, model_kept
from export_engine.defects import log_internal_error
from export_engine.diagnose import SizesViolated, is_unrolled
from export_engine.fixes.try_fixes import (
    both_titles,
    list_problems,
    read_failure,
    tell,
    try_request,
)
from export_engine.in_eager import calls_without, resize
from export_engine.process import ELSEWHERE, Deadline
from export_engine.record import sizes_shown, sizes_tried
from export_engine.traced_sizes import example_sizes, leaf_values, name_of
from export_engine.verify import compare, run

_MOST = 3
_MOST_CONDITIONS = 8
_LEAST = 2
"""Below it torch specializes sizes, so the effect of an option is also compared at them."""
_KINDS = frozenset({Kind.SHAPES_VIOLATED, Kind.ZERO_ONE})
_OPTIONS: dict[Option, tuple[str, str, str]] = {
    "backed_size_oblivious": (
        "Treat sizes 0 and 1 like any other",
        "torch then does not specialize on sizes 0 and 1, the source of many conditions.",
        "Code that behaves differently at size 0 or 1, such as broadcasting, is traced as for "
        "larger sizes.",
    ),
    "prefer_deferred_runtime_asserts_over_guards": (
        "Keep guards on sizes as runtime assertions",
        "Guards that cannot be proved no longer fail the export.",
        "The program asserts them at run time, and rejects sizes that violate them.",
    ),
}


_OBLIVIOUS: Option = "backed_size_oblivious"
_DEFERRED: Option = "prefer_deferred_runtime_asserts_over_guards"
_AROUND = (*range(1, 9), *range(-1, -5, -1))
"""How far from the example's size others are compared where torch may drop a condition: it does so
of `math.ceil`, and each remainder by up to a dozen is one of these."""


def suggest_options(attempt: Failed) -> Iterator[Fix]:
    """The tried options with which the call exports and every wanted dim stays dynamic.

    Both at once are tried where the first alone does not keep all sizes, and the second alone only
    where both led to a program: it is the one that takes longest.
    """
    request, diagnosis = read_failure(attempt)
    if diagnosis.kind not in _KINDS:
        return
    loops = isinstance(diagnosis.facts, SizesViolated) and is_unrolled(
        diagnosis.stack, request.target
    )
    if loops or any(problem.kind == "fixed" for problem in list_problems(attempt)):
        return  # no option lets a loop run on, or gives a plain number back its symbol

    def try_names(*names: Option) -> Fix | None:
        texts = request.options & {*names}
        return None if texts else _try_options(attempt, [*names])

    if (first := try_names(_OBLIVIOUS)) is not None:
        yield first
        if not first.narrows:
            return
    both = None if request.options else try_names(_OBLIVIOUS, _DEFERRED)
    second = try_names(_DEFERRED) if both is not None or request.options else None
    if second is not None:
        yield second
    if both is not None and not both.narrows and (second is None or second.narrows):
        yield both


def keeping_all_sizes(attempt: Failed) -> Iterator[Fix]:
    """The first options with which the program takes what the model takes.

    torch may drop a condition that it cannot keep, so each is tried at sizes that it excludes.
    Effects of further options are not tried: each costs an export and its check.
    """
    problems = list_problems(attempt)
    if len(problems) > _MOST_CONDITIONS or not all(problem.excluded for problem in problems):
        return
    whole = (fix for fix in suggest_options(attempt) if not fix.narrows)
    yield from islice(whole, 1)


def _try_options(failed: Failed, names: list[Option]) -> Fix | None:
    """The fix that some options are; None where they give no program, or a wrong one."""
    request, diagnosis = read_failure(failed)
    tell(f"trying the switch {' with '.join(names)}")
    attempt = try_request(with_options(request, names))
    if not isinstance(attempt, Exported) or _is_wrong(attempt):
        return None
    rejected = _describe_rejected(attempt, failed)
    if rejected is None:
        return None
    rejected = rejected or describe_refused(attempt)
    whys, losses = zip(*(_OPTIONS[name][1:] for name in names), strict=True)
    seen = _find_small_agreement(attempt) if _OBLIVIOUS in names else ""
    if seen:
        whys, losses = (*whys, seen), losses[1:]
    return Fix(
        kind="options",
        title=title_of_options(names),
        why=" ".join(whys),
        lossy=_OBLIVIOUS in names and not seen,
        narrows=bool(rejected),
        gives_up=" ".join([*losses, rejected]).rstrip(),
        change=partial(with_options, options=names),
        before="",
        after=" ".join(names),
        stack=diagnosis.stack,
        leads_to=attempt,
    )


def with_options(request: Request, options: Iterable[Option]) -> Request:
    """The request with some options of the export besides its own."""
    return request.with_changes(options=request.options | {*options})


def title_of_options(options: Iterable[Option]) -> str:
    """The title of a fix that sets some options."""
    return reduce(both_titles, (_OPTIONS[name][0] for name in options))


def _find_small_agreement(found: Exported) -> str:
    """At which sizes of 0 and 1 eager was run beside the program, and agreed; empty if at none.

    Sizes at which eager fails are none of the model's.
    """
    small = [trial for trial in found.trials if any(size < _LEAST for size in trial.sizes.values())]
    agreed = [trial.sizes for trial in small if trial.outcome == "agrees"]
    if agreed:
        return f"The program agrees with eager at {sizes_tried(agreed)}."
    refused = all(trial.outcome in ("eager-fails", "refused") for trial in small)
    return (
        "The program rejects every tried size of 0 or 1 that the model accepts."
        if small and refused
        else ""
    )


def describe_refused(found: Exported, least: int = 0) -> str:
    """A sentence on sizes that the program rejects and the model takes, of those that were run."""
    for trial in found.trials:
        if trial.outcome == "refused" and trial.sizes and min(trial.sizes.values()) >= least:
            return describe_rejected(trial.sizes)
    return ""


def describe_rejected(sizes: Mapping[str, int]) -> str:
    """A sentence on sizes that only the program rejects."""
    return f"The program rejects {sizes_shown(sizes)}, which the model accepts."


def _describe_rejected(found: Exported, failed: Failed) -> str | None:
    """A sentence on a call that the model takes and the program rejects, by a condition kept.

    None if the program's result differs for one of these calls, or for one at size 0 or 1.
    """
    request, _ = read_failure(failed)
    result, program = "", found.program.module()
    with as_exported(request), model_kept(request.target) as restore:
        for text, call in _calls(found, failed):
            theirs = _result(request.target, call, restore)
            ours = None if isinstance(theirs, Exception) else _result(program, call, restore)
            if ours is None:
                continue
            if isinstance(ours, Exception):
                result = result or text
            elif not compare(ours, theirs).same:
                return None
    return result


def _calls(found: Exported, failed: Failed) -> Iterator[tuple[str, Request]]:
    """Calls that a kept condition excludes, near the example, and at sizes told from others before.

    Each with what to say if the program rejects it: nothing of a size that was not asked for.
    """
    request, _ = read_failure(failed)
    for problem in list_problems(failed)[:_MOST_CONDITIONS]:
        dims = problem.changed or problem.dims
        for size, call in islice(calls_without(request, problem), _MOST):
            yield describe_rejected({name_of(dims[0]): size}), call
    shapes = request.shapes
    if shapes is None or found.request is None:
        return
    examples = example_sizes(shapes, leaf_values(request))
    larger = {name: examples[name] + 1 for name in shapes.dims() if name in examples}
    together = request
    for name, size in larger.items():
        together = resize(together, shapes, name, size)
    yield describe_rejected(larger), together
    for name in list(shapes.dims())[:_MOST]:
        for size in (1, 0) if _OBLIVIOUS in found.request.options else ():
            yield "", resize(request, shapes, name, size)
        beside = _AROUND if _DEFERRED in found.request.options else (1, -1)
        for size in (examples[name] + step for step in beside) if name in examples else ():
            if size >= _LEAST:
                yield describe_rejected({name: size}), resize(request, shapes, name, size)


def _result(called: Any, call: Request, restore: Callable[[], object]) -> Any:
    """The result of a call, or the error that it raises."""
    try:
        return run(called, call, seed=0, patience=Deadline(ELSEWHERE))
    except Exception as error:  # noqa: BLE001 - the model may refuse inputs by whatever it likes
        log_internal_error(error, "running the model in eager")
        return error
    finally:
        restore()


def _is_wrong(found: Exported) -> bool:
    """Whether a program differs from eager, or rejects the example."""
    return found.rejects_example or found.verdict == "differs"
