"""Findings about positions that a program has as constants, though its cache grows.

Neither an input nor the length of the cache goes into such a position: it is that of one call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.programs.component import Component
from export_engine.record import Seam

_LOOKUPS = {"aten.embedding.default": 1, "aten.index_select.default": -1, "aten.index.Tensor": -1}
"""Ops that look rows up by positions, with which of their inputs says which."""
_WRITES_AT = {"aten.index_copy": 1, "aten.index_put": 1, "aten.scatter": 1, "aten.index_fill": 1}
"""Ops that write at positions, with which of their inputs says where."""
_WAVES = ("aten.cos.", "aten.sin.")
_INTEGERS = {"int64", "int32"}
_TABLE = 16
"""Rows of a table of positions, at least; fewer are kinds of tokens, or parts of a weight."""
_VIEWS = (
    "aten.unsqueeze.",
    "aten.squeeze.",
    "aten.view.",
    "aten.detach.",
    "aten.to.",
    "aten.slice.Tensor",
)


class _Baked(NamedTuple):
    """An op that has a position as a constant."""

    node: int
    sentence: str


def check_positions(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """Positions in programs that continue from a cache: looked up, rotated by, or written at."""
    for at, component in enumerate(components):
        caches = {
            flow.target_node
            for seam in seams
            if seam.target == at
            for flow in seam.flows
            if flow.kind == "cache"
        }
        if not caches:
            continue
        for item in _Positions(component, caches).iter_baked():
            yield Finding(
                kind=Kind.SET_POSITION,
                severity="wrong",
                sentence=rules.SetPosition.SENTENCE(
                    component=component.name, sentence=item.sentence
                ),
                why=rules.SetPosition.WHY(),
                component=at,
                node=item.node,
            )


class _Positions:
    """The constant positions of one program."""

    def __init__(self, component: Component, caches: set[int]) -> None:
        self._walk = component.walk
        self._caches = caches
        entries = [entry for entry in component.record.signature.inputs if entry.node >= 0]
        self._held = {entry.node: entry for entry in entries if entry.kind != "user_input"}
        self._integers = {
            node
            for node, entry in self._held.items()
            if component.type_of(entry).dtype in _INTEGERS and "type" not in entry.target
        }

    def iter_baked(self) -> Iterator[_Baked]:
        sentences: set[str] = set()
        for node in self._walk.nodes:
            each = (
                self._find_lookup(node)
                or self._find_rotation(node)
                or self._row(node)
                or self._find_write(node)
                or self._slice_written(node)
            )
            if each is not None and each.sentence not in sentences:
                sentences.add(each.sentence)
                yield each

    def _find_lookup(self, node: int) -> _Baked | None:
        """Rows of a table by a constant index."""
        place, inputs = _LOOKUPS.get(self._walk.name(node)), self._walk.inputs(node)
        if place is None or len(inputs) < 2 or self._origin(inputs[0]) not in self._held:
            return None
        source = self._constant(inputs[place])
        if source is None or self._walk.type(inputs[place]).dtype not in _INTEGERS:
            return None
        text = f"looks up positions by {source[1]}, which fits only one cache length"
        return _Baked(source[0], text)

    def _find_rotation(self, node: int) -> _Baked | None:
        """The angles of a rotary embedding, of which no input says the position."""
        if not self._walk.name(node).startswith(_WAVES):
            return None
        before = list(self._walk.before([node]))
        if any(self._walk.is_placeholder(number) and number not in self._held for number in before):
            return None
        *rows, last = self._walk.type(node).shape or [1]
        late = next((number for number in before if self._starts_late(number)), None)
        single = last != 1 and all(size == 1 for size in rows)
        if late is None and not single:
            return None  # the table of all positions, of which rows are taken later
        return _Baked(node if late is None else late, "rotates by the angles of a fixed position")

    def _row(self, node: int) -> _Baked | None:
        """One row of a long table that the program holds, by its number."""
        name, inputs = self._walk.name(node), self._walk.inputs(node)
        if name not in ("aten.select.int", "aten.slice.Tensor") or len(inputs) != 1:
            return None
        table, sizes = self._origin(inputs[0]), self._walk.type(inputs[0]).shape
        positions, _ = self._walk.arguments(node)
        if table not in self._held or len(positions) < 3 or not _numbers(positions[1:]):
            return None
        dim, start = int(positions[1]), int(positions[2])
        taken = 1 if name == "aten.select.int" else int(positions[3]) - start
        rows = sizes[dim] if dim < len(sizes) - 1 else 0
        if not isinstance(rows, int) or start <= 0 or taken != 1 or rows < _TABLE:
            return None
        if any(size != 1 for size in sizes[:dim]):
            return None
        path = self._held[table].target
        return _Baked(node, f"uses row {start} of `{path}` as its position")

    def _find_write(self, node: int) -> _Baked | None:
        """A cache that is written at a constant index."""
        name, inputs = self._walk.name(node), self._walk.inputs(node)
        place = next((at for op, at in _WRITES_AT.items() if name.startswith(op)), None)
        if place is None or len(inputs) < 3 or self._walk.memory(inputs[0]) not in self._caches:
            return None
        source = self._constant(inputs[place])
        if source is None:
            return None
        return _Baked(node, f"writes to its cache at {source[1]}")

    def _slice_written(self, node: int) -> _Baked | None:
        """A cache that is written from a fixed number on, and not moved."""
        name, inputs = self._walk.name(node), self._walk.inputs(node)
        if name in ("aten.slice_scatter.default", "aten.select_scatter.default"):
            positions, _ = self._walk.arguments(node)
            memory, start = self._walk.memory(inputs[0]), positions[3:4]
        elif name.startswith("aten.copy_") and inputs:
            view = inputs[0]
            if self._walk.name(view) not in ("aten.slice.Tensor", "aten.select.int"):
                return None
            memory, start = self._walk.memory(view), self._walk.arguments(view)[0][2:3]
        else:
            return None
        if memory not in self._caches or not _numbers(start) or int(start[0]) <= 0:
            return None
        if "0" in self._starts_written[memory]:
            return None  # part by part from the first on: a place for each layer
        if any(self._walk.name(number).startswith("aten.copy_") for number in self._first(memory)):
            return None  # it is moved by one first, so its end is always at this place
        return _Baked(node, f"writes to its cache at {start[0]}")

    @cached_property
    def _starts_written(self) -> dict[int, set[str]]:
        """Per cache, the numbers of the parts of it that are written as a whole."""
        groups: dict[int, set[str]] = defaultdict(set)
        for node in self._walk.nodes:
            name, inputs = self._walk.name(node), self._walk.inputs(node)
            if name.startswith("aten.copy_") and inputs:
                part, wanted, at = inputs[0], "aten.select.int", 2
            else:
                part, wanted, at = node, "aten.select_scatter.default", 3
            if self._walk.name(part) == wanted:
                memory = self._walk.memory(self._walk.inputs(part)[0])
                groups[memory].update(self._walk.arguments(part)[0][at : at + 1])
        return groups

    def _first(self, node: int) -> list[int]:
        return [
            reader for reader in self._walk.readers(node) if self._walk.inputs(reader)[0] == node
        ]

    def _constant(self, index: int) -> tuple[int, str] | None:
        """The source of an index that depends on no input, and its description."""
        before = list(self._walk.before([index]))
        numbers = [number for number in before if self._walk.is_placeholder(number)]
        if any(number not in self._integers for number in numbers):
            return None
        late = next((number for number in before if self._starts_late(number)), None)
        if late is None and not numbers:
            return None
        held = "a constant tensor"
        return (index, held) if late is None else (late, "a range with a fixed start")

    def _starts_late(self, node: int) -> bool:
        """Whether an op makes numbers that start after 0, whatever the sizes are."""
        name = self._walk.name(node)
        positions, names = self._walk.arguments(node) if name else ([], {})
        if name.startswith("aten.arange.start"):
            text = names.get("start", positions[0] if positions else "")
        elif name.startswith(("aten.full.", "aten.full_like.", "aten.new_full.")):
            text = names.get("fill_value", positions[1] if len(positions) > 1 else "")
        elif name.startswith("aten.scalar_tensor."):
            text = positions[0] if positions else ""
        elif name.startswith("aten.add") and len(self._walk.inputs(node)) == 1:
            text = names.get("other", positions[1] if len(positions) > 1 else "")
        else:
            return False
        whole = text.removesuffix(".0")
        return whole.isdigit() and int(whole) > 0

    def _origin(self, node: int) -> int:
        """The input that a node is a view of; -1 for none."""
        while not self._walk.is_placeholder(node):
            inputs = self._walk.inputs(node)
            if len(inputs) != 1 or not self._walk.name(node).startswith(_VIEWS):
                return -1
            node = inputs[0]
        return node


def _numbers(texts: Sequence[str]) -> bool:
    """Whether texts are numbers, of which there is one at least."""
    return bool(texts) and all(text.lstrip("-").isdigit() for text in texts)
