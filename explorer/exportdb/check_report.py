"""What `%exportdb --check` found, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.text.escape import escape_html, harmless

if TYPE_CHECKING:
    from export_engine.record import CaseCheck

_HEADINGS = ("case", "declared", "non-strict", "strict")


class CheckReport:
    """Every case of ExportDB: what torch declares beside what it does."""

    def __init__(self, rows: Sequence[CaseCheck], torch_version: str) -> None:
        """Make one.

        Args:
            rows: one per case.
            torch_version: of the torch that was checked.
        """
        self.rows = tuple(rows)
        self.torch_version = torch_version

    @property
    def ok(self) -> bool:
        """Whether every case does what is declared of it, in both modes."""
        return all(row.as_declared for row in self.rows)

    @property
    def sentence(self) -> str:
        """How many cases do."""
        if not self.rows:
            return f"torch {self.torch_version} has no ExportDB."
        good = sum(row.as_declared for row in self.rows)
        return (
            f"ExportDB of torch {self.torch_version}: {len(self.rows)} cases, {good} behave as "
            "declared in both modes."
        )

    def __repr__(self) -> str:
        names = max([len(row.name) for row in self.rows] or [0])
        lines = [f"  {_HEADINGS[0]:<{names}}  {_HEADINGS[1]:<17}  {_HEADINGS[2]:<10}  strict"]
        for row in self.rows:
            modes = "  ".join(f"{outcome.outcome:<10}" for outcome in row.outcomes)
            mark = "✓" if row.as_declared else "✗"
            lines.append(f"{mark} {row.name:<{names}}  {row.level:<17}  {modes}".rstrip())
        return "\n".join([self.sentence, *lines, *self._reasons()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{text}</th>" for text in ("", *_HEADINGS))
        body = "".join(_row(row) for row in self.rows)
        return f"<p>{escape_html(self.sentence)}</p><table><tr>{head}</tr>{body}</table>"

    def _reasons(self) -> list[str]:
        """Why a case failed or differs."""
        texts = [
            harmless(f"{row.name}, {outcome.mode}: {outcome.sentence}")
            for row in self.rows
            for outcome in row.outcomes
            if outcome.outcome != "agrees"
        ]
        return ["", *texts] if texts else []


def _row(row: CaseCheck) -> str:
    modes = "".join(
        f'<td title="{escape_html(outcome.sentence)}">{escape_html(outcome.outcome)}</td>'
        for outcome in row.outcomes
    )
    mark = "✓" if row.as_declared else "✗"
    return f"<tr><td>{mark}</td><td>{escape_html(row.name)}</td><td>{row.level}</td>{modes}</tr>"
