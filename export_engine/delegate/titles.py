"""Titles of a delegated stage's partitions: by the backend and the ops that it runs there."""

from __future__ import annotations

import msgspec

from export_engine.record import Delegation, Partition, Record, Target

_NAMED = 2
"""Ops that a title names."""


def title_partitions(record: Record, delegation: Delegation) -> Record:
    """The Record of a delegated stage, in which each call of a partition says what it runs.

    Args:
        record: of the lowered program.
        delegation: whose stage it is.
    """
    partitions = {
        partition.name.rpartition(".")[2]: partition for partition in delegation.partitions
    }
    targets, graphs = list(record.targets), []
    for graph in record.graphs:
        column = graph.target[:]
        for nested in graph.nested:
            name = record.strings[graph.name[nested.holder]] if nested.holder >= 0 else ""
            partition = partitions.get(name)
            if partition is not None and column[nested.node] >= 0:
                target: Target = targets[column[nested.node]]
                label = _title(delegation, partition)
                column[nested.node] = len(targets)
                targets.append(msgspec.structs.replace(target, label=label))
        graphs.append(msgspec.structs.replace(graph, target=column))
    return msgspec.structs.replace(record, targets=targets, graphs=graphs)


def _title(delegation: Delegation, partition: Partition) -> str:
    """`XNNPACK 0: conv2d, relu, 3 more`."""
    kinds = dict.fromkeys(
        op.op.split(".")[1 if "." in op.op else 0]
        for op in delegation.ops
        if op.partition == partition.number and op.kind == "tensor"
    )
    named = list(kinds)[:_NAMED]
    more = partition.ops - len(named)
    text = ", ".join([*named, *([f"{more} more"] if more > 0 else [])])
    return f"{delegation.title} {partition.number}: {text}"
