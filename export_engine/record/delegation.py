"""A Delegation: what a backend took of a program, what it left, and why. Plain data."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

ReasonBy = Literal["backend", "rule", "no rule", "follows", ""]
"""Who gave the reason: the backend in its own words; the line of its rule that refused; nobody,
since it has no rule for the op; or the op before, which needs it outside."""
OpKind = Literal["tensor", "size", "pick"]
"""`tensor`: computes tensors. `size`: computes numbers. `pick`: takes one of several results."""


class BackendRule(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a backend's own code that refused an op."""

    name: str
    """`AddConfig.check_constraints`."""
    file: str
    """From the backend's package on: `executorch/backends/xnnpack/…`."""
    line: int
    text: str
    """These lines."""


class LinePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the user's code."""

    file: str = ""
    line: int = 0
    code: str = ""
    module: str = ""
    """The path of the module that runs it: `layers.0.attn`."""

    def __str__(self) -> str:
        at = f"{self.file.rpartition('/')[2]}:{self.line}" if self.file else ""
        return ", ".join(text for text in (at, f"in {self.module}" if self.module else "") if text)


class DelegatedOp(msgspec.Struct, frozen=True, kw_only=True):
    """An op of the lowered program."""

    name: str
    """The lowered node's."""
    op: str
    """`aten.add.Tensor`."""
    kind: OpKind = "tensor"
    partition: int = -1
    """The partition that has it; -1 outside."""
    graph: str = ""
    """The nested graph, of a cond or a loop, that it is in; empty in the main graph."""
    reason: str = ""
    """Why it is outside, as a sentence."""
    by: ReasonBy = ""
    rule: BackendRule | None = None
    origin: str = ""
    """The op of the program that it was made of."""
    place: LinePlace = LinePlace()
    flops: int | None = 0
    """At the sizes of the example; None where they are not known."""
    bytes: int = 0
    """Size of its results, at the sizes of the example."""
    microseconds: float = -1
    """Time in a call, if measured; for an op inside, see its partition."""
    missing_kernel: str = ""
    """The kernel that the runtime lacks, so that the program cannot be loaded."""

    @property
    def is_inside(self) -> bool:
        """Whether the backend took it."""
        return self.partition >= 0


class InnerTime(msgspec.Struct, frozen=True, kw_only=True):
    """An op of the delegate's own, as its runtime calls it."""

    name: str
    microseconds: float


class Partition(msgspec.Struct, frozen=True, kw_only=True):
    """Ops that the backend runs in one call."""

    number: int
    name: str
    ops: int
    flops: int
    bytes_in: int
    """Bytes that it reads from outside, without weights, at the sizes of the example."""
    bytes_out: int
    microseconds: float = -1
    """Time in a call, if measured."""
    inner: list[InnerTime] = []
    """The delegate's own ops, in the order in which they run, where they were measured."""


class PartitionSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Ops outside that keep two partitions from being one."""

    before: int
    after: int
    ops: list[str]


class QuantizeOp(msgspec.Struct, frozen=True, kw_only=True):
    """A quantize or dequantize op of a quantized program."""

    name: str
    op: str
    is_folded: bool
    """Whether the backend took it into an op on integers; else values pass it as floats."""
    reason: str = ""
    place: LinePlace = LinePlace()


class CountedNodes(msgspec.Struct, frozen=True, kw_only=True):
    """The count of the backend's own tool; see `delegation.shares` for the shares of ops."""

    inside: int
    outside: int
    partitions: int


class TriedFix(msgspec.Struct, frozen=True, kw_only=True):
    """A rewrite of ops outside, lowered and compared with eager."""

    kind: str
    """`alpha`; of several together, with commas between."""
    title: str
    """The rewrite, as an order."""
    ops: list[str]
    """The ops of the program that it replaces."""
    places: list[LinePlace]
    gain: str
    """`2 fewer ops outside, 3 → 1 partitions, …`."""
    is_lossless: bool
    """Whether it keeps precision and sizes, and agrees with eager wherever it was compared."""
    agreement: str
    """At which sizes, as a sentence."""


class Delegation(msgspec.Struct, frozen=True, kw_only=True):
    """The ops of a program that a backend took."""

    backend: str
    title: str
    version: str
    is_stage: bool = False
    """Whether the Record that has it is of the lowered program, whose nodes are `ops`."""
    seconds: float = 0
    """Time that lowering took."""
    kinds: list[str] = []
    """The kinds of rewrites that may bring ops in."""
    fixes: list[TriedFix] | None = None
    """Those that gain, tried; None where none was looked for."""
    ops: list[DelegatedOp]
    partitions: list[Partition] = []
    splits: list[PartitionSplit] = []
    pairs: list[QuantizeOp] = []
    counted: CountedNodes | None = None
    call: float = -1
    """Microseconds of a call; -1 if not measured."""
    runtime: str = ""
    """The runtime whose kernels the ops outside were looked up in; empty where in none."""
    notes: list[str] = []

    @property
    def inside(self) -> list[DelegatedOp]:
        """The ops on tensors that the backend took."""
        return [op for op in self.ops if op.is_inside and op.kind == "tensor"]

    @property
    def outside(self) -> list[DelegatedOp]:
        """The ops on tensors that it left."""
        return [op for op in self.ops if not op.is_inside and op.kind == "tensor"]

    @property
    def share_of_ops(self) -> float:
        """The share of ops on tensors inside, from 0 to 1; 1 if there are none."""
        total = len(self.inside) + len(self.outside)
        return len(self.inside) / total if total else 1.0

    @property
    def share_of_flops(self) -> float:
        """The share of known FLOPs inside, from 0 to 1; the share of ops if there are none."""
        inside = sum(op.flops or 0 for op in self.inside)
        total = inside + sum(op.flops or 0 for op in self.outside)
        return inside / total if total else self.share_of_ops

    @property
    def share_of_time(self) -> float | None:
        """The share of the measured time inside, from 0 to 1; None if nothing was measured."""
        inside = sum(max(partition.microseconds, 0) for partition in self.partitions)
        total = inside + sum(max(op.microseconds, 0) for op in self.ops)
        return inside / total if total else None

    @property
    def by_op(self) -> dict[str, tuple[int, int]]:
        """How often each op is inside, and outside; most often outside first."""
        inside = Counter(op.op for op in self.inside)
        outside = Counter(op.op for op in self.outside)
        names = sorted({*inside, *outside}, key=lambda each: (-outside[each], each))
        return {name: (inside[name], outside[name]) for name in names}

    @property
    def unloadable(self) -> list[DelegatedOp]:
        """The ops for which the runtime has no kernel."""
        return [op for op in self.ops if op.missing_kernel]

    @property
    def edge_bytes(self) -> int:
        """Bytes that cross the edges of partitions."""
        return sum(partition.bytes_in + partition.bytes_out for partition in self.partitions)


class BackendAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Which ops of a program a backend can take."""

    backend: str
    title: str
    taken: list[str]
    """The nodes of ops that it takes."""
    refused: dict[str, str]
    """Per node that it does not take: why."""


class OpTable(msgspec.Struct, frozen=True, kw_only=True):
    """Ops by backend, before anything is lowered."""

    answers: list[BackendAnswer]
    calls: dict[str, list[str]]
    """Per op, `aten.add.Tensor`: the nodes that call it."""
    unavailable: dict[str, str]
    """Per backend that could not be asked: why."""

    @property
    def backends(self) -> list[str]:
        """The backends that answered."""
        return [answer.backend for answer in self.answers]
