"""The contents of a `.pte` file, as plain data."""

from __future__ import annotations

import msgspec


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A tensor that the memory plan places in an arena."""

    value: int
    dtype: str
    shape: list[int]
    arena: int
    offset: int
    bytes: int
    first: int
    """The first instruction that uses it; -1 for none."""
    last: int
    """The last one; of an output the last of all. The memory of inputs may be used again."""


class Delegate(msgspec.Struct, frozen=True, kw_only=True):
    """A part that a backend runs."""

    backend: str
    """`XnnpackBackend`."""
    bytes: int
    """Of its payload."""
    ops: list[str] = []
    """The payload's ops, in order, where its schema is public: `XNNConv2d`."""


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a plan."""

    kind: str
    """`kernel`, `delegate`, `move`, `jump` or `free`."""
    runs: str = ""
    """The kernel `aten::add.out`, or the delegate by its number and backend."""
    values: list[int] = []


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A method: `forward`."""

    name: str
    inputs: int
    outputs: int
    operators: list[str]
    """The kernels that a runtime must have: `aten::add.out`."""
    delegates: list[Delegate]
    instructions: list[Instruction]
    arenas: list[int]
    """Bytes of each arena; the first is reserved and empty."""
    placed: list[Placed]

    @property
    def backends(self) -> list[str]:
        """The backends that it needs, once each."""
        return list(dict.fromkeys(delegate.backend for delegate in self.delegates))


class PteProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A `.pte` file."""

    version: int
    identifier: str
    """`ET12`."""
    bytes: int
    plans: list[Plan]
    constants: int
    """How many constants lie outside of delegates."""
    constant_bytes: int
    segment_bytes: int
    named_data: list[str]
    """Names of data that delegates share, as weights."""
