"""Operators: their arguments, and their calls by real code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

from export_engine.defects import log_internal_error
from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree

OpOverload: Any = type(torch.ops.aten.add.Tensor)
"""The class of an op with its overload: `aten.add.Tensor`."""
HigherOrderOperator: Any = next(
    item
    for item in type(torch.ops.higher_order.cond).__mro__
    if issubclass(type(torch.ops.higher_order.wrap_with_set_grad_enabled), item)
)
"""The class of every higher-order operator. `cond` and the others each have one below it."""


@undone
def calls_of_op(name: str, overload: str = "") -> Iterator[list[tuple[Any, dict[str, Any], Any]]]:
    """Collects an op's calls by real code: the overload, its arguments by name, its result.

    Args:
        name: `ns::name`.
        overload: of that name; empty for the default one.
    """
    items: list[tuple[Any, dict[str, Any], Any]] = []
    if not torch_has.DISPATCH_MODE:
        yield items
        return

    class Watching(torch_has.DISPATCH_MODE.value):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            wanted = isinstance(func, OpOverload) and operator_name(func) == name
            if wanted and overload_name(func) == (overload or "default"):
                bound = op_signature(func).bind(*args, **(kwargs or {}))
                bound.apply_defaults()
                items.append((func, bound.arguments, result))
            return result

    with Watching():
        yield items


def register_fake(op: str, kernel: Callable[..., Any]) -> Callable[[], None]:
    """Registers a fake kernel in a new library; returns the undo function.

    Args:
        op: `ns::name`, with its overload where that is not the default one.
        kernel: computes on fake tensors.
    """
    library = torch.library.Library(  # type: ignore[no-untyped-call]
        op.partition("::")[0], "FRAGMENT"
    )
    definition = torch_has.CUSTOM_OPS.value.get(op) if torch_has.CUSTOM_OPS else None
    before = torch_has.CUSTOM_OP_FAKE.of(definition) if definition is not None else None
    torch.library.register_fake(op, kernel, lib=library, allow_override=True)
    held = [library]

    def take_back() -> None:
        if definition is not None:  # such an op keeps its kernel itself, whatever the library
            setattr(definition, torch_has.CUSTOM_OP_FAKE.name, before)
        for item in held:
            torch_has.DESTROY_LIBRARY.of(item, _left_to_its_finalizer)()
        held.clear()

    return take_back


def find_python_body(op: Any) -> Callable[..., Any] | None:
    """The Python code of an op made by `torch.library.custom_op`; None for any other op."""
    if not (torch_has.CUSTOM_OPS and torch_has.CUSTOM_OP_BODY):
        return None
    definition = torch_has.CUSTOM_OPS.value.get(operator_name(op))
    body: Callable[..., Any] | None = torch_has.CUSTOM_OP_BODY.of(definition)
    return body


def find_decomposition(op: Any) -> Callable[..., Any] | None:
    """The function that torch decomposes an op by if it is asked to; None where it has none."""
    table = torch_has.DECOMPOSITION_TABLE.value if torch_has.DECOMPOSITION_TABLE else {}
    function: Callable[..., Any] | None = table.get(op)
    return function


def _left_to_its_finalizer() -> None:
    """A library undoes its registrations when it is freed."""


def op_schema(target: Any) -> Any:
    """The schema of an op, a `torch.FunctionSchema`; None of what is called without one."""
    return torch_has.SCHEMA.of(target)


def find_aten_op(target: Any) -> Any:
    """The op of torch's that one of ExecuTorch's edge dialect wraps; any other is returned."""
    return target._op if is_edge_op(target) else target


def is_edge_op(target: Any) -> bool:
    """Whether it is an op of the edge dialect, which keeps torch's op in an attribute of its own.

    torch's ops have an attribute of the same name with a different content.
    """
    return type(target).__name__ == "EdgeOpOverload"


def operator_name(overload: Any) -> str:
    """The operator that an overload is of: `aten::add`."""
    return str(overload.name()).removesuffix(f".{overload_name(overload)}")


def overload_name(overload: Any) -> str:
    """Which overload of its op it is: `default`, `Tensor`."""
    return str(overload).rpartition(".")[2]


def writes_to_arguments(overload: Any) -> bool:
    """Whether an op's schema says that it writes to an argument; without one, whether its name."""
    schema = op_schema(overload)
    if schema is None:
        return operator_name(overload).endswith("_")
    return bool(schema.is_mutable)


