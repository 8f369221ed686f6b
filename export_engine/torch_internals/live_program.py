"""The interface of every live program to its readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch.export.graph_signature import ExportGraphSignature


class LiveProgram(Protocol):
    """An ExportedProgram, or another graph with its face. Readers never write to it."""

    @property
    def graph_module(self) -> torch.fx.GraphModule:
        """The main graph, with the graphs that its ops run."""

    @property
    def graph(self) -> torch.fx.Graph:
        """The main graph's nodes."""

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """The kind of each input and output."""

    @property
    def range_constraints(self) -> Mapping[Any, Any]:
        """Ranges with `lower` and `upper`, by sympy symbol."""

    @property
    def state_dict(self) -> Mapping[str, Any]:
        """Parameters and persistent buffers by name."""

    @property
    def constants(self) -> Mapping[str, Any]:
        """Other tensors and objects that it holds, by name."""

    @property
    def module_call_graph(self) -> Sequence[Any]:
        """The modules that it calls, with their signatures."""

    @property
    def example_inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """The call that it was made with."""

    @property
    def call_spec(self) -> Any:
        """How its inputs and outputs nest: `in_spec`, `out_spec`; None where that is not known."""
