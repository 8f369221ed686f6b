"""Archives of many programs, members that share their bytes, and texts that are slow to read."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from .programs import changed, dumped, nodes, put, sizes
from .zips import DEFLATED, Entry, packed, written

Parts = dict[str, bytes]

SHIFTS = (
    "LShift(1, 10000000000)",
    "LShift(s77, LShift(1, 62))",
    "RShift(s77, -1)",
    "RoundDecimal(s77, 10000000000)",
    "PowByNatural(s77, 10000000000)",
    "PowByNatural(PowByNatural(s77, 60), 60)",
    "FloatPow(10.0, 100000)",
    "IntTrueDiv(1, 0)",
    "CeilDiv(s77, 0)",
    "PythonMod(s77, 0)",
    "CleanDiv(s77, 0)",
    "ModularIndexing(s77, 0, 0)",
    "TruncToInt(1e308*1e308)",
    "FloorToInt(oo)",
    "ToFloat(" * 3_000 + "s77" + ")" * 3_000,
    "OpaqueUnaryFn_sqrt(-1)",
    "OpaqueUnaryFn_log(0)",
    "Min(" * 60 + "s77" + ", 1)" * 60,
    "Mod(" * 300 + "s77" + ", 7)" * 300,
    "s77 if True else 1",
    "s77 := 3",
    "٣",
    "1_000_000",
    "0o17",
    "1j",
    "s77!r",
)
"""Sizes whose value, or whose error, is more than their text."""


def inventions(parts: Parts) -> Iterator[tuple[str, bytes | Callable[[], bytes]]]:
    """Archives, or what makes them, each with what is wrong with it.

    Args:
        parts: the members of a harmless one, below their root.
    """
    program = json.loads(parts["models/model.json"])
    for what, document in _programs(program):
        yield f"invented: {what}", partial(_with_program, parts, document)
    for what, data in _archives(parts, program):
        yield f"invented: {what}", data


def _archive(parts: Parts) -> bytes:
    return packed({f"m/{name}": data for name, data in parts.items()})


def _with_program(parts: Parts, document: Any) -> bytes:
    return _archive({**parts, "models/model.json": dumped(document)})


def _programs(program: Any) -> Iterator[tuple[str, Any]]:
    for text in SHIFTS:

        def size(it: Any, text: str = text) -> None:
            for each in sizes(it):
                each["expr_str"] = text

        yield f"size {text[:30]}", changed(program, size)
        yield f"guard {text[:30]}", {**program, "guards_code": [f"{text} >= 2"] * 3}
    traces = {
        "frames": "".join(f'  File "/a/{n}.py", line {n}, in f{n}\n    x\n' for n in range(5_000)),
        "files": '  File "' * 20_000,
        "spaces": '  File "' + " " * 300_000,
        "lines": "\n" * 300_000,
        "quotes": '"' * 300_000,
        "a line of a billion": '  File "/a.py", line 9999999999999999999999, in f\n    x\n',
        "a line before the first": '  File "/a.py", line -7, in f\n    x\n',
    }
    for what, text in traces.items():

        def trace(it: Any, text: str = text) -> None:
            for node in nodes(it):
                node["metadata"]["stack_trace"] = text

        yield f"trace of {what}", changed(program, trace)
    modules = {
        "deep": f"k,{'a.' * 20_000}a,torch.nn.Linear",
        "many": ";".join(f"k{n},m{n},torch.nn.Linear" for n in range(20_000)),
        "separators": ";,;," * 100_000,
        "one that is in itself": "a,x,C;b,x.x,C;c,x,C;d,x.x,C",
        "brackets": "(" * 100_000,
    }
    for what, text in modules.items():

        def stack(it: Any, text: str = text) -> None:
            for node in nodes(it):
                node["metadata"]["nn_module_stack"] = text

        yield f"module stack {what}", changed(program, stack)

    def noted(it: Any) -> None:
        for node in nodes(it):
            node["metadata"].update({f"k{n}": "v" * 50 for n in range(5_000)})

    yield "metadata without end", changed(program, noted)
    for field in ("storage_offset", "strides"):
        for value in (2**63, -(2**63), "9" * 5_000):
            number: Any = {"as_int": value}
            held = number if field == "storage_offset" else [number] * 3
            path = ("graph_module", "graph", "tensor_values", "x", field)
            yield f"{field} {str(value)[:9]}", changed(program, lambda it: put(it, path, held))  # noqa: B023


def _archives(parts: Parts, program: Any) -> Iterator[tuple[str, bytes]]:
    model = parts["models/model.json"]
    for count, data in ((900, model), (20_000, b"{}")):
        many = {f"models/m{number}.json": data for number in range(count)}
        yield f"{count} programs", _archive({**parts, **many})
    yield "programs whose names differ in case", _archive({**parts, "models/MODEL.json": model})
    yield "a program within a program", _archive({**parts, "models/model.json": _archive(parts)})
    yield "two roots", packed({f"{root}/{n}": data for root in "ab" for n, data in parts.items()})
    for name, value in {
        "archive_format": b"pt3",
        "archive_version": b"9" * 5_000,
        "version": b"-1",
        "byteorder": b"middle",
        ".format_version": b"\xff" * 100,
        "models/model.json.py": b"import os",
        "__init__.py": b"import os",
        "conftest.py": b"import os",
        "sitecustomize.py": b"import os",
    }.items():
        yield f"member {name}", _archive({**parts, name: value})
    big = json.dumps(program).encode() + b" " * (16 * 2**20)
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    small = raw.compress(big) + raw.flush()
    checksum = zlib.crc32(big)
    shared = [
        Entry(
            f"m/models/m{number}.json",
            b"",
            DEFLATED,
            b"" if number else small,
            says_size=len(big),
            says_packed=len(small),
            says_crc=checksum,
            says_offset=0,
        )
        for number in range(1_000)
    ]
    yield "a thousand programs of the same bytes", written(shared)
    yield (
        "bytes whose length stands behind them",
        written([Entry(f"m/{name}", data, flags=8) for name, data in parts.items()]),
    )
    whole = _archive(parts)
    at = whole.rindex(b"PK\5\6")
    for what, place in (("offset", 16), ("length", 12), ("disk", 4)):
        lying = bytearray(whole)
        struct.pack_into("<H", lying, at + place, 7)
        yield f"an end that lies about its {what}", bytes(lying)
    yield "ends without end", whole + whole[at:] * 20_000
    yield "a page before it", b"<html><script>alert(1)</script>" + whole
