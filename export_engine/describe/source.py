"""The interface of every program to the reader, whether torch holds it or a file has it.

It knows no torch. Sizes are numbers, `Expression`s of `sizes`, or a text that could not be read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from export_engine.record import Target
from export_engine.sizes import Expression

AnySize = int | Expression | str
Range = tuple[int | None, int | None]
"""The least and the greatest value, both allowed; None for an end that is open."""


class TensorValue(NamedTuple):
    """A tensor, without its elements."""

    dtype: str
    """`float32`."""
    sizes: tuple[AnySize, ...]
    strides: tuple[AnySize, ...]
    """Empty for a layout that has none."""
    device: str
    """`cuda:0`."""
    layout: str
    """`strided`."""
    requires_grad: bool


class NumberValue(NamedTuple):
    """A number that a program computes with, symbolic or not."""

    kind: Literal["int", "float", "bool"]
    size: AnySize | float


class ObjectValue(NamedTuple):
    """Anything else."""

    text: str


Value = (
    TensorValue | NumberValue | ObjectValue | tuple[Any, ...] | list[Any] | int | float | str | None
)
"""A node's value; None where it is not known. Inside of a tuple, None is Python's."""


class Node(NamedTuple):
    """A node of a graph."""

    name: str
    op: str
    """One of `OPS`."""
    target: Hashable
    """Its target, for `ProgramSource.describe_target`; None if it calls nothing."""
    value: Value
    modules: Mapping[str, tuple[str, Any]] | None
    """torch's `nn_module_stack`: per key the path of a module and its class."""
    stack: str | None
    """torch's `stack_trace`."""
    args: str
    """Its arguments, with `{0}` for the first of `inputs`."""
    inputs: list[int]
    """Positions of the nodes that it reads."""


class Nested(NamedTuple):
    """A graph that a node runs."""

    node: int
    argument: str
    """The argument that it is, `true_fn`."""
    graph: GraphSource
    holder: int
    """The node that names it."""


class GraphSource(Protocol):
    """A graph; a graph is read once, its nodes first."""

    def nodes(self) -> Iterable[Node]:
        """In execution order."""

    def iter_nested(self) -> Iterable[Nested]:
        """The graphs that its nodes run."""


class Entry(NamedTuple):
    """An input or output of the flat program."""

    kind: str
    """Of `InputEntry`, or of `OutputEntry`."""
    name: str
    node: int
    """Its position in the main graph; -1 for none."""
    value: Value
    target: str = ""
    is_constant: bool = False
    """Whether `value` is the constant that a caller has to pass, or gets."""
    persistent: bool | None = None
    bytes: int = 0
    keyword: bool = False
    """For a user input: whether the caller passes it by keyword."""


class ProgramSource(Protocol):
    """A program."""

    @property
    def graph(self) -> GraphSource:
        """The main graph."""

    def describe_target(self, target: Any) -> Target:
        """The target of a node."""

    @property
    def inputs(self) -> Sequence[Entry]:
        """Those of the flat program, once its graph has been read."""

    @property
    def outputs(self) -> Sequence[Entry]:
        """Those of the flat program, once its graph has been read."""

    @property
    def input_paths(self) -> Sequence[str]:
        """Where the caller passes each user input: `x`, `cache.0.key`."""

    @property
    def output_paths(self) -> Sequence[str]:
        """Where the caller finds each user output: `logits`; empty for a lone one."""

    @property
    def trees(self) -> tuple[str, str]:
        """The pytree specs of a call's arguments and of what it returns, as torch's JSON.

        Empty if they are not known.
        """

    @property
    def ranges(self) -> Mapping[Expression, Range]:
        """Of symbols, and of sizes that are made of them."""

    def find_example(self, symbol: str) -> int | None:
        """A symbol's value in the example inputs."""

    @property
    def guards(self) -> Sequence[str]:
        """The guards that travel with the program, as Python text."""

    @property
    def checks_guards(self) -> bool:
        """Whether torch checks these: it does so only if there are example inputs."""

    def asserts(self) -> Iterable[Expression]:
        """The conditions on sizes that its own asserts check."""

    @property
    def most_characters(self) -> int:
        """Characters of a guard or a size that is parsed as a formula."""
