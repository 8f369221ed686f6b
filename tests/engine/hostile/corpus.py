"""The corpus: hostile archives by name, each made of one of two harmless ones."""

from __future__ import annotations

import io
import itertools
import json
import os
import pickle
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from . import programs, texts
from .inventions import inventions
from .lies import huge_programs, lying_programs
from .programs import changed, dumped, mutated, put
from .zips import DEFLATED, Entry, packed, parts_of, written

Made = Iterator[tuple[str, bytes | Callable[[], bytes]]]
"""What is wrong with an archive, and the archive, or what makes it: most runs take a part."""

MODEL = "models/model.json"
WEIGHTS = "data/weights/model_weights_config.json"
CONSTANTS = "data/constants/model_constants_config.json"
INPUTS = "data/sample_inputs/model.pt"
RECORD = "extra/export_explorer/record.json"


def corpus(plain: bytes, explored: bytes, here: str) -> Made:
    """All hostile archives.

    Args:
        plain: an archive that torch wrote.
        explored: one that Export Explorer wrote, with a Record in it.
        here: a file outside of the archive that nobody may read.
    """
    base = Base(plain)
    program = json.loads(base.parts[MODEL])
    for what, document in programs.hostile_programs(program):
        yield f"program: {what}", base.late(MODEL, document, here)
    for what, document in mutated(program, 1, 1):
        yield f"program: {what}", base.late(MODEL, document)
    for what, data in lying_programs(program):
        yield f"lie: {what}", base.late(MODEL, data)
    for what, document in huge_programs(program):
        yield what, base.late(MODEL, document)
    weights = json.loads(base.parts[WEIGHTS])
    for what, document in programs.hostile_weights(weights):
        yield f"weights: {what}", base.late(WEIGHTS, document)
    for name in (MODEL, WEIGHTS, CONSTANTS):
        for what, data in broken_json(base.parts[name]):
            yield f"{name}: {what}", partial(base.with_part, name, data)
    yield from pickles(base)
    yield from libraries(base)
    yield from zip_tricks(base)
    yield from damaged(plain)
    yield from inventions(base.parts)
    own = Base(explored)
    record = json.loads(own.parts[RECORD])
    for what, document in hostile_records(record, here):
        yield f"Record: {what}", own.late(RECORD, document)
    for what, document in mutated(record, 2, 1):
        yield f"Record: {what}", own.late(RECORD, document)
    for what, data in broken_json(own.parts[RECORD]):
        yield f"Record: {what}", partial(own.with_part, RECORD, data)


HERE = b"{here}"


def _json(text: str) -> bytes:
    return json.dumps(text)[1:-1].encode()


class Base:
    """A harmless archive, to be changed."""

    def __init__(self, data: bytes) -> None:
        found = parts_of(data)
        self.root = next(iter(found)).split("/")[0]
        self.parts = {name.partition("/")[2]: content for name, content in found.items()}

    def with_part(self, name: str, content: bytes) -> bytes:
        """The archive with one member changed, or another more."""
        return packed({f"{self.root}/{each}": data for each, data in self.all(name, content)})

    def late(self, name: str, document: Any, here: str = "") -> Callable[[], bytes]:
        """What makes the archive with a document as one member.

        Args:
            name: of the member.
            document: what JSON holds, or what makes that or its bytes.
            here: what stands for `HERE`.
        """

        def make() -> bytes:
            made = document() if callable(document) else document
            data = made if isinstance(made, bytes) else dumped(made)
            return self.with_part(name, data.replace(HERE, _json(here)) if here else data)

        return make

    def all(self, name: str, content: bytes) -> list[tuple[str, bytes]]:
        """Its members, one of them changed."""
        return list({**self.parts, name: content}.items())

    def entries(self, *without: str) -> list[Entry]:
        """Its members, to be written by hand."""
        return [
            Entry(f"{self.root}/{name}", data)
            for name, data in self.parts.items()
            if name not in without
        ]


