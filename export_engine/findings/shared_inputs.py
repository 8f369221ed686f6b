"""One tensor passed as several inputs: torch treats every use as one of the last input."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from export_engine import rules
from export_engine.attempt import Exported, Finding, Fix, Kind, Request
from export_engine.record import Record
from export_engine.traced_sizes import leaf_values, with_leaves


def check_shared_inputs(exported: Exported, _: Record) -> Iterator[Finding]:
    """Groups of inputs that are one tensor (pytorch issue 139805)."""
    for paths in _group_shared_inputs(exported.request):
        names = ", ".join(f"`{path}`" for path in paths[:-1])
        yield Finding(
            kind=Kind.SHARED_INPUT,
            severity="wrong",
            sentence=rules.SharedInput.SENTENCE(names=names, last=paths[-1]),
            why=rules.SharedInput.WHY(),
            fix=_copy_inputs_fix(paths[:-1]),
        )


def copies_of_shared_inputs(exported: Exported) -> Fix | None:
    """A fix that gives every input a tensor of its own; None where each has one."""
    paths = [path for group in _group_shared_inputs(exported.request) for path in group[:-1]]
    return _copy_inputs_fix(paths) if paths else None


def _group_shared_inputs(request: Request | None) -> list[list[str]]:
    """The paths of inputs that are one tensor, by tensor."""
    groups: dict[int, list[str]] = {}
    for path, value in leaf_values(request).items() if request is not None else ():
        if isinstance(value, torch.Tensor):
            groups.setdefault(id(value), []).append(path)
    return [paths for paths in groups.values() if len(paths) > 1]


def _copy_inputs_fix(paths: list[str]) -> Fix:
    def change(request: Request) -> Request:
        def fresh(path: str, value: object) -> object:
            if path in paths and isinstance(value, torch.Tensor):
                return value.detach().clone().requires_grad_(value.requires_grad)
            return value

        return with_leaves(request, fresh)

    names = " and ".join(paths)
    return Fix(
        kind="inputs",
        title=f"Give {names} a tensor of {'its' if len(paths) == 1 else 'their'} own",
        why=rules.SharedInput.FIX(),
        change=change,
        before=f"{names}: the same tensor",
        after=f"{names}: a copy",
    )
