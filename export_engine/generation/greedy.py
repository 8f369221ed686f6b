"""Greedy generation with exported programs in the place of the modules that were exported.

The loop is the model's own `generate()`, so masks, caches and the choice of tokens are as it makes
them; what its modules would compute, the programs do. The model is as it was afterwards.
The tokens are compared with the model's own in `compare_with_generate.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from export_engine.attempt import signature_of
from export_engine.capture import quiet
from export_engine.generation.batch_lists import join_lists
from export_engine.generation.cutting import Cut, CutComponent
from export_engine.generation.observed_calls import run_generate
from export_engine.generation.transformers_export import prepare_arguments
from export_engine.process import undone
from export_engine.torch_internals import call_leaves, map_call_leaves
from export_engine.verify import is_condition, refusal

_MASKS = ("attention_mask", "decoder_attention_mask")


class NoProgram(RuntimeError):
    """No program of the set takes what a call passes. The message is a sentence."""


class ProgramFailed(RuntimeError):
    """A program raised. The message is a sentence."""

    def __init__(self, component: str, error: Exception) -> None:
        """Make one.

        Args:
            component: the name of the program.
            error: what it raised.
        """
        text = refusal(error)
        if not is_condition(error):
            text = f"{type(error).__name__}: {text}"
        super().__init__(f"`{component}` does not accept this call: {text}")
        self.component = component


@dataclass
class Trial:
    """One generation."""

    tokens: torch.Tensor | None = None
    """The generated tokens, with the prompt if the model includes it."""
    prompt: int = 0
    """Columns of `tokens` that were given."""
    seconds: list[float] = field(default_factory=list)
    """When each new token was there, from the start."""
    steps: list[str] = field(default_factory=list)
    """Which program ran, call by call."""
    stepped: list[int] = field(default_factory=list)
    """How many tokens there were before each of those calls."""


class Step(NamedTuple):
    """One call of a component."""

    component: CutComponent
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    """The inputs of its program."""
    own: Callable[[], Any]
    """Makes the same call of the model's own module."""


def generate_with(
    made: Cut,
    programs: Mapping[str, Callable[..., Any]],
    inputs: Mapping[str, Any],
    tokens: int,
    run: Callable[[Step], Any] | None = None,
) -> Trial:
    """Generates greedily with programs.

    Args:
        made: the model, cut.
        programs: per component what is called in its place. Without any, it is the model's own.
        inputs: what `generate()` takes.
        tokens: how many new tokens.
        run: what makes each call; by default the program does.

    Raises:
        NoProgram: a call takes what no program takes.
        ProgramFailed: a program raises.
        Exception: what the model raises.
    """
    trial = Trial()

    def by_program(step: Step) -> Any:
        name = step.component.name
        try:
            return programs[name](*step.args, **step.kwargs)
        except Exception as error:
            raise ProgramFailed(name, error) from error

    with quiet(), _replace_modules(made, programs, trial, run or by_program):
        trial.seconds.clear()
        started = time.perf_counter()
        result = run_generate(
            made.model, inputs, tokens, stopping_criteria=[_clock(started, trial.seconds)]
        )
    trial.tokens = result if isinstance(result, torch.Tensor) else result.sequences
    trial.prompt = max(trial.tokens.shape[1] - tokens, 0)
    return trial


def _clock(started: float, seconds: list[float]) -> Callable[..., torch.Tensor]:
    """A stopping criterion that stops nothing, and notes when each token is there."""

    def note_time(input_ids: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        seconds.append(time.perf_counter() - started)
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)

    return note_time


@undone
def _replace_modules(
    made: Cut,
    programs: Mapping[str, Callable[..., Any]],
    trial: Trial,
    run: Callable[[Step], Any],
) -> Iterator[None]:
    """While inside, the cut modules call programs."""
    by_module: dict[str, list[CutComponent]] = {}
    for component in made.components:
        if component.name in programs:
            by_module.setdefault(component.path, []).append(component)
    before = {path: own.__dict__.get("forward") for path, own in _modules(by_module)}
    with ExitStack() as contexts:
        for context in made.within if programs else ():
            contexts.enter_context(context())
        try:
            for path, module in _modules(by_module):
                module.forward = _Dispatching(by_module[path], trial, run, module.forward)
            yield
        finally:
            for path, module in _modules(by_module):
                module.__dict__.pop("forward", None)
                if before[path] is not None:
                    module.__dict__["forward"] = before[path]


