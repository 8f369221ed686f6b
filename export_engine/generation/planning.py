"""From what programs are given and give in a generation to a plan that needs no model.

Each tensor of each call is recognized by its value: a token, a mask, a position, what a program
gave before. What is recognized is tried: the plan has to give the tokens of `generate()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
import torch

from export_engine.defects import log_internal_error
from export_engine.generation.cutting import Cut
from export_engine.generation.greedy import NoProgram, ProgramFailed, Step, generate_with
from export_engine.generation.input_sizes import (
    batch_of,
    example_of,
    prompt_of,
    with_batch,
    with_prompt,
)
from export_engine.generation.planned_generation import FlatProgram, choice, generate_by
from export_engine.generation.planned_inputs import PlanFailed, SoFar
from export_engine.generation.recognizing import source_of
from export_engine.record import DType, GenerationPlan, PlannedCall, PlannedInput

_TOKENS = 4
_TRIED = 6
"""New tokens of a generation by which a plan is tried."""


@dataclass
class SeenCall:
    """One call of a program in a generation."""

    program: str
    leaves: list[Any]
    """Its arguments."""
    outputs: list[Any]
    step: int
    """How many new tokens there were before."""
    before: SoFar


def plan_generation(
    made: Cut, programs: Mapping[str, FlatProgram], inputs: Mapping[str, Any]
) -> GenerationPlan:
    """The plan of a set; one with `why_not`, where it does not generate without the model.

    Args:
        made: the model, cut.
        programs: per component.
        inputs: what `generate()` takes.
    """
    try:
        return _try_plan(_plan(made, programs, inputs), made, programs, inputs)
    except (PlanFailed, NoProgram, ProgramFailed) as error:
        return GenerationPlan(why_not=str(error)[:1000])
    except Exception as error:  # noqa: BLE001 - a model may raise anything, and is saved all the same
        log_internal_error(error, "finding how a set generates without its model")
        return GenerationPlan(why_not=f"{type(error).__name__}: {error}"[:1000])


def _plan(
    made: Cut, programs: Mapping[str, FlatProgram], inputs: Mapping[str, Any]
) -> GenerationPlan:
    example = example_of(inputs)
    other = with_batch(example, batch_of(example) + 1)
    if prompt_of(other):
        other = with_prompt(other, prompt_of(other) + 1)
    seen = [_record_generation(made, programs, group) for group in (example, other)]
    runs = [(calls, tokens) for calls, tokens, _ in seen]
    config = made.model.generation_config
    start, prompt = _start(runs[0][0][0].before)
    plan = GenerationPlan(
        prompt=prompt,
        start=start,
        start_left_out=seen[0][2],
        end=_tokens(config.eos_token_id),
        pad=(_tokens(config.pad_token_id) or _tokens(config.eos_token_id) or [0])[0],
        suppressed=_tokens(getattr(config, "suppress_tokens", None)),
        suppressed_first=_tokens(getattr(config, "begin_suppress_tokens", None)),
    )
    first = _calls([_of_steps(calls, range(1)) for calls, _ in runs])
    later = _calls([step_calls for calls, _ in runs for step_calls in _each_step(calls)])
    plan = msgspec.structs.replace(plan, first=first, later=later)
    return msgspec.structs.replace(plan, logits=_logits(plan, runs))


def _tokens(given: Any) -> list[int]:
    """Token ids of a configuration, which may be None, one, or several."""
    if given is None:
        return []
    return [int(value) for value in (given if isinstance(given, list | tuple) else [given])]


def _record_generation(
    made: Cut, programs: Mapping[str, FlatProgram], inputs: Mapping[str, Any]
) -> tuple[list[SeenCall], torch.Tensor, bool]:
    """The calls of a generation by the programs, with what was there before each; its tokens.

    And whether `generate()` leaves out what they begin with, which a decoder is then given.
    """
    raw: list[tuple[str, list[Any], list[Any], list[Any]]] = []

    def note_and_call(step: Step) -> Any:
        program = programs[step.component.name]
        leaves = program.leaves(step.args, step.kwargs)
        items = _copy(leaves)
        result = program.call(*step.args, **step.kwargs)
        outputs = _copy(program.result_leaves(result))
        raw.append((step.component.name, items, _copy(leaves), outputs))
        return result

    trial = generate_with(
        made,
        {name: program.call for name, program in programs.items()},
        inputs,
        _TOKENS,
        note_and_call,
    )
    assert trial.tokens is not None
    tensors = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    begun = trial.tokens[:, : trial.prompt]
    if not trial.prompt:
        begun = _begun(
            [leaf for _, leaves, _, _ in raw[: trial.stepped.count(0)] for leaf in leaves]
        )
    new = trial.tokens[:, trial.prompt :]
    so_far = SoFar(tensors, begun, begun.shape[1])
    calls = []
    for (name, leaves, after, outputs), step in zip(raw, trial.stepped, strict=True):
        tokens = torch.cat([begun, new[:, :step]], dim=1)
        before = SoFar(tensors, tokens, begun.shape[1], dict(so_far.outputs), dict(so_far.inputs))
        calls.append(SeenCall(name, leaves, outputs, step, before))
        so_far.ran(name, after, outputs)
    return calls, torch.cat([begun, new], dim=1), not trial.prompt


def _begun(leaves: Sequence[Any]) -> torch.Tensor:
    """The token ids that the first calls are given, the same for each row.

    Raises:
        PlanFailed: there are none.
    """
    for leaf in leaves:
        if not isinstance(leaf, torch.Tensor) or leaf.dtype != torch.int64 or leaf.dim() != 2:
            continue
        if leaf.numel() and bool((leaf == leaf[:1]).all()):
            return leaf
    raise PlanFailed("generate() drops the prompt prefix, and no program receives it.")


def _copy(leaves: Sequence[Any]) -> list[Any]:
    return [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]


def _start(before: SoFar) -> tuple[list[int], str]:
    """The first tokens: the same for each row, or an input."""
    for name, tensor in before.given.items():
        if tensor.shape == before.tokens.shape and bool((tensor == before.tokens).all()):
            return [], name
    if not bool((before.tokens == before.tokens[:1]).all()):
        raise PlanFailed("The first tokens of generate() are not among its inputs.")
    return before.tokens[0].tolist(), ""


def _of_steps(calls: Sequence[SeenCall], steps: range) -> list[SeenCall]:
    return [call for call in calls if call.step in steps]


def _each_step(calls: Sequence[SeenCall]) -> list[list[SeenCall]]:
    """The calls before each token but the first."""
    groups = [_of_steps(calls, range(step, step + 1)) for step in range(1, _TOKENS)]
    return [calls for calls in groups if calls]


def _calls(rounds: Sequence[Sequence[SeenCall]]) -> list[PlannedCall]:
    """The calls that each of some rounds makes."""
    names = [[call.program for call in calls] for calls in rounds]
    if not names or any(name != names[0] for name in names):
        raise PlanFailed("generate() does not call the same programs for each token.")
    return [PlannedCall(alike[0].program, _inputs(alike)) for alike in zip(*rounds, strict=True)]


def _inputs(calls: Sequence[SeenCall]) -> list[PlannedInput]:
    entries = []
    for place, leaf in enumerate(calls[0].leaves):
        if not isinstance(leaf, torch.Tensor):
            continue
        dtype = str(leaf.dtype).removeprefix("torch.")
        source = source_of([(call.before, call.leaves[place]) for call in calls])
        if source is None or dtype not in get_args(DType):
            raise PlanFailed(
                f"generate() passes `{calls[0].program}` a tensor (input {place}, "
                f"{dtype}{list(leaf.shape)}) that is neither an input, nor a token, nor an "
                "earlier output."
            )
        entries.append(PlannedInput(place, dtype, source))  # type: ignore[arg-type]
    return entries


def _logits(
    plan: GenerationPlan, runs: Sequence[tuple[Sequence[SeenCall], torch.Tensor]]
) -> list[tuple[str, int]]:
    """Per program that is last before a token, which of its outputs the token is chosen of."""
    groups: dict[str, set[int]] = {}
    for calls, tokens in runs:
        for step in range(_TOKENS):
            last = _of_steps(calls, range(step, step + 1))[-1]
            wanted = tokens[:, last.before.prompt + step]
            fits = {
                place
                for place, value in enumerate(last.outputs)
                if _is_logits(value, len(wanted))
                and torch.equal(choice(plan, value, first=not step, ends=False), wanted)
            }
            groups[last.program] = groups.get(last.program, fits) & fits
    missing = [name for name, places in groups.items() if not places]
    if missing:
        raise PlanFailed(
            f"generate() does not choose the most likely token of `{missing[0]}`: its "
            "generation_config changes the logits."
        )
    return [(name, min(places)) for name, places in groups.items()]


def _is_logits(value: Any, rows: int) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.dim() in (2, 3)
        and value.shape[0] == rows
        and value.numel() > 0
    )


def _try_plan(
    plan: GenerationPlan,
    made: Cut,
    programs: Mapping[str, FlatProgram],
    inputs: Mapping[str, Any],
) -> GenerationPlan:
    """The plan, if it gives the tokens of the model's own generation at other sizes."""
    entries = with_batch(example_of(inputs), batch_of(inputs) + 2)
    if prompt_of(entries) > 2:
        entries = with_prompt(entries, prompt_of(entries) - 1)
    own = generate_with(made, {}, entries, _TRIED).tokens
    tensors = {name: value for name, value in entries.items() if isinstance(value, torch.Tensor)}
    ours = generate_by(plan, programs, tensors, _TRIED, stop=False)
    if own is None or ours.shape != own.shape or not bool((ours == own).all()):
        return GenerationPlan(
            why_not="Without the model, the programs do not reproduce the tokens of generate()."
        )
    return plan
