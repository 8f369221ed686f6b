"""A model that generates → its components: which modules are called, how, and what varies.

`generate()` runs for a few tokens: as given, with one more row, and with a prompt of one token
more. Outermost calls of a module that take the same tensors are one component.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from export_engine.attempt import CachesRegistered, Option, Request, cache_classes, signature_of
from export_engine.capture import quiet
from export_engine.defects import passed_over
from export_engine.generation.component_names import Key, names_of, role_of
from export_engine.generation.differing_arguments import differing_arguments
from export_engine.generation.equal_sizes import equal_sizes
from export_engine.generation.input_sizes import (
    LEAST,
    batch_of,
    example_of,
    prompt_of,
    with_batch,
    with_prompt,
)
from export_engine.generation.joined_lists import joined_call, lists_to_join
from export_engine.generation.kept_state import kept_sentence
from export_engine.generation.observed_calls import ObservedCall, calls_of
from export_engine.generation.size_bounds import bounds_of, check_names, with_ends
from export_engine.generation.transformers_export import (
    has_sliding_layers,
    patched,
    prepared_call,
)
from export_engine.generation.varying_sizes import Line, equal_dims, lines, shapes_of_call
from export_engine.process import sandbox
from export_engine.progress import Progress
from export_engine.shapes import Bounds
from export_engine.torch_internals import call_leaves

_TOKENS = 4
"""New tokens of a generation that is observed: a first call, and three that continue."""
_NOTES = 10
"""Warnings of a generation that are kept."""
_DEFERRED: Option = "prefer_deferred_runtime_asserts_over_guards"


class CutError(ValueError):
    """A model cannot be cut. The message says why, and what to do."""


@dataclass(frozen=True)
class CutComponent:
    """A component: what to export, and which calls it stands for."""

    name: str
    role: str
    path: str
    """Of its module in the model; empty for the model itself."""
    module: torch.nn.Module
    takes: frozenset[str]
    """Paths of the tensors that its calls take: what tells it from others of the same module."""
    request: Request
    fallbacks: tuple[Request, ...]
    """What to try if that fails: the same with transformers' patches applied; then with an end of
    each size of which there are multiples; then with every size that varies left to torch."""
    varying: Mapping[str, tuple[int, ...]]
    arguments: Mapping[str, tuple[str, ...]]
    """Of inputs other than tensors, the values that calls gave, where they differed."""
    joined: frozenset[str] = frozenset()
    """Paths of lists as long as the batch, which the program takes as one tensor."""
    keeps: tuple[str, ...] = ()
    """Attributes of its modules in which its calls keep tensors."""


@dataclass(frozen=True)
class Cut:
    """A model, cut."""

    model: Any
    components: tuple[CutComponent, ...]
    within: tuple[Callable[[], AbstractContextManager[object]], ...]
    """What a generation with the programs has to run in."""
    notes: tuple[str, ...] = ()
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """Of the names of sizes that vary."""


def cut(
    model: Any,
    inputs: Mapping[str, Any],
    progress: Callable[[Progress], None] | None = None,
    bounds: str = "",
) -> Cut:
    """Cuts a model by observing what its `generate()` calls.

    Args:
        model: one with a `generate()` as transformers' have it.
        inputs: what `generate()` takes.
        progress: told before each run.
        bounds: of sizes that vary, in the short language: `batch[..4], prompt[..64], past[..128]`.

    Raises:
        CutError: it does not generate, or not with these inputs.
        ShapesError: the bounds do not follow the language, or name no size that varies.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    if not _generates(model):
        raise CutError(
            f"{type(model).__name__} has no generate() as transformers' models have it: give one "
            "that has, or name its programs yourself with explorer.explore_many."
        )
    if not isinstance(inputs, Mapping):
        raise CutError(
            f"inputs is a {type(inputs).__name__}. Give the arguments of generate() by name: "
            '{"input_ids": ids}.'
        )
    known = bounds_of(bounds)
    notes: dict[str, None] = {}
    try:
        given = example_of(inputs)
        runs = _runs(model, given, progress, notes)
    except (CutError, KeyboardInterrupt):
        raise
    except Exception as error:  # whatever the model's own generate() raises
        raise CutError(
            f"generate() fails with these inputs ({type(error).__name__}: {str(error)[:200]}). "
            "Give what model.generate(**inputs) takes."
        ) from error
    values = _given(call for run in runs for call in run)
    with quiet() as heard, sandbox():
        setup = CachesRegistered(cache_classes(values))
        undo = setup.install() if setup.classes else lambda: None
        try:
            components = _components(runs, setup, batch_of(given), known)
        finally:
            undo()
    check_names(known, [each.request.shapes for each in components])
    notes.update(dict.fromkeys(heard.warnings[:_NOTES]))
    notes.update(
        dict.fromkeys(kept_sentence(each.name, each.keeps) for each in components if each.keeps)
    )
    sliding = has_sliding_layers(values)
    return Cut(model, components, (patched,) if sliding else (), tuple(notes), known)


def _generates(model: Any) -> bool:
    """Whether a model has a `generate()` that takes how many tokens it is to give."""
    generate = getattr(model, "generate", None)
    if not callable(generate) or getattr(model, "generation_config", None) is None:
        return False
    taken = signature_of(generate).parameters.values()
    return any(each.name == "generation_config" or each.kind == each.VAR_KEYWORD for each in taken)


