"""Why kernels are there that a user may not expect: copies, float64, layouts, unfused ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from export_engine.record import Kernel, StageGraph, StageRemark
from export_engine.stages.printed_graph import (
    PrintedType,
    read_operands,
    read_printed_graph,
    read_printed_type,
)

_WRITE_BACK = "aten.copy_.default"
_COPIES = frozenset(
    {
        "aten.clone.default",
        "aten.copy.default",
        _WRITE_BACK,
        "aten.cat.default",
        "aten.constant_pad_nd.default",
        "aten.repeat.default",
        "aten.slice_scatter.default",
        "aten.select_scatter.default",
        "prims.rev.default",
    }
)
"""Ops that compute nothing: they only place values."""
VIEWS = frozenset(
    {
        "aten.view.default",
        "aten.reshape.default",
        "aten.permute.default",
        "aten.expand.default",
        "aten.unsqueeze.default",
        "aten.squeeze.dim",
        "aten.squeeze.dims",
        "aten.slice.Tensor",
        "aten.select.int",
        "aten.as_strided.default",
        "getitem",
        "",
    }
)
CONSTANTS = frozenset({"aten.full.default", "aten.scalar_tensor.default", "prims.iota.default"})
"""Ops that compute from no tensor: each kernel that needs one has its own."""
_LIBRARY = ("mm", "convolution", "attention", "linear", "embedding_bag", "conv", "gru", "lstm")
"""Parts of the names of ops that run in a library by intent: its code for them is the fastest."""


def find_remarks(
    graph: StageGraph,
    kernels: Sequence[Kernel],
    lines_of: Callable[[Sequence[int]], list[int]],
) -> list[StageRemark]:
    """The remarks on kernels, in the kernels' order.

    Args:
        graph: the post-grad graph.
        kernels: in the order of their calls.
        lines_of: the lines, into `Stages.lines`, of ops of the graph, by number.
    """
    reader = _Reader(graph, kernels, lines_of)
    remarks = [
        remark
        for number in range(len(kernels))
        for find in (_copies, _layouts, _float64, _remark_unfused, _remark_recomputed)
        for remark in find(reader, number)
    ]
    return list({(row.kernel, row.text, *row.lines): row for row in remarks}.values())


class _Reader:
    """The post-grad graph with what each op reads, and which kernels compute each op."""

    def __init__(
        self,
        graph: StageGraph,
        kernels: Sequence[Kernel],
        lines_of: Callable[[Sequence[int]], list[int]],
    ) -> None:
        self.graph = graph
        self.kernels = kernels
        self.lines = lines_of
        inputs = zip(graph.inputs, graph.input_types, strict=True)
        types = {**dict(inputs), **dict(zip(graph.ops, graph.types, strict=True))}
        self._types = {name: read_printed_type(text) for name, text in types.items()}
        numbers = {name: number for number, name in enumerate(graph.ops)}
        self.read_names = [
            read_operands(op.expression, types) for op in read_printed_graph(graph.text)
        ]
        self.reads = [[numbers[n] for n in names if n in numbers] for names in self.read_names]
        self.users: dict[int, list[int]] = {}
        for op, reads in enumerate(self.reads):
            for read in reads:
                self.users.setdefault(read, []).append(op)
        self.in_kernels: dict[int, list[int]] = {}
        for number, kernel in enumerate(kernels):
            for op_number in kernel.ops:
                self.in_kernels.setdefault(op_number, []).append(number)

    def type_of(self, op: int) -> PrintedType | None:
        """The type of an op's value."""
        return self._types[self.graph.ops[op]]

    def types_read(self, op: int) -> list[PrintedType]:
        """The types of the tensors that an op reads."""
        printed_types = [self._types[name] for name in self.read_names[op]]
        return [printed_type for printed_type in printed_types if printed_type is not None]

    def label(self, op: int) -> str:
        """`sort`: what an op calls, in a word."""
        return self.graph.targets[op].split(".")[:2][-1]

    def select_fused(self, ops: Sequence[int]) -> list[int]:
        """Those of the ops that generated code computes."""
        kinds = self.kernels
        return [
            op for op in ops if any(kinds[k].kind == "fused" for k in self.in_kernels.get(op, []))
        ]

    def through_views(self, op: int, step: Callable[[int], Sequence[int]]) -> list[int]:
        """The next ops in one direction, past views."""
        numbers, waiting = list[int](), list(step(op))
        while waiting:
            number = waiting.pop()
            if self.graph.targets[number] in VIEWS:
                waiting += step(number)
            else:
                numbers.append(number)
        return numbers


