"""The guide: takes a user's model through export step by step, and shows what to do next.

It exports, explains a failure, applies lossless fixes, looks for problems and dynamic sizes,
verifies, and writes a report.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from explorer.display.report import GENERATOR, write_report
from explorer.exploration import Exploration
from explorer.guiding.steps import (
    apply_lossless_fixes,
    explain_failure,
    report_export,
    report_findings,
    report_release,
    report_verification,
    varying,
)
from explorer.opening.exporting import explore
from explorer.session.internal_errors import find_defect
from explorer.text.escape import escape_html
from explorer.text.exit_codes import OK
from explorer.text.feedback import Choice, Reply
from export_engine.defects import log_internal_error
from export_engine.plain_errors import describe_error

if TYPE_CHECKING:
    from export_engine.progress import Report


@dataclass
class Guided:
    """The guide's result. `print` it, or leave it on the last line of a cell."""

    title: str
    """The call: `model(x)`."""
    steps: list[Reply] = field(default_factory=list)
    """In order; each has what was done, the result, and what to do next."""
    exploration: Exploration | None = None
    """The resulting Exploration, with every attempt; None before the first step is done."""
    report: Path | None = None
    """The HTML report."""
    seconds: float = 0
    """The time that the guide took, its last choice included."""
    go_on: Callable[[int, Choice, Report | None], None] | None = field(default=None, repr=False)

    @property
    def choices(self) -> list[Choice]:
        """The open decisions of the steps, in order."""
        return [choice for step in self.steps for choice in step.choices]

    def take(self, number: int, progress: Report | None = None) -> None:
        """Makes a choice and continues from its step. Later steps are replaced.

        Args:
            number: of `choices`.
            progress: called within a step.

        Raises:
            IndexError: there is no such choice.
            FixError: it cannot be taken; nothing has changed.
            KeyboardInterrupt: interrupted before it was taken; nothing has changed.
        """
        at, choice = [(at, offer) for at, step in enumerate(self.steps) for offer in step.choices][
            number
        ]
        assert self.go_on is not None
        self.go_on(at, choice, progress)

    @property
    def ok(self) -> bool:
        """Whether it exports, all checks passed, and no guarantee was skipped.

        `exploration.release_report()` lists the checks that are left.
        """
        if self.exploration is None:
            return False
        return self.exploration.release_report().exit_code(("verification",)) == OK

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.steps))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}

    def html(self) -> str:
        """The steps as HTML; all text is escaped."""
        return "".join(step.html() for step in self.steps)


def guide(
    model: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    report: str | Path | None = None,
    title: str = "",
    name: str = "guided.exploration",
    cells: Mapping[str, str] | None = None,
    progress: Report | None = None,
    tell: Callable[[Guided], None] | None = None,
) -> Guided:
    """Takes a call through export.

    Args:
        model: a module, or any other callable.
        args: the call's positional arguments.
        kwargs: its keyword arguments.
        dynamic_shapes: as for `explore`; if none are given, the guide finds them.
        strict: trace the bytecode instead of running the Python.
        report: the HTML file to write; by default a file next to the notebook, named after the
            call.
        title: the call's title; `model(...)` by default.
        name: the variable that holds the Exploration, for hints on what to type next.
        cells: as for `explore`.
        progress: called within a step.
        tell: called as each step begins and ends, with the result so far.

    Returns:
        The result. An interrupt ends the guide; completed steps are kept.

    Raises:
        TypeError: `model` cannot be called, or not with these arguments.
        ShapesError: `dynamic_shapes` do not fit the call.
        KeyboardInterrupt: interrupted before the first step was done.
    """
    from export_engine.attempt import name_of

    walk = _Walk(Guided(title or f"{name_of(model)}(…)"), name, progress, tell)
    walk.begin("Export")
    walk.guided.exploration = explore(
        model,
        args,
        kwargs,
        dynamic_shapes=dynamic_shapes,
        strict=strict,
        title=walk.guided.title,
        cells=cells,
        progress=progress,
    )
    walk.end(report_export(walk.explored))
    walk.explored.session.guided = walk.guided
    walk.go(_steps(walk, dynamic_shapes, report))

    def go_on(at: int, choice: Choice, progress: Report | None) -> None:
        walk.progress, walk.began = progress, time.perf_counter()
        choice.take(progress)
        step = replace(walk.guided.steps[at], choices=())
        reply = Reply(kind="right", title=f"{at + 2}. You chose: {choice.title}")
        walk.guided.steps[at:] = [step, reply]
        request = walk.explored.session.entry.request
        walk.go(_steps(walk, request.shapes if request else None, report))

    walk.guided.go_on = go_on
    return walk.guided


