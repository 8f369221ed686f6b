"""A `.pte` file of ExecuTorch's, opened as data: `explorer.load("model.pte")`."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.text.escape import harmless
from explorer.text.pte_text import memory_plan_svg, pte_lines
from explorer.text.validate_options import check_writable

if TYPE_CHECKING:
    from export_engine.pte import Plan, PteProgram


class PteFile:
    """What a `.pte` file holds. `print` it; a notebook shows its memory plan, too.

    Nothing in the file was run, and torch is not imported.
    """

    def __init__(self, path: str | Path) -> None:
        """Reads a file.

        Args:
            path: of it.

        Raises:
            PteError: it is not a `.pte`, or not a whole one.
            OSError: it cannot be read.
        """
        from export_engine.pte import read_pte

        self.path = Path(path)
        self.data: PteProgram = read_pte(self.path)
        """All of it as plain data."""

    @property
    def plans(self) -> tuple[Plan, ...]:
        """Its methods: operators, delegates, instructions, memory plan."""
        return tuple(self.data.plans)

    def to_json(self, path: str | Path) -> Path:
        """Writes what it holds as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        import msgspec

        file = Path(path)
        check_writable(file)
        file.write_bytes(msgspec.json.encode(self.data))
        return file

    def __repr__(self) -> str:
        return harmless("\n".join(pte_lines(self.path.name, self.data)))

    def _repr_html_(self) -> str:
        pictures = "".join(memory_plan_svg(plan) for plan in self.data.plans)
        return f"<pre>{escape(repr(self))}</pre>{pictures}"
