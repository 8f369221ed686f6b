"""A program of an archive, as the reader sees it: data, of which nothing is evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from export_engine.archive import limits, schema
from export_engine.archive.arguments import read
from export_engine.archive.errors import ArchiveError
from export_engine.archive.graphs import FileGraph, Shared
from export_engine.archive.names import Names
from export_engine.archive.read_sizes import Sizes, read_ranges
from export_engine.archive.signature import (
    constant_names,
    input_paths,
    output_paths,
    read_inputs,
    read_outputs,
    trees,
)
from export_engine.describe import Entry, Range
from export_engine.record import Target
from export_engine.sizes import Expression

_ASSERT = "torch.ops.aten._assert_scalar.default"


class FileSource:
    """A program of an archive."""

    most_characters = limits.FORMULA_CHARACTERS

    def __init__(
        self, program: schema.ExportedProgram, held: Mapping[str, int], checks_guards: bool
    ) -> None:
        """Make one.

        Args:
            program: the program.
            held: bytes of each parameter, buffer and constant.
            checks_guards: whether it has example inputs; without them, torch checks no guards.
        """
        self._program = program
        self._module = program.graph_module
        self._held = held
        if len(self._module.module_call_graph) > limits.MODULES:
            raise ArchiveError(f"It has more than {limits.MODULES:,} modules.")
        if len(program.guards_code) > limits.GUARDS:
            raise ArchiveError(f"It has more than {limits.GUARDS:,} guards.")
        self.names = Names()
        self.sizes = Sizes()
        self.shared = Shared(self.names, self.sizes)
        constants = constant_names(self._module.signature)
        self.graph = FileGraph(self.shared, self._module.graph, constants)
        self.input_paths: Sequence[str] = input_paths(self._module)
        self.guards = program.guards_code
        self.checks_guards = checks_guards

    def describe_target(self, target: str) -> Target:
        """The target of a node."""
        return self.shared.describe_target(target)

    @property
    def unknown(self) -> list[str]:
        """Kinds of arguments, inputs and outputs that only a later torch knows."""
        return self.shared.arguments.unknown

    @cached_property
    def output_paths(self) -> Sequence[str]:
        """Where the caller finds each user output."""
        return output_paths(self._module)

    @property
    def trees(self) -> tuple[str, str]:
        """The pytree specs of a call, as JSON."""
        return trees(self._module)

    @cached_property
    def inputs(self) -> list[Entry]:
        """Those of the flat program, once its graph has been read."""
        return read_inputs(self._module, self.graph, self._held, self.shared)

    @cached_property
    def outputs(self) -> list[Entry]:
        """Those of the flat program, once its graph has been read."""
        return read_outputs(self._module, self.graph, self.shared)

    @cached_property
    def ranges(self) -> dict[Expression, Range]:
        """Of symbols, and of sizes that are made of them."""
        return read_ranges(self._program)

    def find_example(self, symbol: str) -> int | None:
        """A symbol's value in the example inputs, as far as sizes that were read tell it."""
        return self.sizes.examples.get(symbol)

    def asserts(self) -> Iterator[Expression]:
        """The conditions on sizes that its own asserts check."""
        graph = self._module.graph
        for node in graph.nodes:
            first = node.inputs[0].arg if node.target == _ASSERT and node.inputs else {}
            name = read(first, "as_sym_bool").as_name if "as_sym_bool" in first else None
            condition = graph.sym_bool_values.get(name or "")
            if condition is None or condition.as_expr is None:
                continue
            expression = self.sizes.read(condition)
            if isinstance(expression, Expression):
                yield expression