def broken_json(data: bytes) -> Iterator[tuple[str, bytes]]:
    """A document that is none, or none that can be read in any time."""
    yield "empty", b""
    yield "cut off", data[: len(data) // 2]
    yield "no text", b"\xff\xfe" + data
    yield "a mark before", b"\xef\xbb\xbf" + data
    yield "two documents", data + data
    yield "comments", b"/* */" + data
    yield "NUL behind", data + b"\0" * 1000
    for name, opening in (("list", b"["), ("object", b'{"a":'), ("list in object", b'{"a":[')):
        yield f"{name}s in {name}s", opening * 200_000
        yield f"{name}s in {name}s that end", opening * 300 + b"1" + _closing(opening) * 300
    yield "many values", b"[" + b"1," * 2_000_000 + b"1]"
    yield "a long number", b"9" * 3_000_000
    yield "a small number", b"1e-" + b"9" * 1_000_000
    yield "a long text", b'"' + b"a" * 8_000_000 + b'"'
    yield "escapes", b'"' + b"\\u0041" * 1_000_000 + b'"'
    yield "half a pair", b'{"graph_module": "\\ud800"}'
    yield "the same key twice", data[:-1] + b',"graph_module": {}, "graph_module": 1}'
    yield "many keys", b"{" + b",".join(b'"k%d":1' % n for n in range(200_000)) + b"}"
    yield "not a number", b'{"graph_module": NaN}'
    yield "spaces", b" " * 8_000_000 + data
    yield "quotes", b'"' * 500_000
    yield "backslashes", b'"' + b"\\" * 500_001 + b'"'


def _closing(opening: bytes) -> bytes:
    ends = {b"[": b"]", b"{": b"}"}
    return b"".join(ends[bytes([each])] for each in reversed(opening) if bytes([each]) in ends)


class Runs:
    """Unpickled, it makes a folder."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (texts.RAN,)


def pickles(base: Base) -> Made:
    """Pickles that run code, in every place from which somebody may unpickle."""
    bare = pickle.dumps(Runs())
    saved = packed(
        {
            "archive/data.pkl": bare,
            "archive/version": b"3\n",
            "archive/byteorder": b"little",
        }
    )
    older = b"cposix\nmkdir\n(S'" + texts.RAN.encode() + b"'\ntR."
    bomb = b"\x80\x02]" + b"q\x00" + b"h\x00a" * 100_000 + b"."
    pieces = {"bare": bare, "saved by torch": saved, "of protocol 0": older, "a bomb": bomb}
    places = [
        *base.parts,
        "data/weights/model.pt",
        "data/constants/model.pt",
        "data/constants/custom_obj_0",
        "data/constants/opaque_obj_0",
        "data/weights/weight_99",
        "data.pkl",
        "constants.pkl",
        RECORD,
    ]
    for what, data in pieces.items():
        for place in places:
            yield f"pickle {what}: {place}", base.with_part(place, data)
        yield f"pickle {what} alone", data
        yield (
            f"pickle {what}, before 2.8",
            packed(
                {
                    "version": b"8.20",
                    "serialized_exported_program.json": base.parts[MODEL],
                    "serialized_state_dict.pt": data,
                    "serialized_constants.pt": data,
                    "serialized_example_inputs.pt": data,
                }
            ),
        )
    for kind in ("custom_obj_0", "opaque_obj_0", "tensor_0"):
        declared = {"path_name": kind, "is_param": False, "use_pickle": True, "tensor_meta": None}
        parts = {
            **base.parts,
            CONSTANTS: dumped({"config": {"it": declared}}),
            f"data/constants/{kind}": bare,
        }
        yield (
            f"a pickle that is declared: {kind}",
            packed({f"m/{name}": data for name, data in parts.items()}),
        )


def libraries(base: Base) -> Made:
    """Compiled code, in places that somebody may load it from."""
    library = b"\x7fELF" + b"\0" * 100
    for place in (
        "data/aotinductor/model/it.so",
        "data/aotinductor/a/b/it.so",
        "data/aotinductor/model/it.wrapper.so",
        "data//aotinductor/model/it.so",
        "data/./aotinductor/model/it.so",
        "data\\aotinductor\\model\\it.so",
        "m/data/aotinductor/model/it.so",
        "data/aotinductor/it.so",
        "DATA/AOTINDUCTOR/model/it.so",
        "data/aotinductor/model/it.pyd",
        "data/aotinductor/\x1b[31m/it.so",
        f"data/aotinductor/{texts.MARKUP}/it.so",
        "data/executorch/model.pte",
        "extra/../data/aotinductor/model/it.so",
    ):
        yield f"library: {place!r}", base.with_part(place, library)
    yield "a library alone", packed({"m/data/aotinductor/model/it.so": library})


def zip_tricks(base: Base) -> Made:
    """Zip files that are not what they say."""
    for name in (
        "../outside.txt",
        "../../../../tmp/outside.txt",
        "/tmp/outside.txt",
        "//host/share/x",
        "C:\\outside.txt",
        "..\\outside.txt",
        "a/../../outside.txt",
        "m/models/../../x.json",
        "m/\0/models/x.json",
        "m/models/\x1b[31m.json",
        f"m/models/{texts.MARKUP}.json",
        "m/models/" + "x" * 60_000 + ".json",
        "m/models/.json",
        "m/models/a/b/c/d.json",
        "m/" + "d/" * 20_000 + "x",
        "con",
        "m/models/\u202e.json",
    ):
        yield f"member {name[:40]!r}", written([*base.entries(), Entry(name, b"x")])
        yield (
            f"programs at {name[:40]!r}",
            written([*base.entries(MODEL), Entry(name, base.parts[MODEL])]),
        )
    model = f"{base.root}/{MODEL}"
    for mode, what in ((0o120777, "link"), (0o060666, "device"), (0o010666, "pipe")):
        yield f"a {what}", written([*base.entries(MODEL), Entry(model, b"/etc/passwd", mode=mode)])
        yield f"a {what} more", written([*base.entries(), Entry("m/l", b"/etc/passwd", mode=mode)])
    for name in (MODEL, WEIGHTS, RECORD):
        other = Entry(f"{base.root}/{name}", b"{}")
        yield f"twice {name}", written([*base.entries(), other, other])
        yield f"twice {name}, first", written([other, *base.entries()])
    yield (
        "another name inside",
        written([*base.entries(MODEL), Entry(model, base.parts[MODEL], local_name=b"/etc/passwd")]),
    )
    yield from _lying(base, model)
    yield from _bombs(base, model)
    everything = written(base.entries())
    yield "bytes before", b"#!/bin/sh\nid\n" * 1000 + everything
    yield "a zip in a comment", written(base.entries(), comment=everything[-20_000:])
    yield "two zips", everything + everything
    yield "nothing but an end", written([])
    yield "a member", written([Entry("x", b"x")])
    yield "many members", lambda: written(Entry(f"m/{n}", b"") for n in range(60_000))
    yield "more members than there are", written(base.entries(), count=65_000)
    yield "fewer members than there are", written(base.entries(), count=1)
    yield "end of 64 bits", _zip64(everything)
    for extra in (
        b"\x01\x00\x18\x00" + b"\xff" * 24,
        b"\x01\x00\xff\xff",
        b"\x75\x70\x05\x00aaaaa",
    ):
        yield (
            f"extra {extra[:4]!r}",
            written([*base.entries(MODEL), Entry(model, base.parts[MODEL], extra=extra)]),
        )
    yield "names that are no text", written([*base.entries(), Entry(b"m/\xff\xfe\x80", b"x")])


def _lying(base: Base, model: str) -> Made:
    content = base.parts[MODEL]
    rest = base.entries(MODEL)
    lies: tuple[dict[str, Any], ...] = (
        {"says_size": 2**32 - 1},
        {"says_size": 2**31},
        {"says_size": 0},
        {"says_size": 10},
        {"says_packed": 2**32 - 1},
        {"says_packed": 0},
        {"says_packed": 10},
        {"says_crc": 1},
        {"says_offset": 0},
        {"says_offset": 2**32 - 1},
        {"says_offset": 10},
        {"flags": 1},
        {"flags": 0x40},
        {"flags": 0x2000},
        {"method": 1},
        {"method": 12},
        {"method": 14},
        {"method": 93},
        {"method": 99},
        {"method": DEFLATED, "packed": content},
        {"method": DEFLATED, "packed": b"\xff" * 1000},
        {"method": DEFLATED, "packed": b""},
    )
    for lie in lies:
        shown = ", ".join(f"{key} {str(value)[:12]}" for key, value in lie.items())
        yield f"a member whose {shown}", written([*rest, Entry(model, content, **lie)])
    yield (
        "overlapping members",
        written(
            [
                *rest,
                Entry(model, content),
                *(Entry(f"m/{n}", b"", says_offset=0, says_size=2**20) for n in range(500)),
            ]
        ),
    )


def _bombs(base: Base, model: str) -> Made:
    size = 150 * 2**20
    zeros = _deflated(b"\0", size)
    spaces = _deflated(b" ", size)
    for name in (MODEL, WEIGHTS, CONSTANTS, INPUTS, RECORD, "data/weights/weight_0", "version"):
        for what, data in (("zeros", zeros), ("spaces", spaces)):
            for says in (size, 100):
                bomb = Entry(f"{base.root}/{name}", b"", DEFLATED, data, says_size=says, says_crc=0)
                yield f"a bomb of {what}, {says}: {name}", written([*base.entries(name), bomb])
    text = b'{"a":' + b"[" * 2**21 + b"]" * 2**21 + b"}"
    yield "brackets, packed", written([*base.entries(MODEL), Entry(model, text, DEFLATED)])


def _deflated(byte: bytes, size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = byte * 2**20
    data = b"".join(packer.compress(piece) for _ in range(size // 2**20))
    return data + packer.flush()


def _zip64(data: bytes) -> bytes:
    """Another end, which says that there is far more."""
    at = data.rindex(b"PK\5\6")
    end64 = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 2**62, 2**62, 2**62, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    told = data[at : at + 8] + b"\xff" * 12 + data[at + 20 :]
    return data[:at] + end64 + locator + told


def damaged(plain: bytes) -> Made:
    """Bytes changed and cut off by chance."""
    numbers = random.Random(3)
    for number in range(40):
        data = bytearray(plain)
        for _ in range(numbers.choice((1, 4, 64))):
            data[numbers.randrange(len(data))] = numbers.randrange(256)
        yield f"flipped {number}", bytes(data)
    for number in range(20):
        yield f"cut off {number}", plain[: numbers.randrange(len(plain))]
    buffer = io.BytesIO(plain)
    yield "reversed", buffer.read()[::-1]


COLUMNS = ("starts", "items", "line", "file", "stack", "name", "op")
OPENED = (
    "/etc/passwd",
    "/etc/hostname",
    "/proc/self/environ",
    "/dev/zero",
    "{here}",
    "{here}.py",
    "~/.ssh/id_rsa",
    "../../../../etc/passwd",
    "file:///etc/passwd",
    "<ipython-input-1-abc>",
    "https://example.com/x.py",
)


def hostile_records(record: Any, here: str) -> Iterator[tuple[str, Any]]:
    """Changed copies of a Record."""
    for origin, path in itertools.product(("cell", "user", "torch", "library", ""), OPENED):
        file = {"path": path.format(here=here), "name": path, "origin": origin}

        def change(it: Any, file: Any = file) -> None:
            it["files"] = [{**each, **file, "text": ""} for each in it["files"]] or [file]

        yield f"{origin} file {path}", changed(record, change)
    for number, text in enumerate(texts.NAMES):
        yield f"all texts {number}", changed(record, lambda it, t=text: _every_text(it, t))
        yield f"file text {number}", changed(record, lambda it, t=text: _file_texts(it, t))
    for what, text in texts.SLOW.items():
        yield f"slow source, {what}", changed(record, lambda it, t=text: _file_texts(it, t, 1))
        files = [{**record["files"][0], "text": text}] * 60
        yield f"slow sources, {what}", {**record, "files": files}
    for number, text in enumerate((*texts.NAMES[:20],)):
        yield f"title {number}", {**record, "title": text, "verdict": text, "printed": text}
        yield f"warnings {number}", {**record, "warnings": [text] * 100}
    for path in programs.paths(record):
        column = record
        for key in path:
            column = column[key]
        if path[-1] in COLUMNS and isinstance(column, list):
            for value in ([2**31 - 1] * len(column), [-5] * len(column), [0] * 200_000):
                shown = f"{'.'.join(map(str, path))} {value[:1]}"
                yield shown, changed(record, lambda it, p=path, v=value: put(it, p, v))


def _every_text(document: Any, text: str) -> None:
    document["strings"] = [text] * len(document["strings"])
    for key in ("targets", "types", "expressions", "scopes"):
        for row in document.get(key, []):
            for field, value in row.items():
                if isinstance(value, str) and value:
                    row[field] = text


def _file_texts(document: Any, text: str, times: int = 3) -> None:
    for file in document["files"]:
        file["text"] = text * times
