"""Operators: their arguments, and their calls by real code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._ops import OpOverload

from export_engine.defects import passed_over
from export_engine.process import undone


@undone
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
            wanted = isinstance(func, OpOverload) and op_schema(func).name == name
            if wanted and overload_name(func) == (overload or "default"):
                bound = op_signature(func).bind(*args, **(kwargs or {}))
                bound.apply_defaults()
                found.append((func, bound.arguments, result))
            return result

    with Watching():  # type: ignore[no-untyped-call]
        yield found


def register_fake(op: str, kernel: Callable[..., Any]) -> Callable[[], None]:
    """Registers a fake kernel, in a library of its own; gives what takes that back.

    Args:
        op: `ns::name`, with its overload where that is not the default one.
        kernel: computes on fake tensors.
    """
    library = torch.library.Library(  # type: ignore[no-untyped-call]
        op.partition("::")[0], "FRAGMENT"
    )
    torch.library.register_fake(op, kernel, lib=library, allow_override=True)
    return library._destroy


def op_schema(target: Any) -> Any:
    """The schema of an op, a `torch.FunctionSchema`; None of what is called without one."""
    return getattr(target, "_schema", None)


def overload_name(overload: Any) -> str:
    """Which overload of its op it is: `default`, `Tensor`."""
    return str(overload._overloadname)


def writes_to_arguments(overload: Any) -> bool:
    """Whether an op's schema says that it writes to an argument."""
    return bool(op_schema(overload).is_mutable)


def aliased(overload: Any) -> list[str]:
    """Names of the arguments that an op's results may share memory with."""
    schema = op_schema(overload)
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
    arguments = op_schema(overload).arguments
    return [each.name for each in arguments if each.alias_info and each.alias_info.is_write]


def returns_its_first(overload: Any) -> bool:
    """Whether an op gives back the tensor that it is handed first, having written to it."""
    first = op_schema(overload).arguments[:1]
    name = first[0].name if first else ""
    return name in written(overload) and aliased(overload) == [name]


def op_signature(overload: Any) -> inspect.Signature:
    """The parameters of an op, by its schema, with their defaults."""
    given = op_schema(overload).arguments
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


def fake_result(overload: Any, args: Any, kwargs: Any) -> Any:
    """What an op's fake kernel gives for real arguments; the exception, where it raises one."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv
    from torch.utils import _pytree as pytree

    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)

    def faked(value: Any) -> Any:
        is_tensor = isinstance(value, torch.Tensor)
        return mode.from_tensor(value, static_shapes=True) if is_tensor else value

    try:
        with mode:
            return overload(*pytree.tree_map(faked, args), **pytree.tree_map(faked, kwargs))
    except Exception as error:  # noqa: BLE001 - handed on: a fake kernel is the user's code
        passed_over(error, "running a fake kernel")
        return error
