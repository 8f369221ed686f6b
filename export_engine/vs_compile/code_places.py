"""Lines of the user's code, as a reader knows them."""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping

from export_engine.describe import FileNames
from export_engine.record import CodePlace
from export_engine.source import Location

_RESUMED = re.compile(r"(?:torch_dynamo_resume_in_)+(?P<function>.*)_at_(?P<line>\d+)$")


class Places:
    """Names files as a Record does."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        """Make one.

        Args:
            cells: Python's file name of each notebook cell, and the name to show for it.
        """
        self._names = FileNames(cells)

    def of(self, location: Location) -> CodePlace:
        """A line. A function that Dynamo made for the rest of another has the name of that one."""
        return CodePlace(
            file=self._names.name_of(location.file),
            line=location.line,
            function=find_resume_place(location.function)[0],
            text=linecache.getline(location.file, location.line).strip(),
        )


def find_resume_place(function: str) -> tuple[str, int]:
    """The user's function for a name of Dynamo's, and the line it resumes at; 0: the start."""
    match = _RESUMED.search(function)
    return (match["function"], int(match["line"])) if match else (function, 0)
