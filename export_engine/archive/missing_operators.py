"""Operators that a program calls and this process lacks: torch only logs them."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from export_engine.record import Target


def missing_operators(targets: Iterable[Target]) -> str:
    """What is missing, and how it is had; empty if all operators are here.

    Args:
        targets: what the nodes of a program call.
    """
    missing = [target for target in targets if target.kind in {"aten", "prim", "custom"}]
    missing = [target for target in missing if not _is_here(target.name)]
    removed = _join_names(target for target in missing if target.kind != "custom")
    custom = _join_names(target for target in missing if target.kind == "custom")
    texts = []
    if removed:
        texts.append(
            f"This torch has no {removed}. Open the file with the version of torch that saved it."
        )
    if custom:
        texts.append(f"{custom} is not registered. Import its library and load the file again.")
    return " ".join(texts)


def _join_names(targets: Iterable[Target]) -> str:
    return ", ".join(sorted({f"`{target.name.rpartition('.')[0]}`" for target in targets}))


def _is_here(name: str) -> bool:
    """Whether `aten.linear.default` is an operator of torch, or of a library that is imported."""
    operator, _, overload = name.rpartition(".")
    namespace, _, operator = operator.partition(".")
    packet = getattr(getattr(torch.ops, namespace), operator, None)
    return hasattr(packet, overload)
