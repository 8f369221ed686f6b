"""Writes into the inputs and into the constants of a program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.record_ops import Memory, Op, calls
from export_engine.record import InputEntry, Record, find_written_arguments, may_write

if TYPE_CHECKING:
    from export_engine.attempt import Exported


def check_writes(record: Record, _: Exported | None) -> Iterator[Finding]:
    """One finding per input or constant that an op writes to, itself or through views of it."""
    entries = {entry.node: entry for entry in record.signature.inputs if entry.node >= 0}
    for node, op in placeholders_written(record).items():
        entry = entries.get(node)
        if entry is not None and entry.kind == "constant_tensor":
            yield _constant(entry, op)
    for path, place in inputs_written(record).items():
        yield _input(path, place)


def inputs_written(record: Record) -> dict[str, Op | None]:
    """Per path of an input that the program writes to, the first op that does, if one is seen."""
    entries = [entry for entry in record.signature.inputs if entry.kind == "user_input"]
    paths = {entry.node: entry.path or entry.name for entry in entries if entry.node >= 0}
    by_name = {entry.name: entry.path or entry.name for entry in entries}
    written: dict[str, Op | None] = {}
    for node, op in _iter_written_inputs(record):
        if node in paths:
            written.setdefault(paths[node], op)
    for output in record.signature.outputs:
        if output.kind == "user_input_mutation" and output.target in by_name:
            written.setdefault(by_name[output.target], None)
    return written


def state_written(record: Record) -> tuple[str, ...]:
    """The buffers, parameters and constants that the program writes to, by their names in it."""
    held = [entry for entry in record.signature.inputs if entry.kind != "user_input"]
    written = placeholders_written(record)
    names = {entry.target: entry.target for entry in held} | {
        entry.name: entry.target for entry in held
    }
    outputs = [
        names[output.target]
        for output in record.signature.outputs
        if output.kind in ("buffer_mutation", "parameter_mutation") and output.target in names
    ]
    by_op = [entry.target for entry in held if entry.node in written and entry.target]
    return tuple(dict.fromkeys([*by_op, *outputs]))


def placeholders_written(record: Record) -> dict[int, Op]:
    """Per input of the main graph that an op writes to, itself or through views, the first op."""
    first: dict[int, Op] = {}
    for node, op in _iter_written_inputs(record):
        first.setdefault(node, op)
    return first


def _iter_written_inputs(record: Record) -> Iterator[tuple[int, Op]]:
    """The inputs of the main graph that ops write to, with those ops."""
    memory = Memory(record)
    for op in calls(record, lambda target: may_write(target.name, target.schema)):
        for name in find_written_arguments(op.name, op.target.schema, op.argument):
            for node in op.reads(name):
                written = memory.placeholder(op.graph, node)
                if written >= 0:
                    yield written, op


def _constant(entry: InputEntry, op: Op) -> Finding:
    return Finding(
        kind=Kind.WRITTEN_CONSTANT,
        severity="wrong",
        sentence=rules.WrittenConstant.SENTENCE(target=entry.target),
        why=rules.WrittenConstant.WHY(),
        stack=op.stack,
        node=op.position,
    )


def _input(path: str, op: Op | None) -> Finding:
    return Finding(
        kind=Kind.WRITTEN_INPUT,
        severity="surprising",
        sentence=rules.WrittenInput.SENTENCE(path=path),
        why=rules.WrittenInput.WHY(),
        stack=op.stack if op is not None else (),
        node=op.position if op is not None else -1,
    )
