"""What a program costs, at any sizes, from its Record: `ex.cost()`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from explorer.text.cost_text import cost_lines
from explorer.text.escape import harmless
from export_engine.source import innermost_own

if TYPE_CHECKING:
    from export_engine.cost import Amount, CostAt, OpCost, ProgramCost
    from export_engine.record import Record


class Cost:
    """FLOPs, bytes, parameters and live memory as formulas of the named sizes. `print` it.

    Nothing was run. `cost.at(batch=8)` gives numbers.
    """

    def __init__(self, record: Record) -> None:
        """Make one.

        Args:
            record: of a program.

        Raises:
            WrongArgument: its export failed.
        """
        from export_engine.cost import cost_of

        self._record = record
        self._cost: ProgramCost = cost_of(record)

    @property
    def flops(self) -> Amount:
        """FLOPs of all ops that are counted, as a formula: `512*batch*seq**2 + …`."""
        return self._cost.flops

    @property
    def bytes(self) -> Amount:
        """Bytes that ops read and write, as a formula."""
        return self._cost.read + self._cost.written

    @property
    def parameters(self) -> int:
        """How many elements the program's parameters have."""
        return self._cost.parameters

    @property
    def ops(self) -> tuple[OpCost, ...]:
        """The ops of the main graph, each with what it costs."""
        return self._cost.ops

    @property
    def unknown(self) -> dict[str, int]:
        """The ops whose FLOPs are not known, with how often each is called. They add nothing."""
        return self._cost.unknown

    def at(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> CostAt:
        """The cost at given sizes; a size that is not given is that of the example.

        Args:
            sizes: by name, `{"x.shape[0]": 4}`.
            **named: the same for names that Python allows: `batch=4`.

        Raises:
            WrongArgument: there is no such size, it is no int, or it is needed and not given.
        """
        return self._cost.at(sizes, **named)

    def by_module(self, depth: int | None = None) -> dict[str, Amount]:
        """FLOPs per module path; with a depth, of its first so many parts."""
        return self._cost.by_module(depth)

    def by_line(self) -> dict[tuple[str, int], Amount]:
        """FLOPs per line of code outside of torch: file and line."""
        graph, totals = self._record.graphs[0], dict[tuple[str, int], "Amount"]()
        for each in self.ops:
            frame = innermost_own(self._record, graph.stack[each.node])
            if frame is None or each.cost.flops is None:
                continue
            place = frame.name, frame.line
            totals[place] = totals[place] + each.cost.flops if place in totals else each.cost.flops
        return totals

    def __repr__(self) -> str:
        return harmless("\n".join(cost_lines(self._record, self._cost)))
