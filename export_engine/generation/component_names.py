"""Names of a model's components, and the calls of a generation that they cover."""

from __future__ import annotations

from collections.abc import Sequence

from export_engine.generation.observed_calls import ObservedCall

Key = tuple[str, frozenset[str]]
"""A module's path, and the tensors that a call gives it."""


def names_of(keys: Sequence[Key]) -> dict[Key, str]:
    """`prefill` and `decode` for calls of the model itself; a module's own name for its."""
    names: dict[Key, str] = {}
    for path, takes in keys:
        of_module = [key for key in keys if key[0] == path]
        number = of_module.index((path, takes))
        if not path:
            fixed = ("prefill", "decode") if len(of_module) > 1 else ("step",)
        else:
            own = path.rpartition(".")[2] if not path.rpartition(".")[2].isdigit() else path
            fixed = (own, f"{own}_next")
        name = fixed[number] if number < len(fixed) else f"{fixed[-1]}_{number}"
        taken = set(names.values())
        names[path, takes] = name if name not in taken else path.replace(".", "_")
    return names


def role_of(calls: Sequence[ObservedCall], run: Sequence[ObservedCall]) -> str:
    """Which calls of a generation are of a component.

    Args:
        calls: those of the component.
        run: all.
    """
    if len(calls) > 1:
        return "each later call" if calls[0] is not run[0] else "each call"
    return "once, before the first token"
