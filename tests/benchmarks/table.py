"""One row of the benchmarks' table, and the table as text."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A figure, and the budget it is held against."""

    subject: str
    """What was measured: a model, a page."""
    figure: str
    value: float
    unit: str = ""
    most: float | None = None
    """The budget, where more is worse."""
    least: float | None = None
    """The budget, where less is worse."""

    @property
    def verdict(self) -> str:
        """`ok`, `over`, or empty for a figure without a budget."""
        if self.most is None and self.least is None:
            return ""
        over = self.most is not None and self.value > self.most
        under = self.least is not None and self.value < self.least
        return "over" if over or under else "ok"

    @property
    def budget(self) -> str:
        """The budget as text."""
        if self.most is not None:
            return f"at most {self.most:g}"
        return "" if self.least is None else f"at least {self.least:g}"


def as_text(rows: list[Row]) -> str:
    """The rows as a table for a terminal."""
    cells = [("subject", "figure", "value", "", "budget", "")]
    cells += [(r.subject, r.figure, f"{r.value:,.3g}", r.unit, r.budget, r.verdict) for r in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(6)]
    lines = []
    for number, row in enumerate(cells):
        padded = [
            cell.rjust(width) if column == 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
        if number == 0:
            lines.append("  ".join("-" * width for width in widths))
    return "\n".join(lines)
