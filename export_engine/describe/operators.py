"""The targets of nodes: operator overloads, higher-order operators and Python functions."""

from __future__ import annotations

from typing import Any

import torch

from export_engine.describe.tables import Table
from export_engine.record import HOUSEKEEPING, Target
from export_engine.torch_internals import HigherOrderOperator, OpOverload, op_schema, overload_name


class Operators:
    """The targets of one Record."""

    def __init__(self) -> None:
        self.table: Table[Any, Target] = Table()
        self._housekeeping: set[int] = set()

    def number(self, target: Any) -> int:
        """The number of what a call_function node calls."""
        known = self.table.find(target)
        if known is not None:
            return known
        entry = _describe(target)
        number = self.table.add(target, entry)
        if entry.name in HOUSEKEEPING or entry.name.endswith("sym_constrain_range_for_size"):
            self._housekeeping.add(number)
        return number

    def submodule(self, name: str, contents: str) -> int:
        """The number of a call_module node's target.

        Args:
            name: where the module is.
            contents: what it is, as text.
        """
        known = self.table.find((name, contents))
        entry = Target(name, name, "module", schema=contents)
        return known if known is not None else self.table.add((name, contents), entry)

    def method(self, name: str) -> int:
        """The number of a call_method node's target; only an unfinished graph has such nodes."""
        known = self.table.find(("method", name))
        entry = Target(f"Tensor.{name}", name, "python")
        return known if known is not None else self.table.add(("method", name), entry)

    def is_housekeeping(self, number: int) -> bool:
        """Whether an op only checks or computes sizes."""
        return number in self._housekeeping

    def is_size_arithmetic(self, number: int) -> bool:
        """Whether a target is Python arithmetic, which in a graph is applied to sizes."""
        return self.table.entries[number].kind == "python"


def _describe(target: Any) -> Target:
    if isinstance(target, OpOverload):
        return _overload(target)
    if isinstance(target, HigherOrderOperator):
        name = str(target.name())
        return Target(f"higher_order.{name}", name, "higher_order")
    name = getattr(target, "__name__", str(target))
    module = (getattr(target, "__module__", "") or "").lstrip("_")
    return Target(f"{module}.{name}" if module else name, name, "python")


def _overload(target: Any) -> Target:
    schema = op_schema(target)
    namespace, _, rest = str(target).partition(".")
    label = rest.rpartition(".")[0]
    arguments = schema.arguments if schema is not None else ()
    writes = [a.name for a in arguments if a.alias_info and a.alias_info.is_write]
    shares = [a.name for a in arguments if a.alias_info and not a.alias_info.is_write]
    return Target(
        str(target),
        label,
        _kind(namespace),
        schema=str(schema or ""),
        overload=overload_name(target),
        mutates=writes,
        aliases=shares,
        core=torch.Tag.core in target.tags,
        tags=sorted(tag.name for tag in target.tags),
    )


def _kind(namespace: str) -> Any:
    if namespace == "aten":
        return "aten"
    return "prim" if namespace in ("prims", "prim", "_prims_common") else "custom"
