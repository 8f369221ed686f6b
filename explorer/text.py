"""An attempt as text that reads well in a terminal of 80 columns."""

from __future__ import annotations

import textwrap

from export_engine.record import Record
from export_engine.source import source_line

WIDTH = 80
_MOST = 12


def summary(record: Record) -> str:
    """What a view shows first, in words."""
    lines = [record.title or "program", f"  {record.verdict}"]
    lines += _failure(record) if record.failure else [*_signature(record), *_ranges(record)]
    if record.warnings:
        lines.append("Notes")
        lines += [f"  {_cut(warning)}" for warning in record.warnings[:_MOST]]
    return "\n".join(lines)


def _failure(record: Record) -> list[str]:
    failure = record.failure
    assert failure is not None
    lines = textwrap.wrap(failure.sentence, WIDTH - 2)
    shown = [f"  {line}" for line in lines]
    if failure.stack >= 0:
        frame = record.stacks.items[record.stacks.starts[failure.stack + 1] - 1]
        file, line = record.frames.file[frame], record.frames.line[frame]
        function = record.strings[record.frames.function[frame]]
        shown.append(f"  at {record.files[file].name}, line {line}, in {function}")
        code = source_line(record, file, line)
        if code:
            shown.append(f"      {_cut(code)}")
    return shown


def _signature(record: Record) -> list[str]:
    user = [each for each in record.signature.inputs if each.kind == "user_input"]
    held = [each for each in record.signature.inputs if each.kind != "user_input"]
    lines = ["Inputs"]
    lines += [
        _pair(each.path or each.name, each.constant or record.types[each.type].text)
        for each in user[:_MOST]
    ]
    if len(user) > _MOST:
        lines.append(f"  … {len(user) - _MOST} more")
    if held:
        size = sum(each.bytes for each in held)
        lines.append(f"  and {len(held)} held tensors, {size:,} bytes")
    lines.append("Outputs")
    for number, each in enumerate(record.signature.outputs[:_MOST]):
        name = each.target or each.path or f"output {number}"
        lines.append(_pair(name, each.constant or record.types[each.type].text))
    return lines


def _ranges(record: Record) -> list[str]:
    if not record.symbols:
        return []
    return ["Sizes", *(_pair(each.name, each.range) for each in record.symbols[:_MOST])]


def _pair(name: str, text: str) -> str:
    return _cut(f"  {name:<24} {text}")


def _cut(line: str) -> str:
    line = " ".join(line.splitlines())
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
