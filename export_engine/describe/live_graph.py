"""A torch.fx graph as the reader sees it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch.fx import GraphModule, Node

from export_engine.describe.arguments import Position, Words, print_argument
from export_engine.describe.source import (
    Nested,
    NumberValue,
    ObjectValue,
    TensorValue,
    Value,
)
from export_engine.describe.source import Node as Row
from export_engine.describe.symbols import Symbols
from export_engine.record import Target
from export_engine.torch_internals import (
    HigherOrderOperator,
    OpOverload,
    find_aten_op,
    op_schema,
    overload_name,
    read_size,
)
from export_engine.trace import PartialGraph

_SYMBOLIC = {torch.SymInt: "int", torch.SymFloat: "float", torch.SymBool: "bool"}


class Method(NamedTuple):
    """The target of a call_method node; only an unfinished graph has such nodes."""

    name: str


class Submodule(NamedTuple):
    """The target of a call_module node."""

    name: str
    contents: str
    """As text."""


class LiveGraph:
    """A graph with the graphs that its nodes run."""

    def __init__(
        self,
        graph_of: GraphModule | PartialGraph,
        symbols: Symbols,
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Make one.

        Args:
            graph_of: a graph with the object whose attributes its nodes name.
            symbols: of the Record.
            names: names for nodes with meaningless ones.
        """
        self._root = graph_of.root if isinstance(graph_of, PartialGraph) else graph_of
        self._nodes = list(graph_of.graph.nodes)
        self._positions = {node: position for position, node in enumerate(self._nodes)}
        self._symbols = symbols
        self._names = names

    def nodes(self) -> Iterator[Row]:
        """In execution order."""
        for node in self._nodes:
            meta = node.meta
            # Only a loaded program keeps a value on its output node; its inputs are the results.
            # Dynamo names it differently.
            value = None if node.op == "output" else meta.get("val", meta.get("example_value"))
            inputs: list[int] = []
            text = self._arguments(node, inputs)
            yield Row(
                self._names.get(node.name, node.name),
                node.op,
                self._target(node),
                read_value(value),
                meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack"),
                _stack_trace(node),
                text,
                inputs,
            )

    def iter_nested(self) -> Iterator[Nested]:
        """The graphs that its nodes run."""
        for node in self._nodes:
            if node.op not in ("get_attr", "call_module"):
                continue
            inner = attribute(self._root, str(node.target))
            if not isinstance(inner, GraphModule):
                continue
            holder = self._positions[node]
            if node.op == "call_module":
                yield Nested(holder, str(node.target), LiveGraph(inner, self._symbols), holder)
                continue
            for user in [user for user in node.users if user.op == "call_function"]:
                graph = LiveGraph(inner, self._symbols)
                yield Nested(self._positions[user], _argument_name(user, node), graph, holder)

    def _target(self, node: Node) -> Any:
        if node.op == "call_function":
            return find_aten_op(node.target)
        if node.op == "call_method":
            return Method(str(node.target))
        if node.op == "call_module":
            name = str(node.target)
            return Submodule(name, _contents(attribute(self._root, name)))
        return None

    def _arguments(self, node: Node, inputs: list[int]) -> str:
        if node.op == "get_attr":
            target = str(node.target)
            return (
                "()" if isinstance(attribute(self._root, target), GraphModule) else f"({target!r})"
            )
        kind = _sequences_of(node)
        parts = [print_argument(argument, inputs, kind, self._atom) for argument in node.args]
        for key, value in node.kwargs.items():
            parts.append(f"{key}={print_argument(value, inputs, kind, self._atom)}")
        return f"({', '.join(parts)})"

    def _atom(self, value: Any) -> Position | Words:
        if isinstance(value, Node):
            return Position(self._positions[value])
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return Words(self._symbols.size(read_size(value)))
        if isinstance(value, torch.dtype | torch.device | torch.layout | torch.memory_format):
            return Words(value)
        if isinstance(value, OpOverload | HigherOrderOperator):
            return Words(f"<torch.ops.{value}>")
        # A custom object: only its class, since its repr would run the model's code.
        return Words(f"<{type(value).__name__}>")