def list_aliased_arguments(overload: Any) -> list[str]:
    """Names of the arguments that an op's results may share memory with."""
    schema = op_schema(overload)
    if schema is None:
        return []
    sets = {
        name for value in schema.returns if value.alias_info for name in value.alias_info.before_set
    }
    return [
        argument.name
        for argument in schema.arguments
        if argument.alias_info is not None and argument.alias_info.before_set & sets
    ]


def list_written_arguments(overload: Any) -> list[str]:
    """Names of the arguments that an op writes to."""
    arguments = _arguments(overload)
    return [
        argument.name
        for argument in arguments
        if argument.alias_info and argument.alias_info.is_write
    ]


def returns_its_first(overload: Any) -> bool:
    """Whether an op mutates and returns its first tensor."""
    first = _arguments(overload)[:1]
    name = first[0].name if first else ""
    return name in list_written_arguments(overload) and list_aliased_arguments(overload) == [name]


def op_signature(overload: Any) -> inspect.Signature:
    """The parameters of an op, by its schema, with their defaults.

    Raises:
        ValueError: this torch does not tell the schema.
    """
    if op_schema(overload) is None:
        raise ValueError(f"The schema of {overload} is not known.")
    kinds = inspect.Parameter
    return inspect.Signature(
        [
            kinds(
                argument.name,
                kinds.KEYWORD_ONLY if argument.kwarg_only else kinds.POSITIONAL_OR_KEYWORD,
                default=argument.default_value if argument.has_default_value() else kinds.empty,
            )
            for argument in _arguments(overload)
        ]
    )


def _arguments(overload: Any) -> list[Any]:
    schema = op_schema(overload)
    return [] if schema is None else list(schema.arguments)


def fake_result(overload: Any, args: Any, kwargs: Any) -> Any:
    """The result of an op's fake kernel for real arguments, or its exception."""
    mode = torch_has.FAKE_MODES.value(
        shape_env=torch_has.SHAPE_ENV.value(), allow_non_fake_inputs=True
    )

    def make_fake(value: Any) -> Any:
        is_tensor = isinstance(value, torch.Tensor)
        return mode.from_tensor(value, static_shapes=True) if is_tensor else value

    try:
        with mode:
            return overload(*pytree.tree_map(make_fake, args), **pytree.tree_map(make_fake, kwargs))
    except Exception as error:  # noqa: BLE001 - handed on: a fake kernel is the user's code
        log_internal_error(error, "running a fake kernel")
        return error


@undone
def fill_memory(high: int) -> Iterator[None]:
    """Fills the memory that ops inside create and leave unwritten, such as `torch.empty`'s.

    It is left as it is where torch lacks what this takes.

    Args:
        high: 1 for NaN, the largest integer and True; 0 for zeros.
    """
    if not torch_has.DISPATCH_MODE:
        yield
        return

    class Filling(torch_has.DISPATCH_MODE.value):  # type: ignore[misc, name-defined]
        supports_higher_order_operators = True  # which run without it: branches are not filled

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            if str(func).startswith(_CREATING) and isinstance(result, torch.Tensor):
                result.fill_(_extreme(result.dtype) if high else 0)
            return result

    with Filling():
        yield


_CREATING = ("aten.empty", "aten.new_empty")


def _extreme(dtype: torch.dtype) -> float | bool:
    if dtype.is_floating_point or dtype.is_complex:
        return float("nan")
    return True if dtype is torch.bool else torch.iinfo(dtype).max