def _copies(reader: _Reader, number: int) -> Iterator[StageRemark]:
    kernel, targets = reader.kernels[number], reader.graph.targets
    if kernel.kind != "fused":
        return
    moved = set(_other_layouts(reader, kernel.ops))
    ops = [op for op in kernel.ops if targets[op] not in VIEWS]
    copies = [
        op
        for op in ops
        if targets[op] in _COPIES and op not in moved and number == reader.in_kernels[op][0]
    ]
    alone = len(copies) == len(ops)
    for op in copies:
        rest = ", and this kernel does nothing else" if alone else ""
        if targets[op] == _WRITE_BACK:  # with the op whose result it writes, it is that op's store
            text = f"`{reader.label(op)}` writes changed values back into an input or buffer{rest}."
        else:
            text = f"`{reader.label(op)}` copies its input into new memory{rest}."
        if alone or (targets[op] != _WRITE_BACK and _is_stored(reader, op, number)):
            yield StageRemark(number, "copy", text, reader.lines([op]))


def _is_stored(reader: _Reader, op: int, number: int) -> bool:
    """Whether an op's value is read outside of the kernel that computes it."""
    users = reader.through_views(op, lambda n: reader.users.get(n, []))
    return not users or any(number not in reader.in_kernels.get(user, []) for user in users)


def _layouts(reader: _Reader, number: int) -> Iterator[StageRemark]:
    kernel = reader.kernels[number]
    if kernel.kind != "fused":
        return
    for op in _other_layouts(reader, kernel.ops):
        before, after = reader.types_read(op)[0], reader.type_of(op)
        assert after is not None
        text = (
            f"`{reader.label(op)}` writes its input in a different layout: strides "
            f"[{', '.join(before.stride)}] become [{', '.join(after.stride)}]."
        )
        yield StageRemark(number, "layout", text, reader.lines([op]))
    for op in kernel.ops:
        called = [k for k in reader.in_kernels[op] if reader.kernels[k].kind == "extern"]
        if called:
            text = (
                f"This kernel copies inputs of `{reader.label(op)}` into the layout that "
                f"{reader.kernels[called[0]].name} expects."
            )
            yield StageRemark(number, "layout", text, reader.lines([op]))


def _other_layouts(reader: _Reader, ops: Sequence[int]) -> list[int]:
    """The ops that write what they read in another order of strides."""
    return [
        op for op in ops if reader.graph.targets[op] == "aten.clone.default" and _moves(reader, op)
    ]


def _moves(reader: _Reader, op: int) -> bool:
    read, printed_type = reader.types_read(op)[:1], reader.type_of(op)
    if not read or printed_type is None or read[0].shape != printed_type.shape:
        return False
    if "0" in read[0].stride:  # what was expanded is copied
        return False
    return _order(read[0]) != _order(printed_type)


def _order(value: PrintedType) -> list[int] | tuple[str, ...]:
    """The dims by their strides; the strides themselves where they are symbolic."""
    if not all(text.isdigit() for text in value.stride):
        return value.stride
    dims = [n for n in range(len(value.stride)) if value.shape[n] != "1"]
    return sorted(dims, key=lambda n: (-int(value.stride[n]), n))


def _float64(reader: _Reader, number: int) -> Iterator[StageRemark]:
    for op in reader.kernels[number].ops:
        printed_type = reader.type_of(op)
        if (
            printed_type is None
            or printed_type.dtype != "f64"
            or number != reader.in_kernels[op][0]
        ):
            continue
        if not any(printed_type.dtype == "f64" for printed_type in reader.types_read(op)):
            text = f"From `{reader.label(op)}` on, values are float64: twice the bytes of float32."
            yield StageRemark(number, "float64", text, reader.lines([op]))


def _remark_unfused(reader: _Reader, number: int) -> Iterator[StageRemark]:
    kernel = reader.kernels[number]
    if kernel.kind != "extern" or any(part in kernel.calls for part in _LIBRARY):
        return
    for op in kernel.ops:
        before = reader.select_fused(reader.through_views(op, lambda n: reader.reads[n]))
        users = reader.through_views(op, lambda n: reader.users.get(n, []))
        if before and reader.select_fused(users):
            text = (
                f"`{kernel.calls}` runs as its own call: Inductor generates no code for it here, "
                f"so `{reader.label(before[0])}` before and "
                f"`{reader.label(reader.select_fused(users)[0])}` after it are not fused."
            )
            yield StageRemark(number, "fusion", text, reader.lines([op]))


def _remark_recomputed(reader: _Reader, number: int) -> Iterator[StageRemark]:
    kernel = reader.kernels[number]
    for op in kernel.ops:
        others = reader.in_kernels[op]
        target = reader.graph.targets[op]
        if number != others[0] or len(others) < 2 or target in VIEWS:
            continue
        # the kernels of these are the parts of a subgraph, and of what is written in parts
        if target.startswith("higher_order.") or target in _COPIES | CONSTANTS:
            continue
        if all(reader.kernels[other].kind == "fused" for other in others):
            text = f"`{reader.label(op)}` is computed again in {len(others) - 1} other kernels."
            text = text.replace("1 other kernels", "1 other kernel")
            yield StageRemark(number, "recomputed", text, reader.lines([op]))
