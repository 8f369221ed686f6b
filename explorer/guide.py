"""The guide: takes a person's own model through export, step by step, and says what to do next.

It exports; explains a failure and applies fixes that give nothing up; looks for what is wrong or
could vary; verifies; and leaves a report.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration
from explorer.exporting import explore
from explorer.free_sizes import free_sizes
from explorer.reply import Line, Reply
from explorer.report import GENERATOR, write_report
from explorer.text import failing_place

if TYPE_CHECKING:
    from export_engine import Progress
    from export_engine.fixes.autofix import Step

    Report = Callable[[Progress], None]

_MOST = 6
"""Lines of a kind that a step lists; the view has them all."""


@dataclass
class Guided:
    """What the guide did. `print` it, or leave it on the last line of a cell."""

    title: str
    """The call: `model(x)`."""
    steps: list[Reply] = field(default_factory=list)
    """In order; each says what was done, what came of it and what to do next."""
    exploration: Exploration | None = None
    """What came of it all; its history has every attempt. None before the first step is done."""
    report: Path | None = None
    """The HTML file that was left."""

    @property
    def ok(self) -> bool:
        """Whether it exports, and no guarantee that was checked is broken."""
        if self.exploration is None or not self.exploration.ok:
            return False
        checked = self.exploration.record.verification
        return checked is None or checked.verdict == "holds"

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
        dynamic_shapes: as for `explore`; if none are given, the guide finds out what may vary.
        strict: trace the bytecode instead of running the Python.
        report: the HTML file to write; by default one beside the notebook, named after the call.
        title: how to call the call; `model(...)` by default.
        name: by what name the person has the Exploration, for what to type next.
        cells: as for `explore`.
        progress: called within a step.
        tell: called as each step begins and ends, with what there is so far.

    Returns:
        What was done. An interrupt ends it; what was done until then stands.

    Raises:
        TypeError: `model` cannot be called, or not with these arguments.
        ShapesError: `dynamic_shapes` do not fit the call.
        KeyboardInterrupt: interrupted before there was anything to show.
    """
    called = getattr(model, "__name__", type(model).__name__)
    walk = _Walk(Guided(title or f"{called}(…)"), name, progress, tell)
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
    walk.end(_exported(walk.explored))
    for heading, step in _steps(walk, dynamic_shapes, report):
        if not walk.taken(heading, step):
            break
    return walk.guided


class _Walk:
    """Goes from step to step and tells of each."""

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

    @property
    def explored(self) -> Exploration:
        assert self.guided.exploration is not None
        return self.guided.exploration

    def begin(self, heading: str) -> None:
        number = len(self.guided.steps) + 1
        self.guided.steps.append(Reply(kind="open", title=f"{number}. {heading} …"))
        self._tell(self.guided)

    def end(self, reply: Reply) -> None:
        number = len(self.guided.steps)
        self.guided.steps[-1] = reply.titled(f"{number}. {reply.title}")
        self._tell(self.guided)

    def taken(self, heading: str, step: Callable[[], Reply]) -> bool:
        """Takes a step; False if the person interrupted it."""
        self.begin(heading)
        try:
            reply = step()
        except KeyboardInterrupt:
            stopped = "Interrupted. What was done before stands."
            self.end(Reply(kind="open", title=heading, reason=stopped))
            return False
        except Exception as error:  # noqa: BLE001 - one step that stumbles does not end the walk
            reply = Reply(
                kind="wrong",
                title=heading,
                reason=f"This step did not work: {type(error).__name__}: {error}",
                after="The others go on without it.",
            )
        self.end(reply)
        return True


def _steps(
    walk: _Walk, shapes: Any, report: str | Path | None
) -> Iterator[tuple[str, Callable[[], Reply]]]:
    """The steps after the first, as long as they make sense."""
    exploration = walk.explored
    if not exploration.ok:
        yield "Explain", lambda: _explained(exploration)
        yield "Fix", lambda: _fixed(exploration, walk)
    if exploration.ok:
        yield "Look for what is wrong", lambda: _found(exploration, walk)
        yield "Verify", lambda: _verified(exploration, walk.progress)
        if shapes is None:
            yield "Find what may vary", lambda: _varying(exploration, walk)
    yield "Report", lambda: _reported(walk, report)


def _exported(exploration: Exploration) -> Reply:
    record = exploration.record
    if exploration.ok:
        said = record.verdict.removeprefix("exported, ")
        return Reply(kind="right", title="Export", reason=f"It exports: {said}.")
    return Reply(kind="wrong", title="Export", reason="It does not export as it is.")


def _explained(exploration: Exploration) -> Reply:
    record = exploration.record
    failure = record.failure
    assert failure is not None
    place, code = failing_place(record)
    links = [Line("note", f"More: {each.text} {each.url}".strip()) for each in failure.links]
    where = f" It is in {place}." if place else ""
    return Reply(
        kind="note",
        title=f"Explain: {failure.kind}",
        reason=f"{failure.sentence}{where}",
        code=code.strip(),
        lines=links[:_MOST],
        after=failure.why,
    )


