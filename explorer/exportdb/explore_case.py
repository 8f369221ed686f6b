"""From the text of an ExportDB case to an Exploration of it, in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from explorer.exploration import Exploration
from explorer.opening.exporting import explore

if TYPE_CHECKING:
    from export_engine.progress import Progress


def explore_case(
    name: str, source: str, progress: Callable[[Progress], None] | None = None
) -> Exploration:
    """Runs a text in a module of its own and exports the call that it describes.

    Raises:
        SourceProblem: the text is not valid Python, raises an error, or describes no call.
        KeyboardInterrupt: interrupted.
    """
    from export_engine.exportdb import request_of

    request = request_of(name, source)
    return explore(
        request.target,
        request.args,
        request.kwargs,
        dynamic_shapes=request.shapes,
        both=True,
        title=request.title,
        cells=request.cells,
        progress=progress,
    )
