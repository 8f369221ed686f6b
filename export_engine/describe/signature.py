"""The graph signature: every input and output of the flat program, and where its symbols are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from export_engine.describe.source import Entry, ProgramSource
from export_engine.describe.value_table import Values
from export_engine.record import Graph, InputEntry, OutputEntry, Place, Signature

_LONGEST = 1_000
"""Characters of a constant that are shown."""


def describe_signature(source: ProgramSource, graph: Graph, values: Values) -> Signature:
    """The signature of a program.

    Args:
        source: the program.
        graph: its main graph, described.
        values: the Record's value types.
    """
    paths, results = iter(source.input_paths), iter(source.output_paths)
    return Signature(
        [
            InputEntry(
                **_describe_entry(entry, graph, values),
                path=next(paths, entry.name) if entry.kind == "user_input" else "",
                keyword=entry.keyword,
                persistent=entry.persistent if entry.kind == "buffer" else None,
                bytes=entry.bytes,
            )
            for entry in source.inputs
        ],
        [
            OutputEntry(
                **_describe_entry(output, graph, values),
                path=next(results, "") if output.kind == "user_output" else "",
            )
            for output in source.outputs
        ],
        *map(_describe_containers, source.trees),
    )


class TreeSpec(msgspec.Struct):
    """A container or a leaf of a pytree in torch's JSON."""

    type: str | None
    context: Any = None
    children_spec: list[TreeSpec] = []


_TREE = msgspec.json.Decoder(tuple[int, TreeSpec])


def _describe_containers(tree: str) -> str:
    """The containers of a pytree spec: `tuple(list(*, *), *)`; empty if they are not known."""
    try:
        return _write_spec(_TREE.decode(tree)[1]) if tree else ""
    except (msgspec.MsgspecError, RecursionError):
        return ""


def _write_spec(spec: TreeSpec) -> str:
    if spec.type is None:
        return "*"
    name = spec.type.rpartition(".")[2].removeprefix("immutable_")
    keys = " with lists as keys" if _has_lists_as_keys(spec) else ""
    return f"{name}{keys}({', '.join(map(_write_spec, spec.children_spec))})"


def _has_lists_as_keys(spec: TreeSpec) -> bool:
    """Whether it is a dict that nobody can make: its keys were tuples before it was saved."""
    keys = spec.context
    if not str(spec.type).lower().endswith("dict"):
        return False
    if isinstance(keys, dict):
        keys = keys.get("dict_context")
    elif isinstance(keys, str):
        try:
            keys = msgspec.json.decode(keys)
        except msgspec.DecodeError:
            return False
    return isinstance(keys, list) and any(isinstance(key, list) for key in keys)


def _describe_entry(entry: Entry, graph: Graph, values: Values) -> dict[str, Any]:
    """The fields that an input and an output share."""
    constant = repr(entry.value) if entry.is_constant else None
    if constant is not None and len(constant) > _LONGEST:
        constant = constant[: _LONGEST - 1] + "…"
    function = values.constant if entry.is_constant else values.number
    return {
        "kind": entry.kind,
        "name": entry.name,
        "node": entry.node,
        "type": graph.type[entry.node] if entry.node >= 0 else function(entry.value),
        "target": entry.target,
        "constant": constant,
    }


def symbol_places(signature: Signature, values: Values) -> Iterator[Place]:
    """Every symbolic dim of a user input or an output."""
    for number, entry in enumerate(signature.inputs):
        if entry.kind == "user_input":
            yield from _dims("input", number, entry.path or entry.name, entry.type, values)
    for number, output in enumerate(signature.outputs):
        shown = f"output {output.path or number}"
        yield from _dims("output", number, shown, output.type, values)


def _dims(
    io: Literal["input", "output"],
    number: int,
    shown: str,
    type_number: int,
    values: Values,
) -> Iterator[Place]:
    kind = values.entry(type_number).kind
    for dim, size in enumerate(values.sizes(type_number)):
        if isinstance(size, str):
            if kind == "tensor":
                yield Place(io, number, dim, f"{shown}.shape[{dim}]", size)
            else:
                yield Place(io, number, -1, shown, size)