def _runs(
    model: Any,
    given: dict[str, Any],
    progress: Callable[[Progress], None] | None,
    notes: dict[str, None],
) -> list[list[ObservedCall]]:
    """The calls of three generations: as given, with one more row, with one more token.

    What is warned of meanwhile goes to `notes`. A cache that cuts off what is older than its window
    is as long in each call once it is full; it is observed as the programs keep it, whole.
    """
    wanted = [("generate()", given), ("one more row", with_batch(given, batch_of(given) + 1))]
    if prompt_of(given):
        wanted.append(("one more token", with_prompt(given, prompt_of(given) + 1)))
    runs: list[list[ObservedCall]] = []
    keeping: Callable[[], AbstractContextManager[object]] = nullcontext
    for number, (what, each) in enumerate(wanted):
        if progress:
            progress(Progress(number, len(wanted), f"observing {what}"))
        try:
            with quiet() as heard:
                with keeping():
                    calls, said = calls_of(model, each, _TOKENS)
                if not runs and has_sliding_layers(_given(calls)):
                    keeping = patched
                    with keeping():
                        calls, _ = calls_of(model, each, _TOKENS)
            runs.append(calls)
            notes.update(dict.fromkeys([*said, *heard.warnings][:_NOTES]))
        except KeyboardInterrupt:
            raise
        except Exception as error:
            if not runs:
                raise
            passed_over(error, f"observing {what}")
            runs.append([])
    if not runs[0]:
        raise CutError(f"generate() of {type(model).__name__} calls none of its modules.")
    return runs + [[] for _ in range(3 - len(runs))]


def _given(calls: Iterable[ObservedCall]) -> list[Any]:
    return [each for call in calls for each in (*call.args, *call.kwargs.values())]


def _components(
    runs: Sequence[Sequence[ObservedCall]],
    setup: CachesRegistered,
    batch: int,
    bounds: Mapping[str, Bounds],
) -> tuple[CutComponent, ...]:
    lists = lists_to_join(runs[0], runs[1])
    runs = [[prepared_call(joined_call(call, lists)) for call in run] for run in runs]
    base, more_rows, longer = (_grouped(run) for run in runs)
    names = names_of(list(base))
    found = []
    for key, calls in base.items():
        shapes = [_shapes(call) for call in calls]
        first = [next(iter(other.get(key, ())), None) for other in (more_rows, longer)]
        known = lines(shapes, *(_shapes(each) if each else None for each in first))
        example = _grown(calls, shapes, known)
        request = _request(names[key], calls[example], setup)
        varying = partial(shapes_of_call, shapes[example], known, batch, bounds)
        equal = partial(equal_sizes, calls[0].module, equal_dims(shapes[example], known, batch))
        sliding = has_sliding_layers(_given([calls[example]]))
        found.append(
            CutComponent(
                name=names[key],
                role=role_of(calls, run=runs[0]),
                path=calls[0].path,
                module=calls[0].module,
                takes=key[1],
                request=request.with_changes(
                    shapes=varying(), within=(patched, equal) if sliding else (equal,)
                ),
                fallbacks=tuple(
                    request.with_changes(shapes=each, within=(patched, *more))
                    for each, more in (
                        (varying(), (equal,)),
                        *((each, (equal,)) for each in [with_ends(varying())] if each),
                        (varying(automatic=True), ()),
                    )
                ),
                varying={
                    path: tuple(dim for dim, line in enumerate(each) if line is None or any(line))
                    for path, each in known.items()
                },
                arguments=differing_arguments([*calls, *(each for each in first if each)]),
                joined=frozenset(lists.get(calls[0].path, ())),
                keeps=tuple(dict.fromkeys(name for each in calls for name in each.keeps)),
            )
        )
    return tuple(found)


def _grouped(run: Sequence[ObservedCall]) -> dict[Key, list[ObservedCall]]:
    groups: dict[Key, list[ObservedCall]] = {}
    for call in run:
        groups.setdefault((call.path, frozenset(_shapes(call))), []).append(call)
    return groups


def _shapes(call: ObservedCall) -> dict[str, tuple[int, ...]]:
    leaves = call_leaves(signature_of(call.module), call.args, call.kwargs)
    return {path: tuple(each.shape) for path, each in leaves if isinstance(each, torch.Tensor)}


def _grown(
    calls: Sequence[ObservedCall],
    shapes: Sequence[Mapping[str, tuple[int, ...]]],
    known: Mapping[str, Sequence[Line | None]],
) -> int:
    """The first call in which every size that varies is at least two; else the last."""
    for number in range(len(calls)):
        sizes = [
            size
            for path, each in shapes[number].items()
            for size, line in zip(each, known[path], strict=True)
            if line is None or any(line)
        ]
        if all(size >= LEAST for size in sizes):
            return number
    return len(calls) - 1


def _request(name: str, call: ObservedCall, setup: CachesRegistered) -> Request:
    return Request(
        target=call.module,
        args=call.args,
        kwargs=call.kwargs,
        options=frozenset({_DEFERRED}),
        setups=(setup,) if setup.classes else (),
        title=f"{name}(…)",
    )
