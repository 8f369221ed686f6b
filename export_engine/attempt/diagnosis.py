"""The Diagnosis of a failed attempt: what kind of failure, where, why, and what explains it.

Plain values only. `diagnose` makes them, one small module per family of failures; `fixes` reads
them; `describe.failure` puts them into the Record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from export_engine.codes import code_of
from export_engine.source import Span, Stack


class Kind(StrEnum):
    """The kind of failure. The value is the view's heading."""

    # Sizes
    EXAMPLE_OUT_OF_RANGE = "The example is outside the range"
    SHAPES_VIOLATED = "The requested dynamic shapes do not hold"
    ZERO_ONE = "A size of 0 or 1 is specialized"
    UNBACKED_SIZE = "A decision on an unbacked size"
    SHAPES_MISMATCH = "The shapes do not fit the call"
    # Values
    BRANCH_ON_DATA = "A branch on data"
    BRANCH_ON_UNBACKED = "A branch on a data-dependent number"
    ASSERT_ON_DATA = "An assert on data"
    OUTPUT_FROM_DATA = "A data-dependent Python value"
    LOOP_ON_DATA = "A loop over a data-dependent length"
    # Operators
    NO_FAKE_KERNEL = "An operator without a fake kernel"
    DEVICE_MISMATCH = "Tensors on different devices"
    OPERATOR_FAILED = "An op rejected its inputs"
    # Control flow operators
    COND_BRANCHES_DIFFER = "The branches of torch.cond differ"
    COND_MUTATES = "A branch mutates its input"
    COND_ALIASES = "A branch returns its input"
    COND_SIDE_EFFECT = "A branch has a side effect"
    # Inputs and outputs
    UNKNOWN_INPUT_TYPE = "An unsupported input type"
    UNKNOWN_OUTPUT_TYPE = "An unsupported output type"
    NOT_A_MODULE = "This cannot be exported"
    # Python
    NUMPY = "A call into NumPy"
    DATA_WRITE = "A write through .data"
    TENSOR_LEAK = "A fake tensor leaks out of the trace"
    GRAPH_BREAK = "Python that strict mode cannot trace"
    MODULE_CHANGED = "A module is converted while traced"
    OWN_ERROR = "The model's code raised an error"
    UNKNOWN = "An unknown failure"

    @property
    def code(self) -> str:
        """Its stable code: `EX111`."""
        return code_of("diagnosis", self.name)


@dataclass(frozen=True)
class Related:
    """A related place: the line of a guard, where a number was computed."""

    text: str
    """What happens there, as a phrase: `asks that batch <= 16`."""
    stack: Stack


@dataclass(frozen=True)
class Link:
    """Where to read more."""

    kind: Literal["exportdb", "graph-break", "docs"]
    name: str
    """An ExportDB case, a graph break's id (`GB0170`), or a page's title."""
    text: str
    """What it explains, in a few words; for a graph break torch's own explanation."""
    url: str = ""


@dataclass(frozen=True)
class Facts:
    """What fixes need besides the place of a failure. Each family has its own: `diagnose.facts`."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Why an export failed, in the user's terms."""

    kind: Kind
    sentence: str
    """One plain sentence: what does not work, with the user's names of arguments and dims."""
    why: str = ""
    """The reason, in a sentence or two, for someone new to torch.export."""
    stack: Stack = ()
    """The user's frames at the failing line, the outermost call first; empty if not known."""
    span: Span | None = None
    """The sub-expression in the innermost frame of `stack`."""
    related: tuple[Related, ...] = ()
    links: tuple[Link, ...] = ()
    facts: Facts | None = field(default=None, compare=False)
    """The family's facts; None if it has nothing to add."""

    @property
    def known(self) -> bool:
        """Whether the kind of failure is known."""
        return self.kind is not Kind.UNKNOWN
