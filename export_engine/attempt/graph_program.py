"""A torch.fx graph that was not made by torch.export, with the face of an ExportedProgram."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

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
from export_engine.torch_internals import expression_of, known_range, pytree, shape_env


class _Range(NamedTuple):
    """The least and the greatest value of a size; infinite as torch writes it where it is open."""

    lower: Any
    upper: Any


class _NoTrees(NamedTuple):
    """In place of a call spec: a graph does not say how its inputs and outputs nest."""

    in_spec: None = None
    out_spec: None = None


class GraphProgram:
    """What a reader asks an ExportedProgram for, of any `torch.fx.GraphModule`.

    Every placeholder is an input and every result an output. A graph has no example and no tensors
    by name: those stay empty, so that what needs them is left out.
    """

    state_dict: Mapping[str, torch.Tensor] = MappingProxyType({})
    constants: Mapping[str, Any] = MappingProxyType({})
    module_call_graph: tuple[()] = ()
    example_inputs: None = None
    call_spec = _NoTrees()

    def __init__(self, graph_module: torch.fx.GraphModule) -> None:
        """Make one. The graph module itself is left as it is.

        Args:
            graph_module: the graph, with the tensors and graphs that its nodes name.
        """
        self.graph_module = _with_values(graph_module)

    @property
    def graph(self) -> torch.fx.Graph:
        """The main graph."""
        return self.graph_module.graph

    @cached_property
    def graph_signature(self) -> ExportGraphSignature:
        """Every placeholder as an input of the user, every result as an output."""
        placeholders = [node for node in self.graph.nodes if node.op == "placeholder"]
        results = [
            node for each in self.graph.nodes if each.op == "output" for node in _results(each)
        ]
        return ExportGraphSignature(
            [InputSpec(InputKind.USER_INPUT, _argument(node), None) for node in placeholders],
            [OutputSpec(OutputKind.USER_OUTPUT, _argument(node), None) for node in results],
        )

    @cached_property
    def range_constraints(self) -> dict[Any, _Range]:
        """The ranges of the sizes of its values, by sympy symbol, as their ShapeEnv knows them."""
        env = shape_env(self)
        values = (pytree.tree_leaves(node.meta.get("val")) for node in self.graph.nodes)
        sizes = (size for each in values for leaf in each for size in getattr(leaf, "shape", ()))
        symbols = {
            symbol
            for size in sizes
            if isinstance(size, torch.SymInt)
            for symbol in expression_of(size).free_symbols
        }
        known = {symbol: known_range(env, symbol) for symbol in sorted(symbols, key=str)}
        return {
            symbol: _Range("-int_oo" if low is None else low, "int_oo" if high is None else high)
            for symbol, (low, high) in known.items()
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
    return torch.fx.GraphModule(graph_module, graph)


def _meta_tensor(known: TensorMetadata) -> torch.Tensor:
    return torch.empty_strided(known.shape, known.stride, dtype=known.dtype, device="meta")


def _results(output: torch.fx.Node) -> list[torch.fx.Node]:
    return [each for each in pytree.tree_leaves(output.args) if isinstance(each, torch.fx.Node)]


def _argument(node: torch.fx.Node) -> TensorArgument | SymIntArgument:
    if isinstance(node.meta.get("val"), int | torch.SymInt):
        return SymIntArgument(node.name)
    return TensorArgument(node.name)