def _modules(
    by_module: Mapping[str, Sequence[CutComponent]],
) -> list[tuple[str, torch.nn.Module]]:
    return [(path, components[0].module) for path, components in by_module.items()]


class _Dispatching:
    """A forward that calls the program which takes what it is given."""

    def __init__(
        self,
        components: Sequence[CutComponent],
        trial: Trial,
        run: Callable[[Step], Any],
        own: Callable[..., Any],
    ) -> None:
        self._components = components
        self._trial = trial
        self._run = run
        self._own = own
        self.__signature__ = signature_of(components[0].module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        paths = frozenset[str]().union(*(component.joined for component in self._components))
        names = list(self.__signature__.parameters)
        prepared_args, prepared_kwargs = prepare_arguments(
            self._components[0].module, *join_lists(args, kwargs, names, paths)
        )
        leaves = dict(call_leaves(self.__signature__, prepared_args, prepared_kwargs))
        tensors = {path: leaf for path, leaf in leaves.items() if isinstance(leaf, torch.Tensor)}
        component = self._choose(tensors)
        self._trial.steps.append(component.name)
        self._trial.stepped.append(len(self._trial.seconds))
        example, more = rebuild_traced_call(component, tensors)
        return self._run(Step(component, example, more, lambda: self._own(*args, **kwargs)))

    def _choose(self, given: Mapping[str, torch.Tensor]) -> CutComponent:
        """The program for some tensors; a mask of ones that was left out is made again."""
        for component in self._components:
            missing = component.takes - given.keys()
            if given.keys() <= component.takes and all(path in _MASKS for path in missing):
                return component
        best = min(self._components, key=lambda each: len(each.takes ^ given.keys()))
        wrong = sorted(given.keys() - best.takes) or sorted(best.takes - given.keys())
        verb = "passes" if given.keys() - best.takes else "does not pass"
        raise NoProgram(
            f"A call {verb} {', '.join(f'`{text}`' for text in wrong[:3])}, which `{best.name}` "
            f"{'does not accept' if verb == 'passes' else 'requires'}."
        )


def rebuild_traced_call(
    component: CutComponent, given: Mapping[str, torch.Tensor]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call in the containers that were traced, which count nothing in Python."""
    request = component.request
    filled = {**given, **_masks(component, given)}
    return map_call_leaves(
        signature_of(request.target),
        request.args,
        request.kwargs,
        filled.get,
    )


def _masks(component: CutComponent, given: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Masks of ones that `generate()` left out: as long as what is attended to.

    Their length is as much more than another size of the call as it is in the example.
    """
    missing = [path for path in component.takes if path not in given and path in _MASKS]
    if not missing:
        return {}
    request = component.request
    example = dict(call_leaves(signature_of(request.target), request.args, request.kwargs))
    tensors = {}
    for path in missing:
        mask = example[path]
        assert isinstance(mask, torch.Tensor)
        length = _length_like(component, example, given, mask.shape[1])
        rows = next(iter(given.values())).shape[0]
        tensors[path] = mask.new_ones((rows, length))
    return tensors


def _length_like(
    component: CutComponent,
    example: Mapping[str, Any],
    given: Mapping[str, torch.Tensor],
    wanted: int,
) -> int:
    """The size that `wanted` of the example is in a call, by the dims that vary with the prompt."""
    nearest: tuple[int, int] | None = None
    for path, dims in component.varying.items():
        for dim in dims:
            if dim and path in given and path not in _MASKS:
                offset = wanted - example[path].shape[dim]
                size = given[path].shape[dim] + offset
                if nearest is None or abs(offset) < abs(nearest[0]):
                    nearest = offset, size
    return nearest[1] if nearest else wanted
