"""What is recorded while tracing: guards and symbol births, each with the user's own lines.

A Recording is filled by the hooks of `torch_internals.recording` and read by `description`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from traceback import FrameSummary
from typing import Any, Literal

from export_engine.source import Location, Stack

_MOST_RAISED = 50


@dataclass(frozen=True)
class RecordedGuard:
    """A condition on symbols that tracing relied on."""

    condition: Any
    """A sympy boolean over torch's symbols."""
    kind: str
    """`guard`, or `runtime_assert` for one that the program itself checks."""
    stack: Stack
    asked_by: str = ""
    """The op that asked, `aten.matmul.default`, or `torch._check`; empty for the code itself."""


@dataclass(frozen=True)
class SymbolBirth:
    """A symbolic size that came into being."""

    symbol: Any
    """A sympy symbol."""
    source: str
    """torch's name for the input dim it stands for; empty for a value computed from data."""
    stack: Stack


@dataclass(frozen=True)
class Narrowing:
    """That the range of a symbol got narrower."""

    symbol: Any
    lower: Any
    upper: Any
    """The new bounds, both allowed, as sympy numbers."""
    sides: tuple[str, ...]
    """Which of them changed: `lower`, `upper`."""
    cause: int
    """Which recorded guard did it, by number; -1 for none, such as the Dim's own range."""


@dataclass(frozen=True)
class Replacement:
    """That a symbol was found equal to something else, and was replaced."""

    symbol: Any
    value: Any
    """A sympy expression."""
    cause: int
    """Which recorded guard did it, by number; -1 for none."""


Event = RecordedGuard | SymbolBirth | Narrowing | Replacement


@dataclass(frozen=True)
class Raised:
    """An exception that Dynamo saw the model raise."""

    cls: str
    """The name of Dynamo's own class for it."""
    text: str
    frames: tuple[FrameSummary, ...]
    """The frames it was at, the outermost first."""


Owner = Literal["attribute", "class attribute", "global", "closure", "input"]
"""What a name belongs to."""


@dataclass(frozen=True)
class Change:
    """Something that was set, or a container whose content changed. It has been put back."""

    owner: Owner
    name: str
    """As the code knows it: `layer.cache`, `COUNT`."""
    what: Literal["set", "content"]
    """Whether the name got another value, or a container other content."""
    summary: str
    """`grew from 0 to 1 items`, `was 0, became 1`."""
    leaked: bool = False
    """Whether torch's stand-in for a tensor got there, of no use to anyone after the trace."""
    where: str = ""
    """The class that the attribute's module is of, or the file whose global it is."""
    lost: bool = False
    """Whether nothing but an input holds what was put there: it is not among the results."""


@dataclass(frozen=True)
class OutsideRead:
    """A read of the environment or of a file by the model's own code."""

    what: Literal["environment", "file"]
    name: str
    """The variable's, or the file's."""
    place: Location


@dataclass(frozen=True)
class PartialGraph:
    """A graph as far as tracing came. It may lack an output, values and stacks."""

    graph: Any
    """A torch.fx.Graph."""
    root: Any
    """The object whose attributes `get_attr` nodes name."""


@dataclass
class Recording:
    """All that one capture recorded, in order."""

    on_module: Callable[[object], None] | None = None
    """Called with each module that tracing enters, torch's own helper modules among them."""
    on_call: Callable[[object, tuple[Any, ...], dict[str, Any]], Callable[[Any], None]] | None = (
        None
    )
    """Called with a module that tracing calls and with the arguments, as it is entered; what it
    gives is called with the result. Non-strict mode alone calls modules."""
    on_traced: Callable[[], None] | None = None
    """Called when the model's own code has run, before torch puts back what it does itself."""
    guards: list[RecordedGuard] = field(default_factory=list)
    births: list[SymbolBirth] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """Guards, births and their effects, in order."""
    shape_env: Any = None
    """torch's ShapeEnv: what it found out about the symbols, also when the export failed."""
    raised: deque[Raised] = field(default_factory=lambda: deque(maxlen=_MOST_RAISED))
    """In strict mode, the last exceptions of the model's that Dynamo saw, each time they were
    raised."""
    reads: list[OutsideRead] = field(default_factory=list)
    """What the model's own code read from outside, each line once.

    Only in non-strict mode, where Python runs it.
    """
    changes: list[Change] = field(default_factory=list)
    """What the model's own code changed, and what was put back."""
    left_out: list[str] = field(default_factory=list)
    """What could not be recorded since torch's objects are not as we know them, in sentences."""
    traces: int = 0
    """How many traces run just now, one inside the other: a branch of torch.cond is traced on its
    own, with symbols of its own."""
    graph: PartialGraph | None = None
    """What was traced until the export failed; None where it did not, or tracing never began."""

    def add_guard(self, guard: RecordedGuard) -> None:
        """Records a guard; what happens to ranges until the next one comes of it."""
        self.guards.append(guard)
        self.events.append(guard)

    def add_birth(self, birth: SymbolBirth) -> None:
        """Records a symbol."""
        self.births.append(birth)
        self.events.append(birth)
