"""A program that torch holds, as the reader sees it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from export_engine.describe.live_graph import LiveGraph, describe_target
from export_engine.describe.live_signature import (
    output_paths,
    read_inputs,
    read_outputs,
)
from export_engine.describe.source import Entry, Range
from export_engine.describe.symbols import Symbols
from export_engine.record import Target
from export_engine.sizes import Expression
from export_engine.torch_internals import (
    LiveProgram,
    guards_code,
    int_bound,
    list_asserted_conditions,
    list_traced_symbols,
    pytree,
    read_sympy,
    shape_env,
    symbol_hint,
)


class LiveSource:
    """An ExportedProgram, or another graph with its face."""

    most_characters = sys.maxsize

    def __init__(self, program: LiveProgram, input_paths: Sequence[str], symbols: Symbols) -> None:
        """Make one.

        Args:
            program: the program.
            input_paths: where the caller passes each user input.
            symbols: of the Record.
        """
        self.program = program
        self.graph = LiveGraph(program.graph_module, symbols)
        self.input_paths = input_paths
        self._positions = {node.name: at for at, node in enumerate(program.graph.nodes)}

    def describe_target(self, target: Any) -> Target:
        """The target of a node."""
        return describe_target(target)

    @cached_property
    def output_paths(self) -> Sequence[str]:
        """Where the caller finds each user output."""
        return output_paths(self.program)

    @property
    def trees(self) -> tuple[str, str]:
        """The pytree specs of a call, as JSON."""
        call = self.program.call_spec
        return pytree.dump_tree(call.in_spec), pytree.dump_tree(call.out_spec)

    @cached_property
    def inputs(self) -> list[Entry]:
        """Those of the flat program, once its graph has been read."""
        return read_inputs(self.program, self._positions)

    @cached_property
    def outputs(self) -> list[Entry]:
        """Those of the flat program, once its graph has been read."""
        return read_outputs(self.program, self._positions)

    @cached_property
    def ranges(self) -> dict[Expression, Range]:
        """Of symbols, and of sizes that are made of them."""
        return {
            read_sympy(key): (int_bound(bounds.lower), int_bound(bounds.upper))
            for key, bounds in self.program.range_constraints.items()
        }

    def find_example(self, symbol: str) -> int | None:
        """A symbol's value in the example inputs."""
        value = self._symbols.get(symbol)
        return None if value is None else symbol_hint(self.program, value)

    @cached_property
    def _symbols(self) -> dict[str, Any]:
        """The sympy symbols by their names."""
        traced_symbols = list_traced_symbols(shape_env(self.program))
        traced_symbols += [
            symbol for key in self.program.range_constraints for symbol in key.free_symbols
        ]
        return {str(value): value for value in traced_symbols}

    @property
    def guards(self) -> list[str]:
        """The guards that travel with the program."""
        return guards_code(self.program)

    @property
    def checks_guards(self) -> bool:
        """torch checks them only if the program has its example inputs."""
        return self.program.example_inputs is not None

    def asserts(self) -> Iterable[Expression]:
        """The conditions on sizes that its own asserts check."""
        return map(read_sympy, list_asserted_conditions(self.program))
