"""A torch.fx graph that was not made by torch.export, with the face of an ExportedProgram."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeGuard

import torch
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from torch.fx.passes.shape_prop import TensorMetadata

from export_engine.attempt.attempt import Attempt
from export_engine.defects import log_internal_error
from export_engine.torch_internals import (
    JointRole,
    expression_of,
    find_range,
    joint_role,
    pytree,
    shape_env,
)


class _Range(NamedTuple):
    """The least and the greatest value of a size; infinite as torch writes it where it is open."""

    lower: Any
    upper: Any


class _NoTrees(NamedTuple):
    """In place of a call spec: a graph does not say how its inputs and outputs nest."""

    in_spec: None = None
    out_spec: None = None


class GraphProgram:
    """Any `torch.fx.GraphModule` with the attributes of an ExportedProgram that readers use.

    Every placeholder is an input and every result an output. A graph has no example and no tensors
    by name: those stay empty, so that what needs them is left out.
    """

    constants: Mapping[str, Any] = MappingProxyType({})
    module_call_graph: tuple[()] = ()
    example_inputs: None = None
    call_spec = _NoTrees()

    def __init__(
        self,
        graph_module: torch.fx.GraphModule,
        paths: Sequence[str] = (),
        values: Sequence[Any] = (),
    ) -> None:
        """Make one. The graph module itself is unchanged.

        Args:
            graph_module: the graph, with the tensors and graphs that its nodes name.
            paths: where the caller passes its inputs, the first ones; else they go by their nodes.
            values: per placeholder, its value in the call that was traced; None for a tangent.
        """
        self.graph_module = _with_values(graph_module)
        self.paths = list(paths)
        self.values = list(values)

    @property
    def graph(self) -> torch.fx.Graph:
        """The main graph."""
        return self.graph_module.graph

    @cached_property
    def graph_signature(self) -> ExportGraphSignature:
        """Every placeholder as an input, every result as an output.

        AOTAutograd says which of them are weights and gradients. Elsewhere all are the user's.
        """
        inputs = {node.name: joint_role(node.meta.get("desc")) for node in self._placeholders}
        names = {role.name: name for name, role in inputs.items() if role and role.kind == "input"}
        results = [
            result for node in self.graph.nodes if node.op == "output" for result in _results(node)
        ]
        return ExportGraphSignature(
            [_input(node, inputs[node.name]) for node in self._placeholders],
            [_output(node, role, names) for node, role in results],
        )

    @cached_property
    def state_dict(self) -> dict[str, Any]:
        """The values of weights, where AOTAutograd says which inputs are weights."""
        roles = ((node, joint_role(node.meta.get("desc"))) for node in self._placeholders)
        return {role.name: node.meta.get("val") for node, role in roles if _is_weight(role)}

    @property
    def _placeholders(self) -> list[torch.fx.Node]:
        return [node for node in self.graph.nodes if node.op == "placeholder"]

    @cached_property
    def range_constraints(self) -> dict[Any, _Range]:
        """The ranges of the sizes of its values, by sympy symbol, as their ShapeEnv knows them."""
        env = shape_env(self)
        values = (pytree.tree_leaves(node.meta.get("val")) for node in self.graph.nodes)
        sizes = (size for value in values for leaf in value for size in getattr(leaf, "shape", ()))
        symbols = {
            symbol
            for size in sizes
            if isinstance(size, torch.SymInt)
            for symbol in expression_of(size).free_symbols
        }
        entries = {symbol: find_range(env, symbol) for symbol in sorted(symbols, key=str)}
        return {
            symbol: _Range("-int_oo" if low is None else low, "int_oo" if high is None else high)
            for symbol, (low, high) in entries.items()
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class GivenGraph(Attempt):
    """A graph that someone has: it can be read, compared and saved as a page, and is never run."""

    program: GraphProgram

    def __repr__(self) -> str:
        return f"GivenGraph({self.title}, {len(self.program.graph.nodes)} nodes)"


def _with_values(graph_module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph with its values under `val`, as torch.export keeps them; a copy where they are not.

    Dynamo keeps them as `example_value`, and `torch.fx.passes.shape_prop` as `tensor_meta`.
    """
    if all("val" in node.meta or node.op == "output" for node in graph_module.graph.nodes):
        return graph_module
    graph = copy.deepcopy(
        graph_module.graph
    )  # nodes and their dicts; what the dicts hold is shared
    for node, original in zip(graph.nodes, graph_module.graph.nodes, strict=True):
        node.name = original.name  # fx calls a copy of `input` `input_1`, for Python's own function
        if "example_value" in node.meta:
            node.meta.setdefault("val", node.meta["example_value"])
        elif isinstance(node.meta.get("tensor_meta"), TensorMetadata):
            node.meta.setdefault("val", _meta_tensor(node.meta["tensor_meta"]))
    try:
        return torch.fx.GraphModule(graph_module, graph)
    except AttributeError as error:  # a node names what another pass has taken away
        log_internal_error(error, "copying a graph")
        return graph_module


def _meta_tensor(known: TensorMetadata) -> torch.Tensor:
    return torch.empty_strided(known.shape, known.stride, dtype=known.dtype, device="meta")


def _results(output: torch.fx.Node) -> list[tuple[torch.fx.Node, JointRole | None]]:
    """The nodes whose values a graph returns, each with what AOTAutograd says of it."""
    returned, described = pytree.tree_leaves(output.args), output.meta.get("desc")
    if not isinstance(described, list) or len(described) != len(returned):
        described = [None] * len(returned)
    return [
        (node, joint_role(told))
        for node, told in zip(returned, described, strict=True)
        if isinstance(node, torch.fx.Node)
    ]


def _is_weight(role: JointRole | None) -> TypeGuard[JointRole]:
    return role is not None and role.kind in ("parameter", "buffer")


def _input(node: torch.fx.Node, role: JointRole | None) -> InputSpec:
    if not _is_weight(role):
        return InputSpec(InputKind.USER_INPUT, _argument(node), None)
    if role.kind == "parameter":
        return InputSpec(InputKind.PARAMETER, _argument(node), role.name)
    return InputSpec(InputKind.BUFFER, _argument(node), role.name, persistent=True)


def _output(node: torch.fx.Node, role: JointRole | None, inputs: Mapping[str, str]) -> OutputSpec:
    if role is None or role.kind != "gradient":
        return OutputSpec(OutputKind.USER_OUTPUT, _argument(node), None)
    if role.name in inputs:
        kind, target = OutputKind.GRADIENT_TO_USER_INPUT, inputs[role.name]
    else:
        kind, target = OutputKind.GRADIENT_TO_PARAMETER, role.name
    return OutputSpec(kind, _argument(node), target)


def _argument(node: torch.fx.Node) -> TensorArgument | SymIntArgument:
    if isinstance(node.meta.get("val"), int | torch.SymInt):
        return SymIntArgument(node.name)
    return TensorArgument(node.name)
