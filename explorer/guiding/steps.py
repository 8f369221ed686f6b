"""The steps of the guide: what each does, reports and recommends next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from explorer.exploration import Exploration
from explorer.guiding.free_sizes import free_sizes
from explorer.session.session import Session
from explorer.text.attempt_text import failing_place
from explorer.text.feedback import Choice, Kind, Line, Reply

if TYPE_CHECKING:
    from explorer.text.release_verdict import ReleaseItem
    from export_engine.attempt import Fix
    from export_engine.fixes import Step
    from export_engine.progress import Report


_MOST = 6
"""Lines of a kind that a step lists; the view has them all."""


def report_export(exploration: Exploration) -> Reply:
    """Whether the call exports without changes."""
    record = exploration.record
    if exploration.ok:
        text = record.verdict.removeprefix("exported, ")
        return Reply(kind="right", title="Export", reason=f"It exports: {text}.")
    return Reply(kind="wrong", title="Export", reason="The export fails.")


def explain_failure(exploration: Exploration) -> Reply:
    """Why it does not export."""
    record = exploration.record
    failure = record.failure
    assert failure is not None
    place, code = failing_place(record)
    links = [Line("note", f"More: {link.text}", link.url) for link in failure.links]
    lesson = _lesson_on(failure.kind)
    if lesson:
        notebook = f"notebooks/{lesson}.ipynb"
        link = notebook if Path(notebook).is_file() else ""
        links.append(Line("note", f"Learn: `{notebook}` explains this.", link))
    where = f" It is in {place}." if place else ""
    return Reply(
        kind="note",
        title=f"Explain: {failure.kind}",
        reason=f"{failure.sentence}{where}",
        code=code.strip(),
        lines=links[:_MOST],
        after=failure.why,
    )


def _lesson_on(kind: str) -> str:
    """The lesson's notebook on a kind of failure; empty if there is none."""
    from explorer.lessons.course import COURSE
    from export_engine.attempt import Kind

    lessons = {
        "strict_and_non_strict": (Kind.ASSERT_ON_DATA, Kind.DATA_WRITE, Kind.GRAPH_BREAK),
        "graph_breaks_and_cond": (
            Kind.BRANCH_ON_DATA,
            Kind.COND_BRANCHES_DIFFER,
            Kind.COND_MUTATES,
            Kind.COND_ALIASES,
        ),
        "static_and_dynamic_dims": (Kind.EXAMPLE_OUT_OF_RANGE, Kind.ZERO_ONE),
        "relations_and_derived_dims": (Kind.SHAPES_VIOLATED, Kind.UNBACKED_SIZE),
        "data_dependent_shapes": (
            Kind.BRANCH_ON_UNBACKED,
            Kind.LOOP_ON_DATA,
            Kind.OUTPUT_FROM_DATA,
        ),
        "custom_ops": (Kind.NO_FAKE_KERNEL,),
        "soundness": (Kind.COND_SIDE_EFFECT, Kind.TENSOR_LEAK),
    }
    for number, name in enumerate(COURSE, start=1):
        if kind in lessons.get(name, ()):
            return f"{number:02d}_{name}"
    return ""


def apply_lossless_fixes(exploration: Exploration, name: str, progress: Report | None) -> Reply:
    """Applies lossless fixes; if they are not enough, says what is left to decide."""
    autofix_report = exploration.autofix(progress)
    lines = [_fix_line(step) for step in autofix_report.steps]
    if exploration.ok:
        after = "Your files and your model are unchanged."
        if exploration.session.fixed_source:
            after += f" `{name}.session.fixed_source` has the fixed code, to copy."
        return Reply(
            kind=_kind_of(exploration, "export"),
            title="Fix",
            reason=autofix_report.sentence,
            lines=lines,
            after=after,
        )
    lines += _offers(exploration, name)
    return Reply(
        kind="wrong",
        title="Fix: needs your decision",
        reason=autofix_report.sentence,
        lines=lines[: 2 * _MOST],
        after=_describe_open_decision(exploration),
        choices=_choices(exploration),
    )


def _fix_line(step: Step) -> Line:
    """A tried fix and its result."""
    from export_engine.attempt import Failed

    if step.kept and isinstance(step.attempt, Failed):
        return Line("right", f"{step.fix.title}: gets further, then fails elsewhere")
    return Line("right" if step.kept else "open", step.sentence)


def _offers(exploration: Exploration, name: str) -> list[Line]:
    """The fixes that are left, each with what to type and what it gives up."""
    lines = []
    for number, fix in enumerate(exploration.fixes[:_MOST]):
        gives_up = f" Gives up: {fix.gives_up}" if fix.gives_up else ""
        lines.append(Line("note", f"`{name}.apply_fixes({number})`: {fix.title}.{gives_up}"))
    return lines


def _choices(exploration: Exploration) -> list[Choice]:
    """The same fixes, to take."""
    session, number = exploration.session, exploration.session.current

    def choice_of(at: int, fix: Fix) -> Choice:
        def take(progress: Report | None) -> object:
            return session.apply(number, [at], progress)

        return Choice(f"Apply: {fix.title}", f"Gives up: {fix.gives_up}" if fix.lossy else "", take)

    return [choice_of(at, fix) for at, fix in enumerate(exploration.fixes[:_MOST])]


