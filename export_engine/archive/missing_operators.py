"""Operators that a program calls and this process does not have: torch says so only in its log."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from export_engine.record import Target


def missing_operators(targets: Iterable[Target]) -> str:
    """What is missing, and how it is had; empty if all operators are here.

    Args:
        targets: what the nodes of a program call.
    """
    missing = [each for each in targets if each.kind in {"aten", "prim", "custom"}]
    missing = [each for each in missing if not _is_here(each.name)]
    removed = _listed(each for each in missing if each.kind != "custom")
    custom = _listed(each for each in missing if each.kind == "custom")
    said = []
    if removed:
        said.append(f"It has no {removed}. Open the file with the version of torch that saved it.")
    if custom:
        said.append(
            f"Nothing has registered {custom}. Import the library that does, "
            "and load the file again."
        )
    return " ".join(said)


def _listed(targets: Iterable[Target]) -> str:
    return ", ".join(sorted({f"`{each.name.rpartition('.')[0]}`" for each in targets}))


def _is_here(name: str) -> bool:
    """Whether `aten.linear.default` is an operator of torch, or of a library that is imported."""
    operator, _, overload = name.rpartition(".")
    namespace, _, operator = operator.partition(".")
    packet = getattr(getattr(torch.ops, namespace), operator, None)
    return hasattr(packet, overload)
