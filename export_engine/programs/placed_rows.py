"""Which position each row of a tensor belongs to, as far as the ops of a program say.

`arange(past, past + 1)` starts at `past`; what is looked up or rotated by it has its rows there. A
position that a call gives, or that a buffer counts, has the input's name; a mask counts as ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from export_engine.programs.component import Component
from export_engine.programs.linear_sizes import Linear, parse_size

ROTATION = "a rotation"
_NUMBERS, _MADE_OF = "", "~"
_INTEGERS = {"int64", "int32"}
_SAME = {
    *("alias", "clone", "contiguous", "detach", "permute", "reshape", "transpose", "unsqueeze"),
    *("squeeze", "view", "expand", "expand_as", "to", "_to_copy", "flatten", "t", "repeat", "long"),
    *("float", "type_as", "masked_fill", "clamp", "clamp_min", "_assert_tensor_metadata"),
    *("lift_fresh_copy", "_unsafe_view", "item", "_local_scalar_dense"),
}
"""Ops that give the numbers that they take first."""
_WAVES = {"cos", "sin", "wrap_with_autocast", "wrap_with_set_grad_enabled"}
"""Ops that make a rotation; transformers' own computes it in a region of its own."""
_LOOKUPS = {"embedding", "index_select", "index"}
_TELL = {"le", "lt", "ge", "gt", "eq", "ne", "logical_not", "logical_and", "__and__", "__or__"}
"""Ops whose result is not a position."""


class Rows(NamedTuple):
    """The position of the first row, and how many there are."""

    start: Linear
    rows: Linear | None
    """None for one row."""
    table: str
    """The tensor that has them as rows: a held tensor by name, a rotation. Empty for numbers."""
    node: int
    """The op that says where they start."""

    @property
    def is_looked_up(self) -> bool:
        """Whether it is more than numbers: what a position stands for."""
        return self.table not in (_NUMBERS, _MADE_OF)


