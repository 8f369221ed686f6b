"""The sizes of an archive's tensors, from its lists. The tensors are not read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import decode_json
from export_engine.archive.names import cut
from export_engine.archive.zip_members import Members

_CONFIG = msgspec.json.Decoder(schema.PayloadConfig)
_CONSTANTS = "data/constants/{}_constants_config.json"
_LISTS = ("data/weights/{}_weights_config.json", _CONSTANTS)
_MOST_VALUES = 100_000
"""Values of a constant that are read to compare it."""
_BITS = re.compile(r"\d+")


class HeldWeight(NamedTuple):
    """A weight that a program holds, as programs of a set compare theirs."""

    place: str
    """A key of its memory; empty if that is not known."""
    content: Callable[[], str]
    """A digest of its values, made when it is asked for."""
    bytes: int
    type: str
    """Its dtype and sizes, as text: equal texts are equal types."""


def held_bytes(members: Members, model: str, title: str) -> dict[str, int]:
    """Bytes of each parameter, buffer and constant; 0 for a pickled one, as a tensor subclass is.

    An unreadable list is ignored: the graph is shown anyway.
    """
    return {
        cut(target): 0 if payload.use_pickle else _bytes(payload.tensor_meta)
        for _, target, payload in _payloads(members, model, title)
    }


def held_weights(members: Members, model: str, title: str) -> dict[str, HeldWeight]:
    """Each parameter, buffer and constant with its member: programs that share one share memory.

    The checksum in the file's directory identifies a member's content.
    """
    weights = {}
    for folder, target, payload in _payloads(members, model, title):
        meta, member = payload.tensor_meta, f"{folder}/{payload.path_name}"
        if meta is None or member not in members:
            continue
        sizes = [size.as_int for size in meta.sizes]
        kind = f"{schema.DTYPES.get(meta.dtype, meta.dtype)} {sizes}"
        part = f"{kind} {[stride.as_int for stride in meta.strides]} {bytes(meta.storage_offset)!r}"
        content = partial(str, f"{members.checksum(member)} {part}")
        weights[cut(target)] = HeldWeight(f"{member} {part}", content, _bytes(meta), kind)
    return weights


def constant_values(members: Members, model: str, title: str) -> dict[str, bytes]:
    """The bytes of each constant tensor, row by row; without those that are pickled or large."""
    groups = {}
    for folder, target, payload in _payloads(members, model, title, (_CONSTANTS,)):
        meta, member = payload.tensor_meta, f"{folder}/{payload.path_name}"
        if meta is None or payload.use_pickle or member not in members:
            continue
        values = _row_by_row(members.read(member, limits.CONFIG_BYTES), meta)
        if values is not None:
            groups[cut(target)] = values
    return groups


def _row_by_row(stored: bytes, meta: schema.TensorMeta) -> bytes | None:
    """The values of a tensor out of the memory that it is a view of; None where that is not told.

    Each value's place is computed by itself, which is why a large view of memory is left out.
    """
    sizes = [size.as_int for size in meta.sizes]
    strides = [stride.as_int for stride in meta.strides]
    start, width = _offset(meta), _width(meta.dtype)
    if not width or start is None or None in sizes or None in strides:
        return None
    places = [start]
    for size, stride in zip(sizes, strides, strict=False):
        if len(places) * (size or 0) > _MOST_VALUES:
            return None
        places = [at + step * (stride or 0) for at in places for step in range(size or 0)]
    if places and not 0 <= min(places) <= max(places) <= len(stored) // width - 1:
        return None
    return b"".join(stored[at * width : (at + 1) * width] for at in places)


def _offset(meta: schema.TensorMeta) -> int | None:
    try:
        return msgspec.json.decode(bytes(meta.storage_offset), type=schema.Size).as_int
    except msgspec.MsgspecError:
        return None


def _payloads(
    members: Members, model: str, title: str, lists: Sequence[str] = _LISTS
) -> Iterator[tuple[str, str, schema.Payload]]:
    """Each tensor of a program: the folder of its member, its name, and where and what it is."""
    for pattern in lists:
        name = pattern.format(model)
        if name not in members:
            continue
        try:
            data = members.read(name, limits.CONFIG_BYTES)
            config = decode_json(data, _CONFIG, title + name).config
        except ArchiveError:
            continue
        folder = name.rpartition("/")[0]
        yield from ((folder, target, payload) for target, payload in config.items())


def _bytes(meta: schema.TensorMeta | None) -> int:
    if meta is None or len(meta.sizes) > limits.RANK:
        return 0
    sizes = [size.as_int for size in meta.sizes]
    if any(size is None or not 0 <= size <= limits.INTEGER for size in sizes):
        return 0
    count = math.prod(size for size in sizes if size is not None)
    return min(count * _width(meta.dtype), limits.INTEGER)


def _width(dtype: int) -> int:
    """Bytes of one number."""
    name = schema.DTYPES.get(dtype, "")
    if name == "bool":
        return 1
    bits = _BITS.search(name)
    return int(bits[0]) // 8 if bits else 0
