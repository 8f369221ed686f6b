"""The sizes of an archive's tensors, from its lists. The tensors are not read."""

from __future__ import annotations

import math
import re

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import decoded
from export_engine.archive.names import cut
from export_engine.archive.zip_members import Members

_CONFIG = msgspec.json.Decoder(schema.PayloadConfig)
_LISTS = ("data/weights/{}_weights_config.json", "data/constants/{}_constants_config.json")
_BITS = re.compile(r"\d+")


def held_bytes(members: Members, model: str, title: str) -> dict[str, int]:
    """Bytes of each parameter, buffer and constant; unknown for a pickled one.

    An unreadable list is ignored: the graph is shown anyway.
    """
    found: dict[str, int] = {}
    for pattern in _LISTS:
        name = pattern.format(model)
        if name not in members:
            continue
        try:
            data = members.read(name, limits.CONFIG_BYTES)
            config = decoded(data, _CONFIG, title + name).config
        except ArchiveError:
            continue
        for target, payload in config.items():
            found[cut(target)] = _bytes(payload.tensor_meta)
    return found


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
