"""One call exported with Dims and with a ShapesSpec: which ops, ranges and rejections differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from explorer.session.entry import Entry
from explorer.text.attempt_text import fold, wrap_text

if TYPE_CHECKING:
    from export_engine.diff import Rejection
    from export_engine.record import Record

_OF_CHECKS = ("aten._assert", "aten.sym_", "torch.sym_", "operator.")
_ASSERT = "aten._assert_scalar.default"
_TAKES_APART = "operator.getitem"
"""The function on Python values that also accepts tensors."""


class ContractDifferences:
    """How the programs of one call under Dims and under a ShapesSpec differ."""

    def __init__(self, before: Entry, after: Entry) -> None:
        """Compare.

        Args:
            before: an attempt that exported.
            after: the attempt at the same call in the other form.
        """
        from export_engine.diff import find_different_rejections

        self.before: Record = before.record
        self.after: Record = after.record
        self.left_out = _left_out(self.before)
        """Assumptions of the first that no Dim can express, if the second has Dims: guards
        there if the code checks them."""
        self.exported = after.ok
        """Whether the call exports in the other form."""
        self.rejections: list[Rejection] = (
            find_different_rejections(self.before, self.after) if after.ok else []
        )
        """Sizes that one program accepts and the other rejects."""

    @property
    def ok(self) -> bool:
        """Whether both export, with the same ops, ranges, checks, rejections and assumptions."""
        differences = self.ops or self.ranges or self.checks or self.rejections or self.left_out
        return self.exported and not differences

    @property
    def ops(self) -> dict[str, tuple[int, int]]:
        """Ops that are not called as often in both, with how often. Size checks do not count."""
        one, other = _ops(self.before), _ops(self.after)
        names = sorted({*one, *other})
        return {name: (one[name], other[name]) for name in names if one[name] != other[name]}

    @property
    def ranges(self) -> dict[str, tuple[str, str]]:
        """Sizes whose range is not the same in both, by place: `x.shape[0]`; `u0` of data."""
        one, other = _ranges(self.before), _ranges(self.after)
        places = dict.fromkeys([*one, *other])
        return {
            place: (one.get(place, ""), other.get(place, ""))
            for place in places
            if one.get(place) != other.get(place)
        }

    @property
    def checks(self) -> list[str]:
        """Conditions on data-dependent numbers that only one of the programs checks."""
        return sorted(_find_checks(self.before) ^ _find_checks(self.after)) if self.exported else []

    def __str__(self) -> str:
        lines = [fold(f"{_form(self.before)}: {self.before.shapes}")]
        lines.append(fold(f"{_form(self.after)}: {self.after.shapes}"))
        if self.left_out:
            text = ", ".join(f"`{condition}`" for condition in self.left_out)
            lines.append(fold(f"No Dim can express {text}: with Dims only the code checks it."))
        if not self.exported:
            failure = self.after.failure
            text = failure.sentence if failure else self.after.verdict
            return "\n".join([*lines, *wrap_text(f"The second form does not export: {text}")])
        lines.append("Same ops." if not self.ops else "Ops, and how often each form calls them:")
        lines += [fold(f"  {op}: {one} → {other}") for op, (one, other) in self.ops.items()]
        lines.append("Same ranges." if not self.ranges else "Ranges that differ:")
        lines += [
            fold(f"  {place}: {one} → {other}") for place, (one, other) in self.ranges.items()
        ]
        if self.checks:
            text = ", ".join(f"`{condition}`" for condition in self.checks)
            lines.append(fold(f"Only one form checks {text}."))
        lines.append(
            "Both forms reject the same sizes among those tried."
            if not self.rejections
            else "Sizes that only one of them rejects:"
        )
        lines += [
            fold(f"  {rejection.sizes}: {rejection.before} → {rejection.after}")
            for rejection in self.rejections
        ]
        return "\n".join(lines)

    __repr__ = __str__


def _left_out(record: Record) -> list[str]:
    if _form(record) != "ShapesSpec" or not record.shapes:
        return []
    from export_engine.shapes import Shapes, ShapesError

    try:
        return Shapes.parse(record.shapes).closest_dims()[1]
    except ShapesError:  # paths that the short language cannot write
        return []


def _form(record: Record) -> str:
    """The form of a Record's shapes, as its symbols tell."""
    inputs = {size.symbol for size in record.probe.inputs if size.symbol >= 0}
    unbacked = any(record.symbols[number].kind == "unbacked" for number in inputs)
    return "ShapesSpec" if unbacked or "unbacked" in record.shapes else "Dims"


def _ops(record: Record) -> Counter[str]:
    from export_engine.record import OPS

    names = (
        record.targets[target].name
        for graph in record.graphs
        for op, target in zip(graph.op, graph.target, strict=True)
        if target >= 0 and OPS[op] == "call_function"
    )
    return Counter(
        name for name in names if name == _TAKES_APART or not name.startswith(_OF_CHECKS)
    )


def _find_checks(record: Record) -> set[str]:
    """The asserted conditions on data-dependent numbers alone, by the numbers of `_number_data`.

    Those on sizes of inputs are rejections, which the two forms check differently.
    """
    names = _number_data(record)
    data = {at for at, symbol in enumerate(record.symbols) if symbol.name in names}
    involved = {expression.text: expression.symbols for expression in record.expressions}
    return {
        re.sub(r"\w+", lambda word: names.get(word[0], word[0]), condition)
        for condition in _find_asserted(record)
        if involved.get(condition) and data.issuperset(involved[condition])
    }


def _find_asserted(record: Record) -> Iterator[str]:
    from export_engine.source import items_of

    for graph in record.graphs:
        for node, target in enumerate(graph.target):
            if target >= 0 and record.targets[target].name == _ASSERT:
                for asked in items_of(graph.inputs, node):
                    yield str(record.types[graph.type[asked]].value)


def _number_data(record: Record) -> dict[str, str]:
    """The data-dependent numbers by name, numbered as they come: `u0`."""
    names = [symbol.name for symbol in record.symbols if symbol.is_from_data]
    return {name: f"u{at}" for at, name in enumerate(names)}


def _ranges(record: Record) -> dict[str, str]:
    from export_engine.record import interval

    names = _number_data(record)
    result = {names[symbol.name]: symbol.range for symbol in record.symbols if symbol.is_from_data}
    for size in record.probe.inputs:
        if size.symbol < 0:
            result[size.text] = str(size.example)
            continue
        symbol = record.symbols[size.symbol]
        low, high = (
            None if end is None else size.scale * end + size.offset
            for end in (symbol.lower, symbol.upper)
        )
        steps = f" in steps of {size.scale}" if size.scale > 1 else ""
        result[size.text] = interval(low, high) + steps
    return result