def read_value(value: Any) -> Value:
    """The value that tracing noted of a node; None where it kept none."""
    if isinstance(value, torch.Tensor):
        strided = value.layout is torch.strided
        return TensorValue(
            _plain_name(value.dtype),
            tuple([size if type(size) is int else read_size(size) for size in value.shape]),
            tuple([step if type(step) is int else read_size(step) for step in value.stride()])
            if strided
            else (),
            _plain_name(value.device),
            _plain_name(value.layout),
            value.requires_grad,
        )
    if isinstance(value, tuple | list):
        return tuple(map(read_value, value))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    for kind, name in _SYMBOLIC.items():
        if isinstance(value, kind):
            return NumberValue(name, read_size(value))  # type: ignore[arg-type]
    return ObjectValue(type(value).__name__)


@lru_cache(maxsize=256)
def _plain_name(of: Any) -> str:
    """`float32`, `strided`, `cuda:0`."""
    return str(of).removeprefix("torch.")


def _sequences_of(node: Node) -> type | None:
    """How every sequence among a node's arguments is written; None to keep its type."""
    if node.op == "output" or isinstance(node.target, HigherOrderOperator):
        return tuple
    return list if isinstance(find_aten_op(node.target), OpOverload) else None


def describe_target(target: Any) -> Target:
    """The target of a node."""
    if isinstance(target, Method):
        return Target(f"Tensor.{target.name}", target.name, "python")
    if isinstance(target, Submodule):
        return Target(target.name, target.name, "module", schema=target.contents)
    if isinstance(target, OpOverload):
        return _overload(target)
    if isinstance(target, HigherOrderOperator):
        name = str(target.name())
        return Target(f"higher_order.{name}", name, "higher_order")
    name = getattr(target, "__name__", str(target))
    module = (getattr(target, "__module__", "") or "").lstrip("_")
    return Target(f"{module}.{name}" if module else name, name, "python")


def _overload(target: Any) -> Target:
    schema = op_schema(target)
    namespace, _, rest = str(target).partition(".")
    label = rest.rpartition(".")[0]
    arguments = schema.arguments if schema is not None else ()
    writes = [a.name for a in arguments if a.alias_info and a.alias_info.is_write]
    shares = [a.name for a in arguments if a.alias_info and not a.alias_info.is_write]
    return Target(
        str(target),
        label,
        _kind(namespace),
        schema=str(schema or ""),
        overload=overload_name(target),
        mutates=writes,
        aliases=shares,
        core=torch.Tag.core in target.tags,
        tags=sorted(tag.name for tag in target.tags),
    )


def _kind(namespace: str) -> Any:
    if namespace == "aten":
        return "aten"
    return "prim" if namespace in ("prims", "prim", "_prims_common") else "custom"


def _contents(module: Any) -> str:
    """A module that a node calls, as torch prints it; of classes that are not torch's the name."""
    own = isinstance(module, torch.nn.Module) and not isinstance(module, GraphModule)
    if own and all(
        type(submodule).__module__.startswith("torch.nn.") for submodule in module.modules()
    ):
        return " ".join(repr(module).split())
    return "" if isinstance(module, GraphModule) else f"<{type(module).__name__}>"


def _argument_name(user: Node, graph: Node) -> str:
    """The argument name of a graph, `true_fn`; else the graph's own name."""
    names = _parameter_names(user.target)
    if graph in user.args and (position := user.args.index(graph)) < len(names):
        return names[position]
    return str(graph.target)


@lru_cache(maxsize=256)
def _parameter_names(operator: Any) -> list[str]:
    try:
        parameters = inspect.signature(operator.__call__).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]


def attribute(module: Any, path: str) -> Any:
    """The object at a dotted path below a module; None if there is none."""
    for part in path.split("."):
        module = getattr(module, part, None)
    return module


def _stack_trace(node: Node) -> str | None:
    """The recorded origin; for an operator that torch itself wraps around others, its results'.

    torch makes such calls out of `with torch.no_grad()` after tracing, and gives them no line.
    """
    own = _text(node.meta.get("stack_trace"))
    if own or not isinstance(node.target, HigherOrderOperator):
        return own
    texts = (_text(user.meta.get("stack_trace")) for user in node.users)
    return next(filter(None, texts), None)


def _text(noted: Any) -> str | None:
    return noted if isinstance(noted, str) else None
