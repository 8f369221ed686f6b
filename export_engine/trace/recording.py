"""The recording of a trace: guards and new symbols, each with the user's lines.

A Recording is filled by the hooks in `torch_internals` and read by `describe`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from traceback import FrameSummary
from typing import Any, Literal

from export_engine.source import Location, Position, Stack

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
class AskedCondition:
    """A condition on sizes that the model's own code asked for, with a guard or without."""

    condition: Any
    """A sympy boolean over torch's symbols."""
    answer: bool
    stack: Stack
    checks: bool = False
    """Whether `torch._check` asked, which raises where it does not hold."""


@dataclass(frozen=True)
class SymbolBirth:
    """A new symbolic size."""

    symbol: Any
    """A sympy symbol."""
    source: str
    """torch's name for the input dim it stands for; empty for a value computed from data."""
    stack: Stack
    is_drawn: bool = False
    """Whether it is a random number of NumPy's, which strict mode draws with torch."""


@dataclass(frozen=True)
class Narrowing:
    """A narrowed range of a symbol."""

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
    """A symbol that was found equal to something else, and replaced."""

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
"""The owner of a name."""


@dataclass(frozen=True)
class Change:
    """A changed name, or a container whose content changed. It has been restored."""

    owner: Owner
    name: str
    """As the code knows it: `layer.cache`, `COUNT`."""
    what: Literal["set", "content"]
    """Whether the name got another value, or a container other content."""
    summary: str
    """`grew from 0 to 1 items`, `changed from 0 to 1`."""
    leaked: bool = False
    """Whether it holds a fake tensor, useless after the trace."""
    where: str = ""
    """The class that the attribute's module is of, or the file whose global it is."""
    lost: bool = False
    """Whether the written value is only in an input, not among the results."""
    counts: bool = True
    """Whether it was or is a number, a text, or a container: a program may hold that as a constant.

    A tensor in its place is computed in the program, or leaks into it.
    """
    follows_from: Literal["sizes", "inputs", ""] = ""
    """The inputs of the new value: `sizes`, weights and constants, so that each call
    computes the same, or values of `inputs` or random numbers; empty if unknown."""


@dataclass(frozen=True)
class OutsideRead:
    """A read of the environment or of a file by the model's own code."""

    what: Literal["environment", "file"]
    name: str
    """The variable's, or the file's."""
    place: Location


@dataclass(frozen=True)
class ActiveContext:
    """torch's settings around an export, by a context or for the whole process."""

    kind: Literal["autocast", "dtype", "device", "mode", "deterministic", "attention", "hook"]
    name: str
    """As the user enters it, `torch.autocast('cpu', dtype=torch.bfloat16)`; a mode's class."""


@dataclass(frozen=True)
class ContextEffect:
    """The first difference between a program and the one that is exported without the contexts."""

    node: str
    """The node's name; empty where there is no other program."""
    text: str
    """As a clause: `` `linear` is bfloat16 with it, and float32 without ``."""


@dataclass(frozen=True)
class Patch:
    """A function of torch that other code has replaced."""

    name: str
    """`torch.nn.functional.gelu`."""
    place: Location
    """The location of the code that is there now."""


@dataclass(frozen=True)
class CaughtError:
    """An error of tracing that the model's own code caught."""

    classes: tuple[str, ...]
    """The names of its class and of what that inherits from, the class itself first."""
    stack: Stack
    """The lines that led to it; the last one asked torch for what it refused."""
    asked: Position
    """Where in that line."""
    caught: Location
    """The line of the `try` or `with` block that ended; the block's function caught the error."""


@dataclass(frozen=True)
class PartialGraph:
    """A partial graph. It may lack an output, values and stacks."""

    graph: Any
    """A torch.fx.Graph."""
    root: Any
    """The object whose attributes `get_attr` nodes name."""


@dataclass
class Recording:
    """Everything that one capture recorded, in order."""

    on_module: Callable[[object], None] | None = None
    """Called with each module that tracing enters, torch's own helper modules among them."""
    on_call: Callable[[object, tuple[Any, ...], dict[str, Any]], Callable[[Any], None]] | None = (
        None
    )
    """Called with a module that tracing calls and with the arguments, as it is entered; what it
    gives is called with the result. Non-strict mode alone calls modules."""
    on_traced: Callable[[], None] | None = None
    """Called when the model's own code has run, before torch puts back what it does itself."""
    entered_with: tuple[Any, ...] = ()
    """The tensors and other leaves that tracing called the model with; only in non-strict mode."""
    depends: Callable[[Any], bool | None] | None = None
    """Whether a tensor of the trace depends on values of inputs or on random numbers; None if
    unknown. It holds on to the trace, and is there only until the capture ends."""
    guards: list[RecordedGuard] = field(default_factory=list)
    births: list[SymbolBirth] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """Guards, births and their effects, in order."""
    shape_env: Any = None
    """torch's ShapeEnv with the symbols, also of a failed export."""
    raised: deque[Raised] = field(default_factory=lambda: deque(maxlen=_MOST_RAISED))
    """In strict mode, the last exceptions of the model's that Dynamo saw, each time they were
    raised."""
    reads: list[OutsideRead] = field(default_factory=list)
    """Outside values that the model's own code read, once per line.

    Only in non-strict mode, where Python runs it.
    """
    asked: list[AskedCondition] = field(default_factory=list)
    """Conditions on sizes that the model's own code evaluated, once per line and condition."""
    copies: list[Stack] = field(default_factory=list)
    """The lines that copied the Python object of a tensor, once each, as `copy.copy` does.

    Only in non-strict mode: tracing does not know the copy.
    """
    changes: list[Change] = field(default_factory=list)
    """State that the model's own code changed, and that was restored."""
    caught: list[CaughtError] = field(default_factory=list)
    """Errors of tracing that the model's own code caught, once per stack.

    In strict mode, Dynamo lets code catch only errors that eager also raises.
    """
    contexts: tuple[ActiveContext, ...] = ()
    """torch's settings around the export."""
    context_effect: ContextEffect | None = None
    """Their effect on the program; None if they changed nothing."""
    patches: list[Patch] = field(default_factory=list)
    """Functions of torch that others have replaced, and the model called; non-strict mode only."""
    left_out: list[str] = field(default_factory=list)
    """Sentences on what could not be recorded because torch's objects have changed."""
    traces: int = 0
    """The depth of nested traces: a torch.cond branch is traced apart, with its own symbols."""
    graph: PartialGraph | None = None
    """The partial trace of a failed export; None if it succeeded, or tracing never began."""

    def add_guard(self, guard: RecordedGuard) -> None:
        """Records a guard; what happens to ranges until the next one comes of it."""
        self.guards.append(guard)
        self.events.append(guard)

    def add_birth(self, birth: SymbolBirth) -> None:
        """Records a symbol."""
        self.births.append(birth)
        self.events.append(birth)
