"""Lowered → Delegation: each op with its place, cost and reason, and what the partitions are."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import msgspec
import torch

from export_engine.attempt import Exported
from export_engine.capture import descriptors_quiet
from export_engine.cost import Amount, cost_of
from export_engine.defects import log_internal_error
from export_engine.delegate.backend import DelegationBackend, Lowered, Verdict
from export_engine.delegate.kernels import find_missing_kernels
from export_engine.delegate.measuring import Times, measure_program
from export_engine.delegate.planned_sizes import find_size_bound, list_unplanned_sizes
from export_engine.delegate.rewrite_kinds import find_kinds
from export_engine.delegate.splits import find_splits
from export_engine.describe import describe
from export_engine.error_text import format_with_type
from export_engine.record import (
    DelegatedOp,
    Delegation,
    LinePlace,
    OpKind,
    Partition,
    QuantizeOp,
    Record,
)
from export_engine.run import Origins
from export_engine.source import find_last_user_frame, source_line
from export_engine.torch_internals import OpOverload, keep_sizes, size_hint
from export_engine.trace import Recording


@dataclass(frozen=True, kw_only=True)
class Delegated:
    """A delegation, and the stage that shows it."""

    delegation: Delegation
    stage: Exported | None
    """The lowered program, each partition a nested graph; None where the backend gives none."""


def delegate(
    attempt: Exported, record: Record, backend: DelegationBackend, *, measure: bool = False
) -> Delegated:
    """Lower a copy of a program, and describe what the backend took.

    Args:
        attempt: a program.
        record: its Record.
        backend: one that can be asked here; see `find_backend`.
        measure: also run the lowered program if its runtime is here, and time its ops.
    """
    started = time.perf_counter()
    with keep_sizes(attempt.program):
        lowered = backend.lower(attempt.program)
    seconds = time.perf_counter() - started
    places = find_places(record)
    if lowered.program is None:
        ops = [*_iter_placements(lowered, places, _flops_of(record))]
        delegation = Delegation(
            backend=backend.name,
            title=backend.title,
            version=lowered.version,
            seconds=seconds,
            ops=ops,
            partitions=_partitions(ops, {}, {}, None),
            notes=list(lowered.notes),
        )
        return Delegated(delegation=delegation, stage=None)
    stage = Exported(
        request=None,
        recording=Recording(),
        named_by=attempt.request,
        program=lowered.program,
        title=attempt.title or "program",
        given=backend.title,
    )
    graph = _Graph(lowered, Origins(attempt.program), places, describe(stage))
    names = {symbol.torch_name: symbol.name for symbol in record.symbols}
    ops = [_with_user_names(op, names) for op in graph.ops()]
    runtime, missing = find_missing_kernels(lowered.kernels)
    ops = [_with_kernel(op, missing) for op in ops]
    times, note = _measure(attempt, lowered) if measure else (None, "")
    if times is not None:
        ops = [_with_time(op, times) for op in ops]
    delegation = Delegation(
        backend=backend.name,
        title=backend.title,
        version=lowered.version,
        seconds=seconds,
        kinds=[
            *find_kinds(attempt.program, backend, _find_rewritable(ops)),
            *(["bound"] if find_size_bound(attempt, record, backend) else []),
        ],
        ops=ops,
        partitions=_partitions(ops, graph.edges(), graph.find_calls(), times),
        splits=find_splits(lowered),
        pairs=list(_pairs(ops)),
        counted=lowered.counted,
        call=-1 if times is None else times.call,
        runtime=runtime,
        notes=[
            *lowered.notes,
            *list_unplanned_sizes(record, backend),
            *([note] if note else []),
        ],
    )
    return Delegated(delegation=delegation, stage=stage)


def _with_user_names(op: DelegatedOp, names: Mapping[str, str]) -> DelegatedOp:
    """An op whose reason says `batch` where the backend says `s72`."""
    told = _SYMBOL.sub(lambda match: names.get(match[0], match[0]), op.reason)
    return op if told == op.reason else msgspec.structs.replace(op, reason=told)


_SYMBOL = re.compile(r"\b[su]\d+\b")


class _Graph:
    """The ops of a lowered program, of its main graph and of the nested ones."""

    def __init__(
        self, lowered: Lowered, sources: Origins, places: Mapping[str, LinePlace], record: Record
    ) -> None:
        assert lowered.program is not None
        self._lowered = lowered
        self._root = lowered.program.graph_module
        self._sources = sources
        self._places = places
        self._flops = _flops_of(record)

    def ops(self) -> Iterator[DelegatedOp]:
        """Each op once, those of partitions where they are called."""
        yield from self._ops_of(self._root, "")

    def edges(self) -> dict[str, tuple[int, int]]:
        """Bytes that each partition reads from outside, and gives."""
        result: dict[str, tuple[int, int]] = {}
        for path, module in _inner_modules(self._root, ""):
            for node in module.graph.nodes:
                name = f"{path}{node.target}" if node.op == "get_attr" else ""
                if name not in self._lowered.partitions:
                    continue
                for call in node.users:
                    read = [
                        input_node for input_node in call.all_input_nodes if input_node is not node
                    ]
                    result[name] = sum(map(self._bytes, read)), self._bytes(call)
        return result

    def find_calls(self) -> dict[str, str]:
        """The node that calls each partition of the main graph, by the partition's name."""
        return {
            str(node.target): call.name
            for node in self._root.graph.nodes
            if node.op == "get_attr" and str(node.target) in self._lowered.partitions
            for call in node.users
        }

    def _ops_of(self, module: torch.fx.GraphModule, path: str) -> Iterator[DelegatedOp]:
        for node in module.graph.nodes:
            if node.op == "get_attr":
                inner = getattr(module, str(node.target), None)
                if isinstance(inner, torch.fx.GraphModule):
                    yield from self._ops_of(inner, f"{path}{node.target}.")
            elif node.op == "call_function" and not _is_call_of_graph(node):
                yield self._op(node, path)

    def _op(self, node: torch.fx.Node, path: str) -> DelegatedOp:
        holder = path.removesuffix(".")
        within = [at for at, name in enumerate(self._lowered.partitions) if name == holder]
        partition, origin = (within[0] if within else -1), self._sources.of(node)
        verdict = Verdict(True) if within else self._verdict(node, origin)
        return DelegatedOp(
            name=node.name,
            op=_op_name(node),
            kind=_kind(node),
            partition=partition,
            graph="" if within else holder,
            reason=verdict.reason,
            by=verdict.by,
            rule=verdict.rule,
            origin=origin,
            place=self._places.get(origin, LinePlace()),
            flops=self._flops.get((path, node.name), 0),
            bytes=self._bytes(node),
        )

    def _bytes(self, node: torch.fx.Node) -> int:
        """Bytes of a node's tensors at the sizes of the example."""
        assert self._lowered.program is not None
        total = 0
        for tensor in _tensors(node):
            sizes = [size_hint(self._lowered.program, size) for size in tensor.shape]
            total += prod(size or 0 for size in sizes) * tensor.element_size()
        return total

    def _verdict(self, node: torch.fx.Node, origin: str) -> Verdict:
        verdict = self._lowered.verdicts.get(node.name, Verdict(None))
        before = self._lowered.refused_before.get(origin)
        if verdict.by == "no rule" and before is not None:
            told = f"{before.reason}; it was then decomposed, and {verdict.reason}"
            return before._replace(reason=told)
        return verdict


