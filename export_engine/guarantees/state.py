"""What a program writes to: buffers and inputs, over repeated calls."""

from __future__ import annotations

from typing import Any

import torch

from export_engine.checking.comparing import compare
from export_engine.checking.running import call
from export_engine.guarantee import Guarantee, verdict_of
from export_engine.guarantees.subject import Subject
from export_engine.inputs import with_leaves
from export_engine.request import Request
from export_engine.targets import as_module

STATE = "Buffers and inputs change as they do in eager, call after call."
_CALLS = 3


def state(subject: Subject) -> Guarantee:
    """Calls both several times without putting anything back between, and compares after each."""
    if subject.eager is None:
        return Guarantee(
            name="state",
            claim=STATE,
            verdict="not checked",
            sentence="A program from a file has no eager model beside it.",
        )
    owner = as_module(subject.eager)
    requests = [_fresh(subject.request, seed) for seed in range(_CALLS)]
    theirs = _called(subject, subject.eager, requests, owner)
    ours = _called(subject, subject.module, requests, owner)
    problems, changed = [], set()
    before = _buffers(owner)
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        for what, one, two in zip(("results", "inputs", "buffers"), mine, other, strict=True):
            found = compare(one, two, loose=1.0)
            if not found.same:
                problems.append(f"call {number}: {what} differ: {_named(what, found.detail, mine)}")
        changed |= {name for name, value in other[2].items() if not _equal(value, before.get(name))}
    names = ", ".join(sorted(changed)) or "nothing"
    sentence = f"Agrees with eager over {_CALLS} calls in a row, which change {names}."
    if problems:
        sentence = f"Parts from eager at {problems[0].partition(':')[0]} of {_CALLS} in a row."
    return Guarantee(
        name="state",
        claim=STATE,
        verdict=verdict_of(problems),
        sentence=sentence,
        evidence=tuple(problems),
    )


def _called(
    subject: Subject, called: Any, requests: list[Request], owner: torch.nn.Module
) -> list[tuple[Any, Any, dict[str, torch.Tensor]]]:
    """Results, inputs and buffers after each call; then all is put back."""
    found = []
    try:
        for seed, request in enumerate(requests):
            made = call(called, request, seed)
            found.append((_copied(made.result), made.inputs, _buffers(owner)))
    finally:
        subject.restore()
    return found


def _fresh(request: Request, seed: int) -> Request:
    """The example's inputs, other values from the second call on."""
    if seed == 0:
        return request

    def changed(path: str, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel():
            return (value.detach() * (1 + seed / 4)).requires_grad_(value.requires_grad)
        return value

    return with_leaves(request, changed)


def _buffers(owner: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in owner.named_buffers()}


def _copied(result: Any) -> Any:
    """Results as they are now: they may be buffers that the next call writes to."""
    from export_engine.torch_internals import pytree

    return pytree.tree_map(
        lambda value: value.detach().clone() if isinstance(value, torch.Tensor) else value, result
    )


def _equal(one: torch.Tensor, other: torch.Tensor | None) -> bool:
    return other is not None and one.shape == other.shape and bool(torch.equal(one, other))


def _named(what: str, detail: str, mine: tuple[Any, Any, dict[str, torch.Tensor]]) -> str:
    """`buffer running_mean` where the comparison counts leaves."""
    if what != "buffers" or not detail.startswith("output "):
        return detail
    number, _, rest = detail.removeprefix("output ").partition(":")
    names = list(mine[2])
    return f"{names[int(number)]}:{rest}" if int(number) < len(names) else detail