class _Walk:
    """Runs the steps and reports each."""

    def __init__(
        self,
        guided: Guided,
        name: str,
        progress: Report | None,
        tell: Callable[[Guided], None] | None,
    ) -> None:
        self.guided = guided
        self.name = name
        self.progress = progress
        self._tell = tell or (lambda guided: None)
        self.began = time.perf_counter()

    @property
    def explored(self) -> Exploration:
        assert self.guided.exploration is not None
        return self.guided.exploration

    def go(self, steps: Iterator[tuple[str, Callable[[], Reply]]]) -> None:
        """Takes steps until one is interrupted."""
        for heading, step in steps:
            if not self.run_step(heading, step):
                break
        self.guided.seconds = time.perf_counter() - self.began

    def begin(self, heading: str) -> None:
        number = len(self.guided.steps) + 1
        self.guided.steps.append(Reply(kind="open", title=f"{number}. {heading} …"))
        self._tell(self.guided)

    def end(self, reply: Reply) -> None:
        number = len(self.guided.steps)
        self.guided.steps[-1] = reply.with_title(f"{number}. {reply.title}")
        self._tell(self.guided)

    def run_step(self, heading: str, step: Callable[[], Reply]) -> bool:
        """Runs a step; False if the user interrupted it."""
        self.begin(heading)
        try:
            reply = step()
        except KeyboardInterrupt:
            stopped = "Interrupted. Completed steps are kept."
            self.end(Reply(kind="open", title=heading, reason=stopped))
            return False
        except Exception as error:  # noqa: BLE001 - one step that stumbles does not end the walk
            log_internal_error(error, "taking a step of the guide")
            defect = find_defect(error, f"taking the step `{heading}` of the guide")
            text = f"This step did not work: {describe_error(error)}"
            reply = Reply(
                kind="wrong",
                title=heading,
                reason=str(defect) if defect else text,
                code=defect.report if defect else "",
                after="The other steps continue without it.",
            )
        self.end(reply)
        return True


def _steps(
    walk: _Walk, shapes: Any, report: str | Path | None
) -> Iterator[tuple[str, Callable[[], Reply]]]:
    """The steps after the first, as far as they apply."""
    exploration, progress, name = walk.explored, walk.progress, walk.name
    if not exploration.ok:
        yield "Explain", lambda: explain_failure(exploration)
        yield "Fix", lambda: apply_lossless_fixes(exploration, name, progress)
    if exploration.ok:
        yield "Check for problems", lambda: report_findings(exploration, name)
        yield "Verify", lambda: report_verification(exploration, progress)
        if shapes is None:
            yield "Find dynamic sizes", lambda: varying(exploration, walk.guided.title, progress)
        yield "Release", lambda: report_release(exploration, name)
    yield "Report", lambda: _write_report(walk, report)


def _write_report(walk: _Walk, path: str | Path | None) -> Reply:
    guided, exploration = walk.guided, walk.explored
    heading = f'<h1 style="font-size: 1.2em">{escape_html(guided.title)}, step by step</h1>'
    preface = heading + "".join(step.html() for step in guided.steps[:-1])  # all but this one
    session = exploration.session
    file = Path(path) if path is not None else _free_name(guided.title)
    try:
        written = write_report(session, file, preface=preface)
    except OSError:
        if path is not None:
            raise
        written = write_report(session, Path(tempfile.mkdtemp()) / file.name, preface=preface)
    guided.report = written
    after = "It needs no kernel and no network: open it in a browser, or share it."
    if exploration.ok:
        after += f' `{walk.name}.save("model.pt2")` saves the program itself.'
    link = "" if written.is_absolute() else quote(written.as_posix())
    text = f"Written: `{written}`"
    return Reply(kind="right", title="Report", reason=text, link=link, after=after)


def _free_name(title: str) -> Path:
    """A file name in the current folder that is free, or an earlier report of this guide."""
    stem = re.sub(r"\W+", "-", title.partition("(")[0]).strip("-") or "model"
    number = 1
    while True:
        path = Path(f"{stem}-export{'' if number == 1 else f'-{number}'}.html")
        if not path.exists() or _is_ours(path):
            return path
        number += 1


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return GENERATOR in file.read(2000)
    except (OSError, UnicodeDecodeError):
        return False
