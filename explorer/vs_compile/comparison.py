"""One call with torch.compile and with torch.export."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration
from explorer.opening.exporting import explore

if TYPE_CHECKING:
    from export_engine.progress import Progress
    from export_engine.record import CompileReport


class CompileComparison:
    """The comparison. Leave it on the last line of a cell, or `print` it."""

    def __init__(self, exploration: Exploration, report: CompileReport) -> None:
        """Make one.

        Args:
            exploration: of the export.
            report: both sides, as plain data.
        """
        self.exploration = exploration
        self.report = report

    def bundle(self) -> dict[str, str]:
        """The HTML in a notebook."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __repr__(self) -> str:
        from explorer.vs_compile.text import report_text

        return report_text(self.report)

    def _repr_html_(self) -> str:
        from explorer.vs_compile.html import report_html

        return report_html(self.report)


def compare_with_compile(
    model: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    sizes: str | Iterable[int] | None = None,
    dynamic_shapes: Any = None,
    strict: bool = False,
    title: str = "",
    cells: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> CompileComparison:
    """Exports a call, runs it under torch.compile, and compares both.

    The model is called once per size. Your own compiled functions are not affected.

    Args:
        model: a module, or any other callable.
        args: the call's positional arguments.
        kwargs: its keyword arguments.
        sizes: `"512,1024,2048"`, `"batch=512,1024"`, or numbers. They apply to the first Dim, or to
            the first size of the first tensor; without `dynamic_shapes`, that size is left to torch
            (`*`) in the export.
        dynamic_shapes: the dynamic sizes of the export, as for `explore`.
        strict: the mode of the export.
        title: the call's title.
        cells: Python's file name of each notebook cell, and the name to show for it; by default
            those of the notebook that runs this.
        progress: called while it runs.

    Raises:
        TypeError: `model` cannot be called, or not with these arguments.
        ValueError: the sizes or shapes do not fit the call.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.attempt import Request
    from export_engine.shapes import Shapes
    from export_engine.vs_compile import compare_with_compile as compared
    from export_engine.vs_compile import sizes_to_try

    value = Shapes.parse(dynamic_shapes) if isinstance(dynamic_shapes, str) else dynamic_shapes
    request = Request(
        target=model, args=tuple(args), kwargs=dict(kwargs or {}), dynamic_shapes=value
    )
    wanted = sizes_to_try(request, sizes) if sizes is not None else None
    if wanted is not None:
        request = wanted.varying(request)
    exploration = explore(
        model,
        request.args,
        request.kwargs,
        dynamic_shapes=request.dynamic_shapes or request.shapes,
        strict=strict,
        title=title,
        cells=cells,
        progress=progress,
    )
    report = compared(exploration.session.attempts[0], exploration.record, wanted, progress)
    return CompileComparison(exploration, report)
