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
    """What it holds, by name."""
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
        """What another program may take of this one: its results, and the inputs that it writes."""
        found = [
            Given(number, each.node, each.path or each.name, self.type_of(each), False, each.path)
            for number, each in enumerate(self.record.signature.outputs)
            if each.kind == "user_output" and each.constant is None
        ]
        written = self.writes()
        return found + [
            Given(-1, written[each.node], each.path, self.type_of(each), True)
            for _, each in self.taken()
            if each.node in written
        ]

    def writes(self) -> dict[int, int]:
        """Per input of the program that it writes to, the op that does; both in the main graph.

        torch.export keeps in-place ops, and says in the signature what was written once they are
        decomposed.
        """
        signature = self.record.signature
        nodes = {each.target or each.name: each.node for each in signature.inputs}
        nodes |= {each.name: each.node for each in signature.inputs}
        said = {
            nodes[each.target]: each.node
            for each in signature.outputs
            if each.kind in ("user_input_mutation", "buffer_mutation") and each.target in nodes
        }
        by_op = {node: op.position for node, op in placeholders_written(self.record).items()}
        return {**by_op, **said}

    def taken(self) -> list[tuple[int, InputEntry]]:
        """Inputs that another program may give, with their numbers."""
        return [
            (number, each)
            for number, each in enumerate(self.record.signature.inputs)
            if each.kind == "user_input" and each.constant is None
        ]

    def type_of(self, entry: InputEntry | OutputEntry) -> ValueType:
        """The type of an input or output."""
        return self.record.types[entry.type]


def given_type(component: Component, flow: Flow) -> ValueType:
    """The type of what a program gives."""
    if flow.output >= 0:
        return component.type_of(component.record.signature.outputs[flow.output])
    written = {each.target or each.path: each for each in component.record.signature.inputs}
    return component.type_of(written[flow.source_path])  # a part may be written, all is given
