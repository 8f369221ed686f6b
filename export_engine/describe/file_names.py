"""Names of the files in stacks: what to show for a path, and whose file it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from export_engine.record import SourceFile
from export_engine.source import LIBRARIES, MADE_UP, TORCH, original_file

Origin = Literal["cell", "user", "library", "torch", "generated"]


class FileNames:
    """The files of one Record, numbered in order of first use."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        """Make one.

        Args:
            cells: Python's file name of each notebook cell, and the name to show for it.
        """
        self._cells = cells
        self._numbers: dict[str, int] = {}
        self.entries: list[SourceFile] = []

    def number(self, path: str) -> int:
        """The number of a file, adding it where it is new."""
        known = self._numbers.get(path)
        if known is None:
            known = self._numbers[path] = len(self.entries)
            origin = self._origin(path)
            self.entries.append(SourceFile(path, self._name(path, origin), origin))
        return known

    def name_of(self, path: str) -> str:
        """The shown name of any file."""
        return self._name(path, self._origin(path))

    def _origin(self, path: str) -> Origin:
        path = original_file(path)
        if path in self._cells or "ipykernel_" in path or path.startswith("<ipython-input"):
            return "cell"
        if path.startswith((TORCH, MADE_UP)):
            return "torch"
        if path.startswith("<"):
            return "generated"
        return "library" if path.startswith(LIBRARIES) else "user"

    def _name(self, path: str, origin: Origin) -> str:
        original = original_file(path)
        if original != path:
            return f"{self._name(original, origin)} (fixed)"
        if path in self._cells:
            return self._cells[path]
        if origin == "cell":
            return "a cell of another session"
        if origin == "torch":
            return "torch/" + path.removeprefix(TORCH).removeprefix(MADE_UP)
        if origin == "library":
            for root in LIBRARIES:
                path = path.removeprefix(root)
            return path
        return Path(path).name or path
