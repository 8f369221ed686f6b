"""The part of the Record with the origin of a decomposed program."""

from __future__ import annotations

import msgspec


class ReplacedOp(msgspec.Struct, frozen=True):
    """How one kind of op was decomposed."""

    op: str
    count: int
    """How many there were."""
    into: list[str]
    """The ops that replaced all of them: `aten.t.default ×13`."""
    function: str = ""
    """The decomposition's qualified name; empty for one that is built into torch."""
    file: int = -1
    """Into `Record.files`."""
    line: int = 0


class LevelRow(msgspec.Struct, frozen=True):
    """A decomposition."""

    table: str
    """In the short language: `core -linear`."""
    origins: list[int]
    """Per node of graph 0, the name of the node before that it comes from; into `Record.strings`,
    -1 for none."""
    fallback: list[int]
    """Nodes matched by structure, since torch did not record their origin."""
    untied: list[int]
    replaced: list[ReplacedOp]
    outside: list[str]
    """Ops of the program that are not of Core ATen, and how many: `aten.linear.default ×3`."""
