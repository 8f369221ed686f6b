"""Operators: their arguments, and their calls by real code."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch._ops import OpOverload


@contextmanager
def calls_of_op(name: str, overload: str = "") -> Iterator[list[tuple[Any, dict[str, Any], Any]]]:
    """Collects an op's calls by real code: the overload, its arguments by name, its result.

    Args:
        name: `ns::name`.
        overload: of that name; empty for the default one.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    found: list[tuple[Any, dict[str, Any], Any]] = []

    class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            wanted = isinstance(func, OpOverload) and func._schema.name == name
            if wanted and func._overloadname == (overload or "default"):
                bound = op_signature(func).bind(*args, **(kwargs or {}))
                bound.apply_defaults()
                found.append((func, bound.arguments, result))
            return result

    with Watching():  # type: ignore[no-untyped-call]
        yield found


def writes_to_arguments(overload: Any) -> bool:
    """Whether an op's schema says that it writes to an argument."""
    return bool(overload._schema.is_mutable)


def aliased(overload: Any) -> list[str]:
    """Names of the arguments that an op's results may share memory with."""
    schema = overload._schema
    sets = {
        name for each in schema.returns if each.alias_info for name in each.alias_info.before_set
    }
    return [
        each.name
        for each in schema.arguments
        if each.alias_info is not None and each.alias_info.before_set & sets
    ]


def written(overload: Any) -> list[str]:
    """Names of the arguments that an op writes to."""
    arguments = overload._schema.arguments
    return [each.name for each in arguments if each.alias_info and each.alias_info.is_write]


def returns_its_first(overload: Any) -> bool:
    """Whether an op gives back the tensor that it is handed first, having written to it."""
    first = overload._schema.arguments[:1]
    name = first[0].name if first else ""
    return name in written(overload) and aliased(overload) == [name]


def op_signature(overload: Any) -> inspect.Signature:
    """The parameters of an op, by its schema, with their defaults."""
    given = overload._schema.arguments
    kinds = inspect.Parameter
    return inspect.Signature(
        [
            kinds(
                each.name,
                kinds.KEYWORD_ONLY if each.kwarg_only else kinds.POSITIONAL_OR_KEYWORD,
                default=each.default_value if each.has_default_value() else kinds.empty,
            )
            for each in given
        ]
    )