def _find_rewritable(ops: Sequence[DelegatedOp]) -> list[DelegatedOp]:
    """The ops of the program that a rewrite may replace."""
    return [op for op in ops if not op.is_inside and not op.graph]


def _iter_placements(
    lowered: Lowered, places: Mapping[str, LinePlace], flops: Mapping[tuple[str, str], int | None]
) -> Iterator[DelegatedOp]:
    """The ops of a backend that has no graph of torch's."""
    where = list(
        dict.fromkeys(placement.where for placement in lowered.placements if placement.where)
    )
    counted: set[str] = set()
    for placement in lowered.placements:
        verdict = (
            Verdict(True)
            if placement.where
            else lowered.verdicts.get(placement.name, Verdict(False))
        )
        first = placement.origin not in counted
        counted.add(placement.origin)
        yield DelegatedOp(
            name=placement.name,
            op=placement.op,
            partition=where.index(placement.where) if placement.where else -1,
            reason=verdict.reason,
            by=verdict.by,
            rule=verdict.rule,
            origin=placement.origin,
            place=places.get(placement.origin, LinePlace()),
            flops=flops.get(("", placement.origin), 0) if first else 0,
        )


def find_places(record: Record) -> dict[str, LinePlace]:
    """Per op of the program: its line and its module."""
    places: dict[str, LinePlace] = {}
    for graph in record.graphs:
        for node, name in enumerate(graph.name):
            frame = find_last_user_frame(record, graph.stack[node])
            scope = graph.scope[node]
            places.setdefault(
                record.strings[name],
                LinePlace(
                    file=frame.name if frame else "",
                    line=frame.line if frame else 0,
                    code=source_line(record, frame.file, frame.line).strip() if frame else "",
                    module=record.scopes[scope].path if scope >= 0 else "",
                ),
            )
    return places


