"""The Exploration: what `%export` and `explorer.explore` give the user to hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.escape import harmless
from explorer.session import Entry, Session

if TYPE_CHECKING:
    import graphviz
    import torch

    from export_engine import Attempt, Progress, Record


class ExportFailed(RuntimeError):
    """Raised where a program is asked of an export that failed. torch's own error is its cause."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows the sentence; the view has the traceback."""
        return [str(self)]


class View:
    """One pane of an exploration, to stand in a cell of its own."""

    def __init__(self, exploration: Exploration, pane: str) -> None:
        """Make one.

        Args:
            exploration: whose pane.
            pane: `all`, graph, signature, source, shapes or code.
        """
        self._exploration = exploration
        self._pane = pane

    def _repr_mimebundle_(self, **options: Any) -> Any:
        from widgets import FrontEndMissing

        try:
            return self._exploration.widget(self._pane, self._static())._repr_mimebundle_(**options)
        except FrontEndMissing as missing:
            return self._static(note=str(missing))

    def __repr__(self) -> str:
        from explorer.pane_text import pane_text
        from explorer.text import summary

        record = self._exploration.record
        if self._pane == "all" or record.failure:
            return summary(record, self._exploration.other_verdicts)
        title = harmless(f"{record.title}: {record.verdict}")
        return "\n".join([title, *pane_text(record, self._pane)])

    def _static(self, **options: str) -> dict[str, str]:
        """What is shown where no widget runs."""
        from explorer.picture import static_html

        exploration = self._exploration
        page = static_html(exploration.record, self._pane, exploration.other_verdicts, **options)
        return {"text/plain": repr(self), "text/html": page}


class Exploration:
    """An export and all that is known of it.

    Show it by leaving it on the last line of a cell. `graph`, `signature`, `source`, `shapes` and
    `code` are its panes, each to be shown alone.
    """

    def __init__(self, session: Session) -> None:
        """Make one.

        Args:
            session: the attempts behind it.
        """
        self._session = session

    @property
    def program(self) -> torch.export.ExportedProgram:
        """The ExportedProgram.

        Raises:
            ExportFailed: there is none, since the export failed.
        """
        from export_engine import Exported

        attempt = self._session.entry.attempt
        if isinstance(attempt, Exported):
            return attempt.program
        raise self._no("program")

    @property
    def ok(self) -> bool:
        """Whether there is a program."""
        return self.record.outcome == "exported"

    @property
    def record(self) -> Record:
        """All that a view shows, as plain data."""
        return self._session.entry.record

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt, the oldest first; with `--both`, one per mode."""
        return tuple(entry.attempt for entry in self._session.entries)

    @property
    def other_verdicts(self) -> list[str]:
        """A line for each attempt that is not the one shown."""
        shown = self._session.entry
        return [each.record.verdict for each in self._session.entries if each is not shown]

    @property
    def graph(self) -> View:
        """The graph alone."""
        return View(self, "graph")

    @property
    def signature(self) -> View:
        """The inputs and outputs alone."""
        return View(self, "signature")

    @property
    def source(self) -> View:
        """The source files alone."""
        return View(self, "source")

    @property
    def shapes(self) -> View:
        """The symbols, ranges and guards alone."""
        return View(self, "shapes")

    @property
    def code(self) -> View:
        """The printed graph alone."""
        return View(self, "code")

    def dot(self, *, full: bool = False) -> graphviz.Digraph:
        """The graph for Graphviz: its top-level scopes, or with `full` every op.

        Raises:
            ExportFailed: there is no graph, since the export failed.
        """
        from explorer.dot import dot_graph

        if not self.ok:
            raise self._no("graph")
        return dot_graph(self.record, full)

    def save_graph(self, path: str | Path, *, full: bool = False) -> Path:
        """Draws the graph into an .svg, .pdf, .png or .dot file, and returns its path.

        Raises:
            DotMissing: Graphviz's `dot` is not installed (a .dot file needs none).
            ExportFailed: there is no graph, since the export failed.
            ValueError: the file's ending says no format, or one that Graphviz lacks.
        """
        from explorer.dot import save_graph

        if not self.ok:
            raise self._no("graph")
        return save_graph(self.record, path, full)

    def widget(self, pane: str, fallback: Mapping[str, str]) -> Any:
        """A widget of the current attempt. `fallback` is shown where no widget runs."""
        from explorer.answers import Answers
        from widgets import ExplorerWidget

        return ExplorerWidget(
            attempts=[entry.head() for entry in self._session.entries],
            current=self._session.current,
            record=self._session.entry.encoded,
            answer=Answers(self._session),
            view=pane,
            fallback=lambda: dict(fallback),
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return View(self, "all")._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        return repr(View(self, "all"))

    def _no(self, what: str) -> ExportFailed:
        """The error that says that there is no such thing."""
        from export_engine import Failed

        attempt, failure = self._session.entry.attempt, self.record.failure
        sentence = harmless(failure.sentence) if failure else ""
        raised = ExportFailed(f"There is no {what}: the export failed. {sentence}")
        raised.__cause__ = attempt.error if isinstance(attempt, Failed) else None
        return raised


def explore(
    model: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    both: bool = False,
    title: str = "",
    cells: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Exports a call and returns what is in it, whether or not it exports.

    Args:
        model: a module, or any other callable.
        args: the call's positional arguments; they decide what is static.
        kwargs: its keyword arguments.
        dynamic_shapes: what is dynamic: the short language, `"x: batch, _"`, a Shapes, or whatever
            `torch.export.export` takes.
        strict: trace the bytecode instead of running the Python.
        both: try both modes.
        title: how to call the call; `model(...)` by default.
        cells: Python's file name of each notebook cell, and the name to show for it.
        progress: called on each module that tracing enters.

    Raises:
        TypeError: `model` cannot be called, or not with these arguments.
        ShapesError: `dynamic_shapes` do not fit the call.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine import Request, Shapes, capture

    if not isinstance(args, tuple | list):
        raise TypeError(
            f"args is a {type(args).__name__}. Give the positional arguments as a tuple: "
            "explore(model, (x,))"
        )
    given = Shapes.parse(dynamic_shapes) if isinstance(dynamic_shapes, str) else dynamic_shapes
    name = getattr(model, "__name__", type(model).__name__)
    request = Request(
        target=model,
        args=tuple(args),
        kwargs=dict(kwargs or {}),
        shapes=given,
        strict=strict,
        title=title or f"{name}(…)",
        cells=dict(cells or {}),
    )
    modes = (False, True) if both else (strict,)
    requests = [request.with_changes(strict=mode) for mode in modes]
    return Exploration(Session([Entry(each.mode, capture(each, progress)) for each in requests]))


def load(path: str | Path) -> Exploration:
    """Opens a `.pt2` file. Nothing in it is run.

    Raises:
        ArchiveError: there is no such file, or it is not a program that this torch can read.
    """
    from export_engine import load as load_attempt

    return Exploration(Session([Entry("loaded", load_attempt(path))]))