def _describe_open_decision(exploration: Exploration) -> str:
    """A sentence on what to do if no lossless fix helps."""
    place, _ = failing_place(exploration.record)
    where = f" Change {place}, or what it calls," if place else " Change the cause named above,"
    if exploration.fixes:
        return (
            "The remaining fixes are lossy, so you decide: apply one of those above, with its "
            f"button below or in the view.{where} if none fits, and run the guide again."
        )
    return (
        f"No fix is known.{where} and run the guide again. The view below shows torch's message "
        "and the graph traced so far."
    )


def report_findings(exploration: Exploration, name: str) -> Reply:
    """What is wrong or surprising about the program."""
    findings, kind = exploration.record.findings, _kind_of(exploration, "findings")
    grave = [finding for finding in findings if finding.severity != "note"]
    if not grave:
        notes = "1 note is" if len(findings) == 1 else f"{len(findings)} notes are"
        more = f" {notes} under Findings." if findings else ""
        return Reply(
            kind=kind,
            title="Check for problems",
            reason=f"No findings.{more}",
        )
    lines = [
        Line("wrong" if finding.severity == "wrong" else "note", finding.sentence)
        for finding in grave[:_MOST]
    ]
    return Reply(
        kind=kind,
        title="Check for problems",
        reason="It exports, with findings to review:",
        lines=[*lines, *_offers(exploration, name)],
        after="Findings lists each with its line and why it matters.",
        choices=_choices(exploration),
    )


def varying(exploration: Exploration, title: str, progress: Report | None) -> Reply:
    """Which sizes could vary, as a line to run."""
    heading = "Find dynamic sizes"
    result = free_sizes(exploration, progress)
    if result is None:
        text = (
            "All sizes are static, as in the example. Which of them could be dynamic was not "
            "determined."
        )
        return Reply(kind="note", title=heading, reason=text)
    fixed = [Line("open", reason) for reason in result.fixed[: 2 * _MOST]]
    if not result.shapes:
        text = "All sizes are static, as in the example, and the code allows no dynamic ones."
        return Reply(kind="note", title=heading, reason=text, lines=fixed)
    after = "Choose your own names for the sizes, and write `_` for each static one."
    if not result.confirmed:
        after = "`*` lets torch decide which sizes are dynamic; Shapes shows the result."
    session, number, shapes = exploration.session, exploration.session.current, result.shapes
    return Reply(
        kind="note",
        title=heading,
        reason="All sizes are static, as in the example. These could be dynamic:",
        code=f'%export --guide -d "{shapes}" {title}',
        lines=fixed,
        after=after,
        choices=[_choice_of_shapes(session, number, shapes)],
    )


def _choice_of_shapes(session: Session, number: int, shapes: str) -> Choice:
    def take(progress: Report | None) -> object:
        return session.export_with(number, shapes, progress)

    return Choice("Export with these sizes", shapes, take)


def report_release(exploration: Exploration, name: str) -> Reply:
    """Whether the program can be shipped."""
    release = exploration.release_report().called(name)
    heads: dict[str, Kind] = {"ready": "right", "open": "note", "not ready": "wrong"}
    return Reply(
        kind=heads[release.verdict],
        title="Release",
        reason=release.sentence,
        lines=[Line(_LINES[item.state], _describe_item(item)) for item in release.items],
        after=""
        if release.ok
        else f"`{name}.release_report()` shows the verdict again after more checks.",
    )


_LINES: dict[str, Kind] = {"good": "right", "open": "open", "bad": "wrong", "none": "note"}
"""The kind of line for each state of a claim."""


def _kind_of(exploration: Exploration, name: str) -> Kind:
    """The kind of reply on a claim, as the verdict has it; `note` for one that is open."""
    claim = exploration.release_report().item(name)
    kind = _LINES[claim.state] if claim is not None else "wrong"
    return "note" if kind == "open" else kind


def _describe_item(item: ReleaseItem) -> str:
    way_on = f" `{item.command}`" if item.command else ""
    return f"{item.name}: {item.sentence}{way_on}"


def report_verification(exploration: Exploration, progress: Report | None) -> Reply:
    """Whether torch.export's guarantees hold for the program."""
    checked = exploration.verify(progress=progress)
    claim = exploration.release_report().item("verification")
    if claim is not None and checked.ok:
        reason = f"{claim.sentence} The program was run and compared with the model."
        return Reply(kind=_kind_of(exploration, "verification"), title="Verify", reason=reason)
    if not checked.broken:
        left = [
            Line("open", f"{guarantee.name}: {guarantee.sentence}")
            for guarantee in checked.unchecked
        ]
        return Reply(
            kind="note",
            title="Verify: incomplete",
            reason=f"{checked.sentence} Every check that ran passed.",
            lines=left[:_MOST],
            after="Verify shows why each was not checked, with a report to send if the check "
            "itself failed.",
        )
    lines = [
        Line("wrong", f"{guarantee.name}: {guarantee.sentence}") for guarantee in checked.broken
    ]
    return Reply(
        kind="wrong",
        title="Verify",
        reason=checked.sentence,
        lines=lines[:_MOST],
        after="Do not ship it. Verify shows the evidence for each finding.",
    )
