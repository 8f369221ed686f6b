"""A component: one program of a set, with what the set has to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from export_engine.archive import HeldWeight
from export_engine.findings import placeholders_written
from export_engine.programs.op_walk import Walk
from export_engine.record import Flow, InputEntry, OutputEntry, Record, ValueType


class Link(NamedTuple):
    """That what one program gave was what another took, seen in example calls."""

    source: str
    output: str
    """The path of the output."""
    target: str
    input: str
    """The path of the input."""


class Given(NamedTuple):
    """A tensor that a program gives."""

    output: int
    """Into the signature's outputs; -1 for an input that is written in place."""
    node: int
    path: str
    type: ValueType
    in_place: bool
    place: str = ""
    """Its path in the results; empty for a model that returns one tensor, which is then named."""


@dataclass(frozen=True)
class Component:
    """One program of a set."""

    name: str
    record: Record
    weights: Mapping[str, HeldWeight] = field(default_factory=dict)
    """Its tensors, by name."""
    role: str = ""
    """When it is called, where that is known."""
    varying: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Per input path, the dims whose sizes differed between the calls that were observed."""
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Per path of an input other than a tensor, its values in calls, where they differed."""

    @cached_property
    def walk(self) -> Walk:
        """Its main graph, to walk along; the index of who reads what is made once."""
        return Walk(self.record)

    def given(self) -> list[Given]:
        """Tensors that another program may take from this one: results, and mutated inputs."""
        items = [
            Given(
                number,
                output.node,
                output.path or output.name,
                self.type_of(output),
                False,
                output.path,
            )
            for number, output in enumerate(self.record.signature.outputs)
            if output.kind == "user_output" and output.constant is None
        ]
        written = self.writes()
        return items + [
            Given(-1, written[entry.node], entry.path, self.type_of(entry), True)
            for _, entry in self.taken()
            if entry.node in written
        ]

    def writes(self) -> dict[int, int]:
        """Per input of the program that it writes to, the op that does; both in the main graph.

        torch.export keeps in-place ops, and says in the signature what was written once they are
        decomposed.
        """
        signature = self.record.signature
        nodes = {entry.target or entry.name: entry.node for entry in signature.inputs}
        nodes |= {entry.name: entry.node for entry in signature.inputs}
        entries = {
            nodes[output.target]: output.node
            for output in signature.outputs
            if output.kind in ("user_input_mutation", "buffer_mutation") and output.target in nodes
        }
        by_op = {node: op.position for node, op in placeholders_written(self.record).items()}
        return {**by_op, **entries}

    def taken(self) -> list[tuple[int, InputEntry]]:
        """Inputs that another program may give, with their numbers."""
        return [
            (number, entry)
            for number, entry in enumerate(self.record.signature.inputs)
            if entry.kind == "user_input" and entry.constant is None
        ]

    def type_of(self, entry: InputEntry | OutputEntry) -> ValueType:
        """The type of an input or output."""
        return self.record.types[entry.type]


def find_given_type(component: Component, flow: Flow) -> ValueType:
    """The type of what a program gives."""
    if flow.output >= 0:
        return component.type_of(component.record.signature.outputs[flow.output])
    written = {entry.target or entry.path: entry for entry in component.record.signature.inputs}
    return component.type_of(written[flow.source_path])  # a part may be written, all is given
