"""The sizes of an archive's tensors, from its lists. The tensors are not read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import decoded
from export_engine.archive.names import cut
from export_engine.archive.zip_members import Members

_CONFIG = msgspec.json.Decoder(schema.PayloadConfig)
_LISTS = ("data/weights/{}_weights_config.json", "data/constants/{}_constants_config.json")
_BITS = re.compile(r"\d+")


class HeldWeight(NamedTuple):
    """A weight that a program holds, as programs of a set compare theirs."""

    place: str
    """What tells its memory from other memory; empty where that is not known."""
    content: Callable[[], str]
    """A digest of its values, made when it is asked for."""
    bytes: int
    type: str
    """Its dtype and sizes, as text: equal texts are equal types."""


def held_bytes(members: Members, model: str, title: str) -> dict[str, int]:
    """Bytes of each parameter, buffer and constant; unknown for a pickled one.

    An unreadable list is ignored: the graph is shown anyway.
    """
    return {
        cut(target): _bytes(payload.tensor_meta)
        for _, target, payload in _payloads(members, model, title)
    }


def held_weights(members: Members, model: str, title: str) -> dict[str, HeldWeight]:
    """Each parameter, buffer and constant with its member: programs that share one share memory.

    What a member holds is told by the checksum that the file's directory gives for it.
    """
    found = {}
    for folder, target, payload in _payloads(members, model, title):
        meta, member = payload.tensor_meta, f"{folder}/{payload.path_name}"
        if meta is None or member not in members:
            continue
        sizes = [each.as_int for each in meta.sizes]
        kind = f"{schema.DTYPES.get(meta.dtype, meta.dtype)} {sizes}"
        part = f"{kind} {[each.as_int for each in meta.strides]} {bytes(meta.storage_offset)!r}"
        content = partial(str, f"{members.checksum(member)} {part}")
        found[cut(target)] = HeldWeight(f"{member} {part}", content, _bytes(meta), kind)
    return found


def _payloads(
    members: Members, model: str, title: str
) -> Iterator[tuple[str, str, schema.Payload]]:
    """Each tensor of a program: the folder of its member, its name, and where and what it is."""
    for pattern in _LISTS:
        name = pattern.format(model)
        if name not in members:
            continue
        try:
            data = members.read(name, limits.CONFIG_BYTES)
            config = decoded(data, _CONFIG, title + name).config
        except ArchiveError:
            continue
        folder = name.rpartition("/")[0]
        yield from ((folder, target, payload) for target, payload in config.items())


def _bytes(meta: schema.TensorMeta | None) -> int:
    if meta is None or len(meta.sizes) > limits.RANK:
        return 0
    sizes = [each.as_int for each in meta.sizes]
    if any(each is None or not 0 <= each <= limits.INTEGER for each in sizes):
        return 0
    count = math.prod(each for each in sizes if each is not None)
    return min(count * _width(meta.dtype), limits.INTEGER)


def _width(dtype: int) -> int:
    """Bytes of one number."""
    name = schema.DTYPES.get(dtype, "")
    if name == "bool":
        return 1
    bits = _BITS.search(name)
    return int(bits[0]) // 8 if bits else 0