class PlacedRows:
    """The positions in the main graph of a program."""

    def __init__(self, component: Component) -> None:
        """Make one.

        Args:
            component: the program.
        """
        self._walk = component.walk
        entries = [entry for entry in component.record.signature.inputs if entry.node >= 0]
        self._held = {entry.node: entry.target for entry in entries if entry.kind != "user_input"}
        self._rows: dict[int, Rows] = {}
        self._values: dict[str, Linear] = {}
        self._given = {entry.node for entry in entries if entry.kind == "user_input"}
        for entry in entries:
            type_ = component.type_of(entry)
            name = entry.path if entry.kind == "user_input" else entry.target
            if type_.dtype in _INTEGERS and name and entry.constant is None:
                count = _size(type_.shape[-1]) if type_.shape else None
                self._rows[entry.node] = Rows(Linear(0, ((name, 1),)), count, _NUMBERS, entry.node)
        self._masks = {
            entry.node for entry in entries if "mask" in entry.path.lower().rpartition(".")[2]
        }
        self._free = set(self._given)
        """Nodes that an input's values go into."""
        self.used: dict[str, dict[Linear, Rows]] = {}
        """Per table, where the rows that the program adds or multiplies by start."""
        for node in self._walk.nodes:
            self._visit(node)

    def at(self, node: int) -> Rows | None:
        """The positions that a node gives."""
        return self._rows.get(node)

    def _visit(self, node: int) -> None:
        name, inputs = self._walk.name(node), self._walk.inputs(node)
        if "." not in name:  # a module or function that a graph calls whole
            return
        if any(number in self._free for number in inputs):
            self._free.add(node)
        op = name.split(".")[1]
        if self._walk.type(node).kind in ("int", "float", "bool"):
            self._number(node, op, inputs)
            return
        if inputs and inputs[0] in self._masks and op in _SAME:
            self._masks.add(node)
        rows = None if op in _TELL else self._rows_made_by(node, op, inputs)
        if rows is not None:
            self._rows[node] = rows
            if self._walk.writes(node) and inputs:
                self._rows[inputs[0]] = rows
            return
        for source in inputs:
            known = self._rows.get(source)
            if known is not None and known.is_looked_up and op not in _TELL:
                self.used.setdefault(known.table, {}).setdefault(known.start, known)

    def _number(self, node: int, op: str, inputs: Sequence[int]) -> None:
        """A number read from a tensor: from there its symbol stands for the position."""
        text = str(self._walk.type(node).value or "")
        rows = self._rows.get(inputs[0]) if op in _SAME and inputs else None
        if rows is not None and text.isidentifier():
            self._values[text] = rows.start

    def _value(self, node: int, text: str) -> Linear | None:
        """An argument that is a number: as written, or what an input of the op is."""
        if text.startswith("{") and text.endswith("}") and text[1:-1].isdigit():
            read = self._walk.inputs(node)[int(text[1:-1])]
            text = str(self._walk.type(read).value or "")
        size = parse_size(text.removesuffix(".0"))
        return size.with_values(self._values) if size is not None else None

    def _rows_made_by(self, node: int, op: str, inputs: Sequence[int]) -> Rows | None:
        if op in ("arange", "iota"):
            return self._range(node)
        if op in ("full", "new_full", "full_like", "scalar_tensor", "zeros", "fill_", "fill"):
            return self._rows_of_full(node, op)
        if op in ("cumsum", "sum") and inputs and inputs[0] in self._masks:
            return self._rows_of_count(node, op, inputs[0])
        if op in ("slice", "select"):
            return self._part(node, op, inputs[0])
        if op in _LOOKUPS:
            return self._rows_of_lookup(node, op, inputs)
        if op in ("add", "sub", "add_", "sub_", "rsub"):
            return self._sum(node, op, inputs)
        if op == "copy_":
            return self._rows.get(inputs[1])
        first = self._rows.get(inputs[0]) if inputs else None
        if op in _SAME or (op == "mul" and first is not None and self._by_mask(inputs)):
            return first
        return self._of_rows(op, inputs)

    def _by_mask(self, inputs: Sequence[int]) -> bool:
        return len(inputs) > 1 and inputs[1] in self._masks

    def _range(self, node: int) -> Rows | None:
        positions, names = self._walk.arguments(node)
        values = [self._value(node, position) for position in positions]
        if "prims" in self._walk.name(node):
            start, count = self._value(node, names.get("start", "0")), values[0]
        elif len(values) == 1:
            start, count = Linear(0), values[0]
        elif len(values) == 2 or (len(values) == 3 and values[2] == Linear(1)):
            start = values[0]
            count = values[1].plus(start, -1) if values[1] and start else None
        else:
            return None
        return Rows(start, count, _NUMBERS, node) if start and count else None

    def _rows_of_full(self, node: int, op: str) -> Rows | None:
        positions, names = self._walk.arguments(node)
        place = 0 if op == "scalar_tensor" else 1
        text = names.get("fill_value", positions[place] if place < len(positions) else "")
        value = Linear(0) if op == "zeros" else self._value(node, text)
        return Rows(value, None, _NUMBERS, node) if value is not None else None

    def _rows_of_count(self, node: int, op: str, mask: int) -> Rows | None:
        """Count the tokens of a mask, which are all ones as far as sizes tell."""
        sizes = self._walk.type(mask).shape
        count = _size(sizes[-1]) if sizes else None
        if count is None:
            return None
        return Rows(Linear(1) if op == "cumsum" else count, count, _NUMBERS, node)

    def _part(self, node: int, op: str, source: int) -> Rows | None:
        """Rows from a number on: of numbers, of what has rows, or of a table that is held."""
        positions, _ = self._walk.arguments(node)
        dim = int(positions[1]) if len(positions) > 1 else 0
        start = self._value(node, positions[2]) if len(positions) > 2 else Linear(0)
        sizes, rest = self._walk.type(source).shape, self._walk.type(node).shape
        whole = _size(sizes[dim]) if -len(sizes) <= dim < len(sizes) else None
        rows = self._rows.get(source)
        if start is None or whole is None:
            return rows if rows is not None and rows.rows != whole else None
        if not start.terms and start.number < 0:
            start = whole.plus(start)
        count = _size(rest[dim]) if op == "slice" else None
        if rows is None:
            table = self._held.get(self._origin(source), "")
            moves = start.terms or (count is not None and count != whole)
            return Rows(start, count, table, node) if table and moves else None
        if rows.rows != whole:
            return rows
        at = rows.node if start == Linear(0) else node
        return Rows(rows.start.plus(start), count, rows.table, at)

    def _rows_of_lookup(self, node: int, op: str, inputs: Sequence[int]) -> Rows | None:
        """Rows of a table by their numbers."""
        if len(inputs) != 2:
            return None
        places = self._rows.get(inputs[1])
        if places is None or places.table != _NUMBERS:
            return None
        table = self._rows.get(inputs[0])
        if table is not None and table.is_looked_up:
            return places._replace(start=places.start.plus(table.start), table=table.table)
        name = self._held.get(self._origin(inputs[0]))
        return places._replace(table=name) if name else None

    def _sum(self, node: int, op: str, inputs: Sequence[int]) -> Rows | None:
        """Numbers moved by a number; of what has rows, the same rows."""
        positions, names = self._walk.arguments(node)
        first = self._rows.get(inputs[0])
        if names.get("alpha") or op == "rsub" or len(positions) < 2:
            return None
        other = self._rows.get(inputs[1]) if len(inputs) > 1 else None
        moved = self._value(node, positions[1]) if other is None else None
        if first is None or first.table != _NUMBERS or (other and other.table != _NUMBERS):
            return self._of_rows(op, inputs)
        if other is not None:
            if first.rows is not None and other.rows is not None:
                return self._longer(first, other, op, node)
            moved = other.start
        if moved is None:
            return None
        count = first.rows if other is None or first.rows is not None else other.rows
        start = first.start.plus(moved, -1 if op.startswith("sub") else 1)
        return Rows(start, count, _NUMBERS, first.node if moved == Linear(0) else node)

    def _longer(self, first: Rows, other: Rows, op: str, node: int) -> Rows | None:
        """One position for each row, and one for all: the sum of a range and a single number."""
        if op.startswith("sub") or Linear(1) not in (first.rows, other.rows):
            return None
        count = other.rows if first.rows == Linear(1) else first.rows
        return Rows(first.start.plus(other.start), count, _NUMBERS, node)

    def _of_rows(self, op: str, inputs: Sequence[int]) -> Rows | None:
        """What is computed of rows and of constants alone has these rows."""
        groups = [self._rows[source] for source in inputs if source in self._rows]
        groups = [rows for rows in groups if rows.start.terms or rows.rows or rows.table] or groups
        if not groups or any(
            source in self._free and source not in self._rows for source in inputs
        ):
            return None
        if len({(rows.start, rows.rows) for rows in groups}) > 1:
            return None
        tables = {rows.table for rows in groups if rows.is_looked_up}
        if len(tables) > 1:
            return None
        table = ROTATION if op in _WAVES else next(iter(tables), _MADE_OF)
        return groups[0]._replace(table=table)

    def _origin(self, node: int) -> int:
        """The input that a node shows, whole."""
        while not self._walk.is_placeholder(node):
            inputs = self._walk.inputs(node)
            if len(inputs) != 1 or self._walk.name(node).split(".")[1:2][0] not in _SAME:
                return -1
            node = inputs[0]
        return node


def _size(size: int | str) -> Linear | None:
    return Linear(size) if isinstance(size, int) else parse_size(size)
