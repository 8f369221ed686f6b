"""Reads an ETRecord as data: of which ops and lines each instruction of a `.pte` is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import check, decode_json
from export_engine.archive.names import cut
from export_engine.archive.parts import edge_member
from export_engine.archive.strict_decoding import StrictDecoder
from export_engine.archive.zip_members import read_members
from export_engine.source import parse_stack_trace

_PROGRAM: StrictDecoder[schema.ExportedProgram] = StrictDecoder(schema.ExportedProgram)
_HANDLES = "debug_handle_map"
_Handles = dict[str, dict[str, int | list[int]]]
_NAME = re.compile(r'"name": "([^"]{1,200})"')


class LoweredOp(msgspec.Struct, frozen=True):
    """An op of the program that ExecuTorch lowered."""

    name: str
    """The node's."""
    target: str
    """`aten.add.Tensor`."""
    origin: str
    """The node of the exported program that it comes from; empty where it is not told."""
    file: str
    """The file of the user's line; empty where it has none."""
    line: int


def read_lowered_ops(path: str | os.PathLike[str], method: str) -> dict[int, list[LoweredOp]]:
    """Per instruction of a method, the ops that it computes; torch is not imported.

    Args:
        path: of an ETRecord.
        method: `forward`.

    Raises:
        ArchiveError: it is not an ETRecord, lacks the method, is damaged, or exceeds the limits.
    """
    file = Path(path)
    with read_members(file) as members:
        member = edge_member(method)
        if member not in members or _HANDLES not in members:
            raise ArchiveError(f"{file.name} is not an ETRecord with a method {cut(method)!r}.")
        text = members.read(_HANDLES, limits.CONFIG_BYTES)
        check(text, f"{file.name}, {_HANDLES}")
        program = decode_json(
            members.read(member, limits.JSON_BYTES), _PROGRAM, f"{file.name}, {member}"
        )
    try:
        handles = msgspec.json.decode(text, type=_Handles).get(method, {})
        numbers = {int(at): own if isinstance(own, list) else [own] for at, own in handles.items()}
    except (msgspec.MsgspecError, ValueError) as error:
        raise ArchiveError(
            f"{file.name} is damaged: its {_HANDLES} is not what is read."
        ) from error
    ops: dict[int, list[LoweredOp]] = {}
    for handle, op in _iter_ops(program.graph_module.graph.nodes):
        ops.setdefault(handle, []).append(op)
    return {at: [op for one in own for op in ops.get(one, [])] for at, own in numbers.items()}


def _iter_ops(nodes: list[schema.Node]) -> Iterator[tuple[int, LoweredOp]]:
    """The ops that have a debug handle."""
    for node in nodes:
        told = node.metadata.debug_handle or ""
        if not told.isdecimal():
            continue
        frames = parse_stack_trace(node.metadata.stack_trace or "")[::-1]
        own = (frame for frame in frames if "/torch/" not in frame.file.replace("\\", "/"))
        frame = next(own, frames[0] if frames else None)
        before = _NAME.findall(node.metadata.from_node or "")
        yield (
            int(told),
            LoweredOp(
                cut(node.name or ""),
                cut(node.target.partition(".ops.")[2] or node.target),
                cut(before[-1]) if before else "",
                cut(frame.file) if frame else "",
                frame.line if frame else 0,
            ),
        )
