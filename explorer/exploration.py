"""The Exploration: what `%export` and `explorer.explore` give the user to hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from explorer.escape import harmless
from explorer.session import Entry, FixError, Session

if TYPE_CHECKING:
    import graphviz
    import torch

    from export_engine import (
        Attempt,
        AutofixReport,
        Diagnosis,
        Finding,
        Fix,
        ProbeResult,
        Progress,
        Record,
        Request,
        Verified,
    )


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
    def diagnosis(self) -> Diagnosis | None:
        """Why the export failed; None if it did not."""
        from export_engine import Failed

        attempt = self._session.entry.attempt
        return attempt.diagnosis if isinstance(attempt, Failed) else None

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """What may help, lossless fixes first; of an export, the fixes of its findings."""
        return self._session.entry.fixes

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong or surprising about an export that succeeded, the gravest first."""
        return self._session.entry.findings

    def decompose(
        self, table: str = "core", progress: Callable[[Progress], None] | None = None
    ) -> Self:
        """Decomposes the program; the decomposed one becomes the current attempt.

        Args:
            table: `core` (Core ATen), `none`, `core -conv2d -linear` (which stay whole), or
                `only t transpose`.
            progress: called for each op.

        Raises:
            FixError: there is no program, the table means nothing, or torch cannot decompose it.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        self._session.decompose(self._session.current, table, progress)
        return self

    def verify(
        self, sizes: int = 8, progress: Callable[[Progress], None] | None = None
    ) -> Verified:
        """Checks the guarantees that torch.export claims, on this program. `print` what it gives.

        Args:
            sizes: how many sizes within the contract to compare with eager at.
            progress: called before each check.

        Raises:
            ExportFailed: there is no program, since the export failed.
            KeyboardInterrupt: interrupted; everything is as it was.
        """
        if not self.ok:
            raise self._no("program")
        return self._session.verify(self._session.current, sizes, progress)

    def probe(self, **sizes: int) -> ProbeResult:
        """Whether the program takes sizes, and what it gives back for them, without running it.

        Args:
            sizes: values of symbols by their names, `batch=3`; a single size by its place, with
                `**{"x.shape[0]": 3}`. The others are as in the example.

        Raises:
            ExportFailed: there is no program, since the export failed.
            ValueError: there is no such symbol or place.
        """
        from export_engine.probe import probe_named

        if not self.ok:
            raise self._no("program")
        return probe_named(self.record, sizes)

    @property
    def fixed_source(self) -> dict[str, str]:
        """Per file or cell that code fixes changed, its whole text with the fixes in it.

        The files themselves are as they were.
        """
        request = self._session.entry.attempt.request
        return {edit.file: edit.after for edit in request.edits} if request else {}

    def apply(self, *fixes: Fix | int, progress: Callable[[Progress], None] | None = None) -> Self:
        """Applies fixes of the current attempt, together, and exports again.

        The new attempt becomes the current one if it exports, or if nothing did before.

        Args:
            fixes: some of `fixes`, or their numbers there.
            progress: called while it runs.

        Raises:
            FixError: they are not this attempt's, or cannot be applied together.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        offered = list(self.fixes)
        numbers = []
        for fix in fixes:
            if not isinstance(fix, int) and fix not in offered:
                raise FixError(f"{fix.title} is not among the fixes of this attempt: ex.fixes.")
            numbers.append(fix if isinstance(fix, int) else offered.index(fix))
        self._session.apply(self._session.current, numbers, progress)
        return self

    def autofix(self, progress: Callable[[Progress], None] | None = None) -> AutofixReport:
        """Applies lossless fixes until it exports and agrees with eager, or none is left.

        Raises:
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        return self._session.autofix(self._session.current, progress)

    def undo(self) -> Self:
        """Goes back to the attempt that the current one was made from.

        Raises:
            FixError: it is the first.
        """
        parent = self._session.entry.parent
        if parent < 0:
            raise FixError("There is nothing to undo: this is the first attempt.")
        self._session.use(parent)
        return self

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

    def save(self, path: str | Path) -> Path:
        """Writes the program into a `.pt2` file, with the Record and the source text beside it.

        `explorer.load` shows it as it is shown here; torch and other tools read it as any other.

        Raises:
            ArchiveError: torch cannot save this program, or the file cannot be written.
            ExportFailed: there is no program, since the export failed.
        """
        from export_engine import Exported, save

        attempt = self._session.entry.attempt
        if not isinstance(attempt, Exported):
            raise self._no("program")
        return save(attempt, self.record, path)

    def to_html(self, path: str | Path) -> Path:
        """Writes one HTML file with the whole view, for reading without a kernel or a network.

        Raises:
            OSError: the file cannot be written.
            FrontEndMissing: the front end was not built.
        """
        from explorer.report import write_report

        return write_report(self._session, path)

    def widget(self, pane: str, fallback: Mapping[str, str]) -> Any:
        """A widget of the current attempt. `fallback` is shown where no widget runs."""
        from explorer.answers import Answers
        from widgets import ExplorerWidget

        session, answers = self._session, Answers(self._session)
        widget = ExplorerWidget(
            **_state(session), answer=answers, view=pane, fallback=lambda: dict(fallback)
        )
        answers.progress = widget.progress
        session.watch(lambda: widget.update(**_state(session)))
        return widget

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


def _state(session: Session) -> dict[str, Any]:
    """What a widget shows without asking."""
    return {
        "attempts": [entry.head() for entry in session.entries],
        "current": session.current,
        "record": session.entry.encoded,
    }


def explore(
    model: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    both: bool = False,
    fix: bool = False,
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
        fix: if it does not export, apply lossless fixes until it does or none is left.
        title: how to call the call; `model(...)` by default.
        cells: Python's file name of each notebook cell, and the name to show for it.
        progress: called on each module that tracing enters, and as fixes are tried.

    Raises:
        TypeError: `model` cannot be called, or not with these arguments.
        ShapesError: `dynamic_shapes` do not fit the call.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine import Request, Shapes

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
    session = Session([Entry(each.mode, _explained(each, progress)) for each in requests])
    if fix and not session.entry.ok:
        with suppress(KeyboardInterrupt):  # the failure and its fixes are worth keeping
            session.autofix(session.current, progress)
    return Exploration(session)


def side_by_side(before: Exploration, after: Exploration, path: str | Path) -> Path:
    """Writes one HTML file with two programs, to be compared there.

    Raises:
        OSError: the file cannot be written.
        FrontEndMissing: the front end was not built.
    """
    from explorer.report import write_report

    first, second = before._session.entry, after._session.entry
    session = Session(
        [
            Entry(first.label, first.attempt, step=f"Before: {first.record.title}"),
            Entry(second.label, second.attempt, parent=0, step=f"After: {second.record.title}"),
        ]
    )
    session.use(1)
    return write_report(session, path)


def _explained(request: Request, progress: Callable[[Progress], None] | None) -> Attempt:
    """An attempt; one that failed comes with its diagnosis and fixes."""
    from export_engine import Failed, capture, explain

    attempt = capture(request, progress)
    return explain(attempt, progress) if isinstance(attempt, Failed) else attempt


def load(path: str | Path) -> Exploration:
    """Opens a `.pt2` file. Nothing in it is run.

    Raises:
        ArchiveError: there is no such file, or it is not a program that this torch can read.
    """
    from export_engine import load as load_attempt

    return Exploration(Session([Entry("loaded", load_attempt(path))]))
