"""Generations by the programs at several sizes, compared with the model's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import torch

from export_engine.defects import log_internal_error, passing_over
from export_engine.generation.cutting import Cut
from export_engine.generation.first_divergence import CallApart, OpApart, first_call_apart
from export_engine.generation.greedy import NoProgram, ProgramFailed, Trial, generate_with
from export_engine.generation.input_sizes import batch_of, prompt_of, with_batch, with_prompt
from export_engine.generation.size_bounds import clip, longest_prompt
from export_engine.progress import Progress
from export_engine.record import GenerationTrial
from export_engine.shapes import Bounds

Sizes = tuple[int, int]
"""Rows, and tokens of the prompt; 0 where it has none."""


def sizes_to_try(
    inputs: Mapping[str, Any], bounds: Mapping[str, Bounds], tokens: int
) -> list[Sizes]:
    """The sizes as given, and others: one row, more rows, a prompt that is longer, and shorter.

    Args:
        inputs: what `generate()` takes.
        bounds: what the programs take, by the name of the size; others are moved inside.
        tokens: how many are to be generated.
    """
    rows, prompt = batch_of(inputs), prompt_of(inputs)
    wanted = [(rows, prompt), (1, prompt), (rows + 2, prompt)]
    if prompt:
        wanted += [(rows, prompt + 5), (rows + 1, max(prompt - 2, 2))]
    rows_within, longest = bounds.get("batch", Bounds()), longest_prompt(bounds, tokens)
    return list(
        dict.fromkeys(
            (clip(number, rows_within), clip(length, longest) if length else 0)
            for number, length in wanted
        )
    )


def try_generation(
    made: Cut,
    programs: Mapping[str, Callable[..., Any]],
    inputs: Mapping[str, Any],
    tokens: int,
    sizes: Sequence[Sizes],
    backend: str,
    located: Callable[[CallApart], OpApart | None] = lambda _: None,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[GenerationTrial]:
    """Generates at each size with the programs and with the model.

    Args:
        made: the model, cut.
        programs: per component what is called in its place.
        inputs: what `generate()` takes.
        tokens: how many new tokens.
        sizes: which to generate at.
        backend: what the programs run by, to be said.
        located: finds the op at which a call of a program diverges.
        progress: told before each.
    """
    names = [component.name for component in made.components]
    for number, (rows, prompt) in enumerate(sizes):
        text = f"batch = {rows}" + (f", prompt = {prompt}" if prompt else "")
        if progress:
            progress(Progress(number, len(sizes), f"generating, {text}"))
        entries = with_batch(inputs, rows)
        entries = with_prompt(entries, prompt) if prompt else entries
        if number == 0:  # what only a first call waits for is in no time
            for called in ({}, programs):
                with passing_over("warming up"):
                    generate_with(made, called, entries, min(tokens, 2))
        eager = generate_with(made, {}, entries, tokens)
        try:
            ours = generate_with(made, programs, entries, tokens)
        except (NoProgram, ProgramFailed) as error:
            log_internal_error(error, "generating with exported programs")
            at = names.index(error.component) if isinstance(error, ProgramFailed) else -1
            yield GenerationTrial(text, backend, "failed", tokens, str(error), component=at)
            continue
        except Exception as error:  # noqa: BLE001 - the model may take no program's result
            log_internal_error(error, "generating with exported programs")
            reason = " ".join(str(error).split())[:300]
            yield GenerationTrial(
                text, backend, "failed", tokens, f"{type(error).__name__}: {reason}"
            )
            continue
        trial = _compare(ours, eager, text, backend, tokens, names)
        if trial.outcome == "differs":
            trial = _add_divergence(
                trial, first_call_apart(made, programs, entries, tokens), names, located
            )
        yield trial


def _add_divergence(
    found: GenerationTrial,
    apart: CallApart | None,
    names: Sequence[str],
    located: Callable[[CallApart], OpApart | None],
) -> GenerationTrial:
    """A trial with the first call whose result is off, and the op there."""
    if apart is None:
        why = "With the model's inputs, every program call matches within tolerance."
        return msgspec.structs.replace(found, sentence=f"{found.sentence} {why}")
    op = located(apart)
    text = f"call {apart.call + 1} of `{apart.component}` is the first that differs"
    where = f": {op.sentence}" if op else ""
    return msgspec.structs.replace(
        found,
        sentence=f"{found.sentence} With the model's inputs, {text}{where} ({apart.sentence}).",
        component=names.index(apart.component),
        node=op.node if op else -1,
    )


def _compare(
    ours: Trial, eager: Trial, said: str, backend: str, tokens: int, names: Sequence[str]
) -> GenerationTrial:
    assert ours.tokens is not None
    assert eager.tokens is not None
    same = ours.tokens.shape == eager.tokens.shape and bool((ours.tokens == eager.tokens).all())
    trial = GenerationTrial(
        said,
        backend,
        "same" if same else "differs",
        tokens,
        f"the same {tokens} tokens as generate().",
        first_ms=_first(ours),
        rate=_rate(ours),
        eager_first_ms=_first(eager),
        eager_rate=_rate(eager),
    )
    if same:
        return trial
    step = _first_apart(ours.tokens, eager.tokens, ours.prompt)
    at = max((n for n, before in enumerate(ours.stepped) if before <= step), default=-1)
    component = names.index(ours.steps[at]) if at >= 0 else -1
    by = f", which `{names[component]}` returned" if component >= 0 else ""
    return msgspec.structs.replace(
        trial,
        sentence=f"token {step + 1} differs from generate()'s{by}.",
        step=step,
        component=component,
    )


def _first_apart(one: torch.Tensor, other: torch.Tensor, prompt: int) -> int:
    length = min(one.shape[1], other.shape[1])
    apart = (one[:, :length] != other[:, :length]).any(dim=0).nonzero()
    column = int(apart[0]) if len(apart) else length
    return max(column - prompt, 0)


def _first(trial: Trial) -> float:
    return trial.seconds[0] * 1000 if trial.seconds else 0.0


def _rate(trial: Trial) -> float:
    """Tokens a second after the first, over all rows."""
    if len(trial.seconds) < 2 or trial.tokens is None:
        return 0.0
    lasted = trial.seconds[-1] - trial.seconds[0]
    return trial.tokens.shape[0] * (len(trial.seconds) - 1) / lasted if lasted else 0.0