def _fixed(exploration: Exploration, walk: _Walk) -> Reply:
    found = exploration.autofix(walk.progress)
    lines = [_fix_line(step) for step in found.steps]
    if exploration.ok:
        after = "Your files and your model are as they were."
        if exploration.fixed_source:
            after += f" `{walk.name}.fixed_source` has the code with the fix in it, to be copied."
        return Reply(kind="right", title="Fix", reason=found.sentence, lines=lines, after=after)
    lines += _offers(exploration, walk.name)
    return Reply(
        kind="wrong",
        title="Fix: not by itself",
        reason=found.sentence,
        lines=lines[: 2 * _MOST],
        after=_undecided(exploration),
    )


def _fix_line(step: Step) -> Line:
    """A fix that was tried, and what came of it."""
    from export_engine import Failed

    if step.kept and isinstance(step.attempt, Failed):
        return Line("right", f"{step.fix.title}: gets further, to another failure")
    return Line("right" if step.kept else "open", step.sentence)


def _offers(exploration: Exploration, name: str) -> list[Line]:
    """The fixes that are left, each with what to type and what it gives up."""
    lines = []
    for number, fix in enumerate(exploration.fixes[:_MOST]):
        gives_up = f" Gives up: {fix.gives_up}" if fix.gives_up else ""
        lines.append(Line("note", f"`{name}.apply({number})`: {fix.title}.{gives_up}"))
    return lines


def _undecided(exploration: Exploration) -> str:
    """What a person can do where no lossless fix helps."""
    place, _ = failing_place(exploration.record)
    where = f" Change {place}, or what it calls," if place else " Change what the sentence names"
    if exploration.fixes:
        return (
            "What is left costs something, so it is for you to decide: apply one of those above, "
            f"here or in the view.{where} if none will do, and run the guide again."
        )
    return (
        f"No fix is known.{where} so that the sentence above no longer holds, and run the guide "
        "again. The view below has torch's own message, and what was traced until then."
    )


def _found(exploration: Exploration, walk: _Walk) -> Reply:
    findings = exploration.record.findings
    grave = [each for each in findings if each.severity != "note"]
    if not grave:
        more = f" {len(findings)} notes are under Findings." if findings else ""
        return Reply(
            kind="right",
            title="Look for what is wrong",
            reason=f"Nothing wrong or surprising was found.{more}",
        )
    lines = [
        Line("wrong" if each.severity == "wrong" else "note", each.sentence)
        for each in grave[:_MOST]
    ]
    return Reply(
        kind="wrong" if grave[0].severity == "wrong" else "note",
        title="Look for what is wrong",
        reason="It exports, and this should be looked at:",
        lines=[*lines, *_offers(exploration, walk.name)],
        after="Findings has each with its line, and why it matters.",
    )


def _varying(exploration: Exploration, walk: _Walk) -> Reply:
    heading = "Find what may vary"
    found = free_sizes(exploration, walk.progress)
    if found is None:
        said = "All sizes are those of the example. Which of them could vary was not found out."
        return Reply(kind="note", title=heading, reason=said)
    fixed = [Line("open", each) for each in found.fixed[: 2 * _MOST]]
    if not found.shapes:
        said = "All sizes are those of the example, and the code lets none vary."
        return Reply(kind="note", title=heading, reason=said, lines=fixed)
    after = "Give the sizes names of your own, and write `_` for each that should stay."
    if not found.confirmed:
        after = "`*` leaves it to torch which sizes may vary; Shapes says what came of it."
    return Reply(
        kind="note",
        title=heading,
        reason="All sizes are those of the example. These could vary:",
        code=f'%export --guide -d "{found.shapes}" {walk.guided.title}',
        lines=fixed,
        after=after,
    )


def _verified(exploration: Exploration, progress: Report | None) -> Reply:
    verified = exploration.verify(progress=progress)
    if verified.ok:
        return Reply(
            kind="right",
            title="Verify",
            reason=f"{verified.sentence} The program was run beside the model to find out.",
        )
    lines = [Line("wrong", f"{each.name}: {each.sentence}") for each in verified.broken]
    return Reply(
        kind="wrong",
        title="Verify",
        reason=verified.sentence,
        lines=lines[:_MOST],
        after="Do not ship it as it is: Verify shows each one with its evidence.",
    )


def _reported(walk: _Walk, path: str | Path | None) -> Reply:
    guided, exploration = walk.guided, walk.explored
    preface = "".join(each.html() for each in guided.steps[:-1])  # all but this one
    session = exploration._session
    file = Path(path) if path is not None else _free_name(guided.title)
    try:
        written = write_report(session, file, preface)
    except OSError:
        if path is not None:
            raise
        written = write_report(session, Path(tempfile.mkdtemp()) / file.name, preface)
    guided.report = written
    after = "It needs no kernel and no network: open it in a browser, or send it on."
    if exploration.ok:
        after += f' `{walk.name}.save("model.pt2")` writes the program itself.'
    return Reply(kind="right", title="Report", reason=f"Written: `{written}`", after=after)


def _free_name(title: str) -> Path:
    """A name in the current folder that no file has but an earlier report of ours."""
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
