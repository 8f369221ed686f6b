"""Events recorded while torch.compile ran; `compiling` interprets them."""

from __future__ import annotations

from dataclasses import dataclass, field

from export_engine.source import Location, Stack


@dataclass
class SeenBreak:
    """A graph break."""

    kind: str
    """torch's name of it."""
    message: str
    stack: Stack


@dataclass
class SeenGraph:
    """A graph that the backend was given."""

    frame: str
    """torch's id of the compilation, `0/1`: the frame's number, and how often it was compiled."""
    inputs: list[tuple[str, str]]
    """Per tensor or number of the call itself: torch's name of its source, its type."""
    sizes: dict[str, tuple[str, int | None, int | None]]
    """Per symbol, the source of the first size that it stands for, and its range."""
    ops: list[str]
    code: str
    ended_by: SeenBreak | None
    start: Location | None = None


@dataclass
class SeenRecompile:
    """A guard that failed: `0/1`, and torch's words for it."""

    frame: str
    said: str
    file: str
    """The name of the function that is compiled again."""


@dataclass
class SeenCall:
    """One call."""

    ran: list[int] = field(default_factory=list)
    """Indices of graphs, in order."""
    made: list[int] = field(default_factory=list)
    recompiles: list[SeenRecompile] = field(default_factory=list)
    breaks: list[SeenBreak] = field(default_factory=list)
    """Those met while compiling for it."""
    limit: int = 0
    """The most graphs that a function may have, where torch gave up at it; 0: it did not."""


@dataclass
class Seen:
    """All of it."""

    graphs: list[SeenGraph] = field(default_factory=list)
    breaks: list[SeenBreak] = field(default_factory=list)
    frames: dict[str, Location] = field(default_factory=dict)
    """Per compilation, where its code begins."""
    calls: list[SeenCall] = field(default_factory=list)
    between: dict[str, list[SeenBreak]] = field(default_factory=dict)
    """Per compilation, the breaks that were met in it."""

    names: dict[str, str] = field(default_factory=dict)
    """torch's name for a positional argument, `args[0]`, and the user's name."""

    dims: dict[str, str] = field(default_factory=dict)
    """The user's name of a Dim, by its places: `x.shape[0]`."""

    @property
    def call(self) -> SeenCall:
        """The call that runs."""
        return self.calls[-1]
