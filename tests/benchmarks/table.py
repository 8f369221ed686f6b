"""One row of the benchmarks' table, and the table as text."""

from __future__ import annotations

from dataclasses import dataclass, field

HEAD = ("of", "name", "figure", "unit", "budget", "", "what it means")
_FIGURE = HEAD.index("figure")


@dataclass(frozen=True)
class Row:
    """A figure, the budget it is held against, and what it means."""

    subject: str
    """What was measured: a model, a page."""
    name: str
    value: float | None
    """None where it could not be measured; `means` says why."""
    unit: str = ""
    most: float | None = None
    """The budget, where more is worse."""
    least: float | None = None
    """The budget, where less is worse."""
    means: str = field(kw_only=True)
    """One plain phrase for a reader who knows neither the code nor the benchmark."""

    @property
    def verdict(self) -> str:
        """`ok`, `over`, `failed`, or empty for a figure without a budget."""
        if self.value is None:
            return "failed"
        if self.most is None and self.least is None:
            return ""
        over = self.most is not None and self.value > self.most
        under = self.least is not None and self.value < self.least
        return "over" if over or under else "ok"

    @property
    def figure(self) -> str:
        """The value as text: small ones with three digits, large ones whole."""
        if self.value is None:
            return "none"
        return f"{self.value:,.0f}" if abs(self.value) >= 1000 else f"{self.value:.3g}"

    @property
    def budget(self) -> str:
        """The budget as text."""
        if self.most is not None:
            return f"at most {self.most:g}"
        return "" if self.least is None else f"at least {self.least:g}"


def failed(benchmark: str, error: BaseException) -> Row:
    """The row of a benchmark that did not come to its end."""
    said = " ".join(str(error).split())[:160]
    why = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return Row(benchmark, "could not be measured", None, means=why)


def as_text(rows: list[Row]) -> str:
    """The rows as a table for a terminal."""
    cells = [HEAD]
    cells += [(r.subject, r.name, r.figure, r.unit, r.budget, r.verdict, r.means) for r in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    lines = []
    for number, row in enumerate(cells):
        padded = [
            cell.rjust(width) if column == _FIGURE else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
        if number == 0:
            lines.append("  ".join("-" * width for width in widths))
    return "\n".join(lines)
