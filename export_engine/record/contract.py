"""The part of the Record with the shape contract: symbols, guards and size rules.

`record.py` has the rest, and says how all of it is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from export_engine.sizes import Formula

_TORCH_NAME = re.compile(r"\b[su]\d+\b")
"""A symbol as torch calls it."""

Size = int | str
"""One size of a tensor: a number, or the `text` of an `Expression`."""


class Place(msgspec.Struct, frozen=True):
    """A dim of a program input or output that an expression of symbols stands for."""

    io: Literal["input", "output"]
    entry: int
    """Index into the signature's inputs or outputs; -1 in a failed attempt, which has none."""
    dim: int
    """-1 for an input or output that is itself a number."""
    text: str
    """In the user's terms: `x.shape[0]`."""
    size: str
    """The expression, a key into `Record.expressions`."""


class Bound(msgspec.Struct, frozen=True):
    """Where one end of a symbol's range comes from."""

    side: Literal["lower", "upper"]
    value: int
    origin: Literal["dim", "fix", "guard", "check", "default"]
    """`dim`: from the Shapes. `fix`: from the Shapes after a fix. `check`: a torch._check.
    `default`: torch's own assumption."""
    text: str
    """As a phrase: `batch <= 16 at model.py:12`, `sizes of 0 and 1 are taken apart`."""
    guard: int = -1
    """Into `Record.guards`."""


def interval(lower: int | None, upper: int | None) -> str:
    """A range in interval notation, `[2, ∞)`; None leaves an end open."""
    low = "(-∞" if lower is None else f"[{lower}"
    high = "∞)" if upper is None else f"{upper}]"
    return f"{low}, {high}"


class Symbol(msgspec.Struct, frozen=True):
    """A symbolic size of the program."""

    name: str
    """In the user's terms: the name of the Dim, else `x.shape[0]`, else torch's own (`u0`)."""
    torch_name: str
    """`s77`, `u0`."""
    kind: Literal["backed", "unbacked"]
    lower: int | None
    """None: no lower bound."""
    upper: int | None
    """None: no upper bound."""
    example: int | None
    """Its value in the example inputs; None if unbacked or not known."""
    places: list[Place] = []
    stack: int = -1
    """Where an unbacked symbol was created; into `Record.stacks`."""
    bounds: list[Bound] = []
    """Where its bounds come from, as far as known."""

    @property
    def range(self) -> str:
        """The range in interval notation: `[2, 512]`, `[2, ∞)`."""
        return interval(self.lower, self.upper)

    @property
    def is_from_data(self) -> bool:
        """Whether the program itself finds it, in values: no input has it."""
        return self.kind == "unbacked" and all(place.io != "input" for place in self.places)


def sizes_said(symbols: Sequence[Symbol]) -> str:
    """The ranges of sizes behind a verdict: `, batch in [2, ∞); from data: u0 in [0, 12]`.

    Data-dependent sizes have torch's names, and are listed separately.
    """
    placed = [symbol for symbol in symbols if symbol.places]
    text = "".join(
        f", {symbol.name} in {symbol.range}" for symbol in placed if not symbol.is_from_data
    )
    texts = [f"{symbol.name} in {symbol.range}" for symbol in placed if symbol.is_from_data]
    return f"{text}; data-dependent: {', '.join(texts)}" if texts else text


def in_user_names(text: str, symbols: Sequence[Symbol]) -> str:
    """A text of torch's with the program's names of sizes for torch's own."""
    names = {symbol.torch_name: symbol.name for symbol in symbols}
    return _TORCH_NAME.sub(lambda found: names.get(found[0], found[0]), text)


class Guard(msgspec.Struct, frozen=True):
    """A condition on symbols that tracing relied on."""

    text: str
    """In the user's terms: `batch <= 16`."""
    torch_text: str
    """As torch prints it: `s77 <= 16`."""
    symbols: list[int]
    kind: Literal["guard", "runtime_assert"]
    stack: int = -1
    """The user's line that asked; -1 where it was not recorded (a loaded program)."""
    count: int = 1
    """How often the same line asked the same."""
    effect: Literal["narrows", "fixes", "equates", "kept", "implied"] = "kept"
    """Effect:

    narrows a range, fixes a size, equates two sizes, or is checked on each call (`kept`).
    `implied`: it follows from others.
    """
    result: str = ""
    """The resulting fact: `batch in [2, 16]`, `y.shape[0] = seq`."""
    asked_by: str = ""
    """The op that asked, `aten.matmul.default`, or `torch._check`; `dynamic_shapes` for an
    assumption of the Shapes; empty for the code itself."""
    inputs: list[int] = []
    """The inputs whose sizes it involves; into the signature's inputs."""


class Event(msgspec.Struct, frozen=True):
    """An event of the symbols while tracing."""

    kind: Literal["birth", "guard", "range", "replacement"]
    text: str
    """In the user's terms: `batch: x.shape[0], 8 in the example`, `batch in [2, 16]`."""
    torch_text: str
    symbols: list[int]
    stack: int = -1
    guard: int = -1
    """For a guard or its effect, an index into `Record.guards`."""
    count: int = 1
    """How often it happened in a row."""


class SizeInput(msgspec.Struct, frozen=True):
    """An input size: a dim of an input, or an input that is itself a number."""

    entry: int
    """Into the signature's inputs."""
    dim: int
    """-1 for a number."""
    text: str
    """`x.shape[0]`."""
    example: int
    size: Size
    """Its value in the program: a number, or an expression of symbols."""
    symbol: int = -1
    """Where it is `scale * symbol + offset`; into `Record.symbols`."""
    scale: int = 1
    offset: int = 0


class Rule(msgspec.Struct, frozen=True):
    """A rule on the sizes of a call."""

    kind: Literal["fixed", "range", "equal", "form", "guard"]
    """A fixed size; a bound; equal sizes; a derived size; a condition of the code."""
    text: str
    """In the user's terms: `x.shape[0] <= 16`."""
    formula: Formula
    """True or false; empty if it cannot be evaluated here."""
    guard: int = -1
    """The guard that it comes from; into `Record.guards`."""
    stack: int = -1
    enforced: bool = True
    """Whether the program rejects what breaks it.

    Sizes of 0 and 1 below a range pass, without any guarantee.
    """


class OutputSize(msgspec.Struct, frozen=True):
    """A size of a result."""

    entry: int
    """Into the signature's outputs."""
    dim: int
    """-1 for a number."""
    size: Size
    formula: Formula
    """Empty where it depends on values."""


class Probe(msgspec.Struct, frozen=True):
    """A program's size rules, and the sizes of its outputs as formulas."""

    inputs: list[SizeInput]
    rules: list[Rule]
    outputs: list[OutputSize]
