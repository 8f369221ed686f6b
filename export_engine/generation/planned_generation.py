"""Greedy generation by a plan: programs call after call, without the model they were cut of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from export_engine.generation.greedy import NoProgram, ProgramFailed
from export_engine.generation.planned_inputs import PlanFailed, SoFar, value_of
from export_engine.record import GenerationPlan, PlannedCall
from export_engine.torch_internals import flat_leaves, pytree

_GIVEN = "USER_INPUT"


class FlatProgram(NamedTuple):
    """A program that takes and gives leaves."""

    program: torch.export.ExportedProgram
    call: Callable[..., Any]
    """Takes what the program takes, and gives what it gives."""

    def leaves(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of a call, in the program's order."""
        return flat_leaves(self.program, args, kwargs)

    def run(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves of what it gives."""
        args, kwargs = pytree.tree_unflatten(leaves, self.program.call_spec.in_spec)
        return self.result_leaves(self.call(*args, **kwargs))

    def result_leaves(self, result: Any) -> list[Any]:
        """The leaves of a result."""
        return list(pytree.tree_leaves(result))

    def constants(self) -> list[Any]:
        """Per leaf of a call, what it was traced with, if that is not a tensor; else None."""
        specs = self.program.graph_signature.input_specs
        return [getattr(spec.arg, "value", None) for spec in specs if spec.kind.name == _GIVEN]


def generate_by(
    made: GenerationPlan,
    programs: Mapping[str, FlatProgram],
    inputs: Mapping[str, torch.Tensor],
    tokens: int,
    stop: bool = True,
) -> torch.Tensor:
    """The tokens of a greedy generation, as `generate()` gives them: mostly with the prompt.

    Args:
        made: the plan.
        programs: by name.
        inputs: what the model's `generate()` takes.
        tokens: how many new tokens at most.
        stop: end rows at the plan's tokens that end one; else those are not chosen.

    Raises:
        PlanFailed: the plan does not fit the programs, or the inputs it.
        ProgramFailed: a program raises.
    """
    begun = start_of(made, inputs)
    so_far = SoFar(inputs, begun, begun.shape[1])
    open_rows = torch.ones(len(begun), dtype=torch.bool, device=begun.device)
    with torch.no_grad():
        for step in range(tokens):
            name = _run_round(made.later if step else made.first, programs, so_far)
            logits = _logits(made, name, so_far)
            chosen = choice(made, logits, first=not step, ends=stop)
            chosen = chosen.where(open_rows, torch.full_like(chosen, made.pad))
            so_far.tokens = torch.cat([so_far.tokens, chosen[:, None]], dim=1)
            if stop:
                ended = torch.isin(chosen, torch.tensor(made.end, device=chosen.device))
                open_rows = open_rows & ~ended
                if not bool(open_rows.any()):
                    break
    return so_far.tokens[:, begun.shape[1] :] if made.start_left_out else so_far.tokens


def start_of(made: GenerationPlan, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The tokens that a generation begins with.

    Raises:
        PlanFailed: the inputs are not those of the plan.
    """
    named = inputs.get(made.prompt) if made.prompt else None
    if made.prompt and (named is None or named.dim() != 2 or not named.numel()):
        raise PlanFailed(
            f"The programs require `{made.prompt}`, token ids in rows. Add it to the inputs."
        )
    if named is not None:
        return named
    rows = next((len(tensor) for tensor in inputs.values() if tensor.dim()), 0)
    if not rows or not made.start:
        raise PlanFailed("The inputs contain no tensor with rows. Pass what generate() accepts.")
    device = next(iter(inputs.values())).device
    return torch.tensor([made.start], device=device).repeat(rows, 1)


def choice(made: GenerationPlan, logits: torch.Tensor, *, first: bool, ends: bool) -> torch.Tensor:
    """The token of each row: the most likely one that is not suppressed."""
    scores = (logits[:, -1] if logits.dim() == 3 else logits).float().clone()
    out = [*made.suppressed, *(made.suppressed_first if first else ())]
    out += [] if ends else made.end
    scores[:, [value for value in out if value < scores.shape[-1]]] = float("-inf")
    return scores.argmax(dim=-1)


def _logits(made: GenerationPlan, name: str, so_far: SoFar) -> torch.Tensor:
    place, items = dict(made.logits).get(name, -1), so_far.outputs[name]
    result = items[place] if 0 <= place < len(items) else None
    if not isinstance(result, torch.Tensor) or result.dim() not in (2, 3) or not result.numel():
        raise PlanFailed(f"`{name}` does not return the logits that the set records.")
    return result


def _run_round(
    calls: Sequence[PlannedCall], programs: Mapping[str, FlatProgram], so_far: SoFar
) -> str:
    """Makes the calls before one token; the name of the last."""
    for call in calls:
        program = programs[call.program]
        leaves = program.constants()
        for entry in call.inputs:
            if entry.place >= len(leaves):
                raise PlanFailed(
                    f"`{call.program}` lacks the input {entry.place} that the set records."
                )
            dtype = getattr(torch, entry.dtype)
            leaves[entry.place] = value_of(entry.source, dtype, so_far)
        try:
            outputs = program.run(leaves)
        except Exception as error:
            raise ProgramFailed(call.program, error) from error
        so_far.ran(call.program, leaves, outputs)
    if not calls:
        raise NoProgram("The set does not record which program computes a token.")
    return calls[-1].program