def _flops_of(record: Record) -> dict[tuple[str, str], int | None]:
    """FLOPs at the sizes of the example, by the path of the graph and the node's name."""
    cost = cost_of(record)
    result: dict[tuple[str, str], int | None] = {}
    paths = {0: ""}
    for number, graph in enumerate(record.graphs):
        for inner in graph.nested:
            held = graph.args[inner.holder]
            name = record.strings[held].strip("('\")") or record.strings[graph.name[inner.holder]]
            paths[inner.graph] = f"{paths.get(number, '')}{name}."
    sizes = [symbol.example for symbol in record.symbols]
    for number in range(len(record.graphs)):
        for op in cost.ops_in(number):
            result[paths.get(number, ""), op.name] = _at(op.cost.flops, sizes)
    return result


def _at(flops: Amount | None, sizes: Sequence[int | None]) -> int | None:
    """An amount at the sizes of the example; None where it depends on one that has none."""
    if flops is None:
        return None
    unknown = {f"d{number}" for number, size in enumerate(sizes) if size is None}
    if any(unknown.intersection(factor.formula) for factor in flops.factors):
        return None
    try:
        return flops.at([-1 if size is None else size for size in sizes])
    except ArithmeticError as error:
        log_internal_error(error, "counting FLOPs")
        return None


def _with_kernel(op: DelegatedOp, missing: Mapping[str, str]) -> DelegatedOp:
    lacks = missing.get(op.name, "") if not op.is_inside else ""
    return msgspec.structs.replace(op, missing_kernel=lacks) if lacks else op


def _measure(attempt: Exported, lowered: Lowered) -> tuple[Times | None, str]:
    """The times of the lowered program at the example's inputs; else None, and why."""
    if lowered.ready is None or attempt.program.example_inputs is None:
        return None, "It was not measured: there is no program for its runtime, or no example."
    try:
        with descriptors_quiet():
            return measure_program(lowered.ready, attempt.program), ""
    except Exception as error:  # noqa: BLE001 - a runtime without a kernel, say
        log_internal_error(error, "measuring a delegated program")
        return None, f"It was not measured: {format_with_type(error)}."


def _with_time(op: DelegatedOp, times: Times) -> DelegatedOp:
    took = times.nodes.get(op.name, -1) if not op.is_inside and not op.graph else -1
    return msgspec.structs.replace(op, microseconds=took) if took >= 0 else op


def _partitions(
    ops: Sequence[DelegatedOp],
    edges: Mapping[str, tuple[int, int]],
    calls: Mapping[str, str],
    times: Times | None,
) -> list[Partition]:
    """Each partition, with what is in it."""
    names = list(edges)
    numbers = sorted({op.partition for op in ops if op.is_inside})
    partitions = []
    for number in numbers:
        own = [op for op in ops if op.partition == number and op.kind == "tensor"]
        name = names[number] if number < len(names) else ""
        read, given = edges.get(name, (0, 0))
        partitions.append(
            Partition(
                number=number,
                name=name,
                ops=len(own),
                flops=sum(op.flops or 0 for op in own),
                bytes_in=read,
                bytes_out=given,
                microseconds=-1 if times is None else times.nodes.get(calls.get(name, ""), -1),
                inner=[] if times is None else times.inner.get(calls.get(name, ""), []),
            )
        )
    return partitions


_QUANTIZING = ("quantize_", "dequantize_", "choose_qparams")


def _pairs(ops: Sequence[DelegatedOp]) -> Iterator[QuantizeOp]:
    """The quantize and dequantize ops: folded where the backend took them."""
    for op in ops:
        name = op.op.partition(".")[2]
        if name.startswith(_QUANTIZING):
            yield QuantizeOp(
                name=op.name,
                op=op.op,
                is_folded=op.is_inside,
                reason=op.reason,
                place=op.place,
            )


def _inner_modules(
    module: torch.fx.GraphModule, path: str
) -> Iterator[tuple[str, torch.fx.GraphModule]]:
    yield path, module
    for name, child in module.named_children():
        if isinstance(child, torch.fx.GraphModule):
            yield from _inner_modules(child, f"{path}{name}.")


def _is_call_of_graph(node: torch.fx.Node) -> bool:
    """Whether it runs a graph: a partition, a branch or a loop."""
    return any(
        input_node.op == "get_attr"
        and isinstance(
            getattr(input_node.graph.owning_module, str(input_node.target), None),
            torch.fx.GraphModule,
        )
        for input_node in node.all_input_nodes
    )


def _op_name(node: torch.fx.Node) -> str:
    target = node.target
    return str(target) if isinstance(target, OpOverload) else _plain_name(target)


def _plain_name(target: object) -> str:
    return str(getattr(target, "__name__", target))


def _kind(node: torch.fx.Node) -> OpKind:
    if _plain_name(node.target) == "getitem":
        return "pick"
    return "tensor" if _tensors(node) else "size"


def _tensors(node: torch.fx.Node) -> list[torch.Tensor]:
    value = node.meta.get("val")
    values = value if isinstance(value, tuple | list) else (value,)
    return [value for value in values if isinstance(value, torch.Tensor)]
