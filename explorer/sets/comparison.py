"""The differences of two sets of programs: program by program, and in what flows between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from explorer.comparing.comparison import Comparison
from explorer.sets.programs import Programs
from explorer.text.attempt_text import fold, format_count
from explorer.text.comparison_text import MOST
from explorer.text.escape import escape_html

if TYPE_CHECKING:
    from export_engine.record import ProgramSet


class SetComparison:
    """The differences of two sets, up to the names of nodes and symbols.

    Show it by leaving it on the last line of a cell, `print` it, or use `ok` in a test.
    `comparison["decode"]` is the Comparison of one program.
    """

    def __init__(self, before: Programs, after: Programs) -> None:
        """Compare the programs of the same name.

        Args:
            before: a set whose programs exported.
            after: another.

        Raises:
            ValueError: a program failed to export.
        """
        self.programs = {
            name: Comparison(exploration.session.lend(), after[name].session.lend())
            for name, exploration in before.items()
            if name in after
        }
        """Per program that both have, its comparison."""
        self.removed = [name for name in before if name not in after]
        """Programs that only the first set has."""
        self.added = [name for name in after if name not in before]
        """Programs that only the second set has."""
        self.flows = list(_lone_flows(before.record, after.record))
        """Tensors passed between programs in only one set: `- prefill.0 → decode.past`."""
        self._titles = before.title, after.title

    def __getitem__(self, name: str) -> Comparison:
        return self.programs[name]

    @property
    def ok(self) -> bool:
        """Whether both sets have the same programs, proven identical, with the same connections."""
        lone = self.removed or self.added or self.flows
        return not lone and all(program.ok for program in self.programs.values())

    @property
    def summary(self) -> str:
        """A line: `1 of 2 programs in both changed, 0 added, 0 removed`."""
        count = format_count(len(self.programs), "program")
        if self.ok:
            return f"Identical up to names: {count}."
        differ = sum(not program.ok for program in self.programs.values())
        parts = [f"{differ:,} of {count} in both changed"]
        parts += [f"{len(self.added):,} added", f"{len(self.removed):,} removed"]
        if self.flows:
            parts.append(format_count(len(self.flows), "connection") + " changed")
        return f"{', '.join(parts)}."

    def lines(self, most: int = MOST) -> list[str]:
        """The differences, program by program.

        Args:
            most: how many ops to show of each.
        """
        shown = [fold(f"{self._titles[0]}  →  {self._titles[1]}"), fold(self.summary)]
        for name, program in self.programs.items():
            _, summary, *more = program.lines(most)
            shown += [fold(f"{name}: {summary}"), *(fold(f"  {line}") for line in more)]
        shown += [fold(f"- {name}") for name in self.removed]
        shown += [fold(f"+ {name}") for name in self.added]
        return [*shown, *map(fold, self.flows)]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return {"text/plain": str(self), "text/html": f"<pre>{escape_html(str(self))}</pre>"}


def _lone_flows(before: ProgramSet, after: ProgramSet) -> Iterator[str]:
    ours, theirs = _flows(before), _flows(after)
    yield from (f"- {flow}" for flow in ours if flow not in theirs)
    yield from (f"+ {flow}" for flow in theirs if flow not in ours)


def _flows(kit: ProgramSet) -> list[str]:
    """A tensor passed from an output of a program to an input of one."""
    names = [component.name for component in kit.components]
    return [
        f"{names[seam.source]}.{flow.source_path} → {names[seam.target]}.{flow.target_path}"
        for seam in kit.seams
        for flow in seam.flows
    ]
