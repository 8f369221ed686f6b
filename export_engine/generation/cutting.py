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
from export_engine.defects import log_internal_error
from export_engine.generation.batch_lists import join_call_lists, lists_to_join
from export_engine.generation.component_names import Key, names_of, role_of
from export_engine.generation.differing_arguments import differing_arguments
from export_engine.generation.equal_sizes import equal_sizes
from export_engine.generation.hidden_state import describe_hidden_state
from export_engine.generation.input_sizes import (
    LEAST,
    batch_of,
    example_of,
    prompt_of,
    with_batch,
    with_prompt,
)
from export_engine.generation.observed_calls import ObservedCall, calls_of
from export_engine.generation.size_bounds import bounds_of, check_names, with_ends
from export_engine.generation.transformers_export import (
    has_sliding_layers,
    patch_transformers,
    prepare_call,
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
    """The contexts of a generation with the programs."""
    notes: tuple[str, ...] = ()
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """Names of sizes that vary."""


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
            f"{type(model).__name__} has no generate() like transformers' models. Pass a model "
            "that has one, or export its programs with explorer.explore_many."
        )
    if not isinstance(inputs, Mapping):
        raise CutError(
            f"inputs is a {type(inputs).__name__}. Pass the arguments of generate() by name: "
            f'{{"input_ids": ids}}.'
        )
    groups = bounds_of(bounds)
    notes: dict[str, None] = {}
    try:
        entries = example_of(inputs)
        runs = _runs(model, entries, progress, notes)
    except (CutError, KeyboardInterrupt):
        raise
    except Exception as error:  # whatever the model's own generate() raises
        raise CutError(
            f"generate() fails with these inputs ({type(error).__name__}: {str(error)[:200]}). "
            "Pass what model.generate(**inputs) accepts."
        ) from error
    values = _list_arguments(call for run in runs for call in run)
    with quiet() as heard, sandbox():
        setup = CachesRegistered(cache_classes(values))
        undo = setup.install() if setup.classes else lambda: None
        try:
            components = _components(runs, setup, batch_of(entries), groups)
        finally:
            undo()
    check_names(groups, [component.request.shapes for component in components])
    notes.update(dict.fromkeys(heard.warnings[:_NOTES]))
    notes.update(
        dict.fromkeys(
            describe_hidden_state(component.name, component.keeps)
            for component in components
            if component.keeps
        )
    )
    sliding = has_sliding_layers(values)
    return Cut(model, components, (patch_transformers,) if sliding else (), tuple(notes), groups)


def _generates(model: Any) -> bool:
    """Whether a model has a `generate()` that takes how many tokens it is to give."""
    generate = getattr(model, "generate", None)
    if not callable(generate) or getattr(model, "generation_config", None) is None:
        return False
    taken = signature_of(generate).parameters.values()
    return any(
        parameter.name == "generation_config" or parameter.kind == parameter.VAR_KEYWORD
        for parameter in taken
    )


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
    for number, (what, group) in enumerate(wanted):
        if progress:
            progress(Progress(number, len(wanted), f"observing {what}"))
        try:
            with quiet() as heard:
                with keeping():
                    calls, texts = calls_of(model, group, _TOKENS)
                if not runs and has_sliding_layers(_list_arguments(calls)):
                    keeping = patch_transformers
                    with keeping():
                        calls, _ = calls_of(model, group, _TOKENS)
            runs.append(calls)
            notes.update(dict.fromkeys([*texts, *heard.warnings][:_NOTES]))
        except KeyboardInterrupt:
            raise
        except Exception as error:
            if not runs:
                raise
            log_internal_error(error, f"observing {what}")
            runs.append([])
    if not runs[0]:
        raise CutError(f"generate() of {type(model).__name__} calls none of its modules.")
    return runs + [[] for _ in range(3 - len(runs))]


def _list_arguments(calls: Iterable[ObservedCall]) -> list[Any]:
    return [value for call in calls for value in (*call.args, *call.kwargs.values())]


def _components(
    runs: Sequence[Sequence[ObservedCall]],
    setup: CachesRegistered,
    batch: int,
    bounds: Mapping[str, Bounds],
) -> tuple[CutComponent, ...]:
    lists = lists_to_join(runs[0], runs[1])
    runs = [[prepare_call(join_call_lists(call, lists)) for call in run] for run in runs]
    base, more_rows, longer = (_group_calls(run) for run in runs)
    names = names_of(list(base))
    components = []
    for key, calls in base.items():
        shapes = [_shapes(call) for call in calls]
        first = [next(iter(other.get(key, ())), None) for other in (more_rows, longer)]
        groups = lines(shapes, *(_shapes(call) if call else None for call in first))
        example = _find_first_full_call(calls, shapes, groups)
        request = _request(names[key], calls[example], setup)
        varying = partial(shapes_of_call, shapes[example], groups, batch, bounds)
        equal = partial(equal_sizes, calls[0].module, equal_dims(shapes[example], groups, batch))
        sliding = has_sliding_layers(_list_arguments([calls[example]]))
        components.append(
            CutComponent(
                name=names[key],
                role=role_of(calls, run=runs[0]),
                path=calls[0].path,
                module=calls[0].module,
                takes=key[1],
                request=request.with_changes(
                    shapes=varying(), within=(patch_transformers, equal) if sliding else (equal,)
                ),
                fallbacks=tuple(
                    request.with_changes(shapes=shapes, within=(patch_transformers, *more))
                    for shapes, more in (
                        (varying(), (equal,)),
                        *((shapes, (equal,)) for shapes in [with_ends(varying())] if shapes),
                        (varying(automatic=True), ()),
                    )
                ),
                varying={
                    path: tuple(
                        dim for dim, line in enumerate(lines_of_dims) if line is None or any(line)
                    )
                    for path, lines_of_dims in groups.items()
                },
                arguments=differing_arguments([*calls, *(call for call in first if call)]),
                joined=frozenset(lists.get(calls[0].path, ())),
                keeps=tuple(dict.fromkeys(name for call in calls for name in call.keeps)),
            )
        )
    return tuple(components)


def _group_calls(run: Sequence[ObservedCall]) -> dict[Key, list[ObservedCall]]:
    groups: dict[Key, list[ObservedCall]] = {}
    for call in run:
        groups.setdefault((call.path, frozenset(_shapes(call))), []).append(call)
    return groups


def _shapes(call: ObservedCall) -> dict[str, tuple[int, ...]]:
    leaves = call_leaves(signature_of(call.module), call.args, call.kwargs)
    return {path: tuple(value.shape) for path, value in leaves if isinstance(value, torch.Tensor)}


def _find_first_full_call(
    calls: Sequence[ObservedCall],
    shapes: Sequence[Mapping[str, tuple[int, ...]]],
    known: Mapping[str, Sequence[Line | None]],
) -> int:
    """The first call in which every size that varies is at least two; else the last."""
    for number in range(len(calls)):
        sizes = [
            size
            for path, numbers in shapes[number].items()
            for size, line in zip(numbers, known[path], strict=True)
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
