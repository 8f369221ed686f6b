"""No two claims about a program contradict each other, wherever they are shown.

The page (its heads and Record), the text, the static picture, the guide, `ready()` and the exit
codes are built from the same attempt. What contradicts what is decided here from the Record's
facts and from words and marks alone, not by the code that decides what is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import explorer
from explorer.cli import main as command_line
from explorer.cli.check import Target
from explorer.cli.check import check_target as checking
from explorer.guiding.guide import Guided
from explorer.guiding.steps import report_findings, report_release
from explorer.session.entry import Entry
from explorer.session.opened_file import OpenedFile
from explorer.session.session import Session
from explorer.text.static_picture import static_html
from export_engine.archive import Content
from export_engine.attempt import Exported
from export_engine.record import (
    Check,
    FindingRow,
    GuaranteeRow,
    Record,
    RunRow,
    Verification,
)

from ..planted import plants
from ..planted_numbers import KINDS, faults
from ..planted_sizes import PLANTS
from ..seed_cases import seed_cases


@dataclass(frozen=True)
class Said:
    """All that is said of one attempt, place by place."""

    record: Record
    texts: dict[str, str]
    """By place: `text`, `picture`, `ready`, `guide`, and the badges of the `header`."""
    ticks: list[str]
    """The lines that begin with a tick, and the badges that are green."""
    verdicts: dict[str, str]
    """By place: `ready`, `open` or `not ready`."""
    codes: dict[str, int]
    """Exit codes, by command."""


def said_of(record: Record) -> Said:
    """Builds every place from one Record, as its file would be opened."""
    opened = OpenedFile(Path("model.pt2"), Content(0, b"", ()), "", record)
    return _said(explorer.Exploration(Session([Entry("", opened)])))


def _said(ex: explorer.Exploration) -> Said:
    session, record = ex.session, ex.record
    head = session.heads()[session.current]
    release = head.release
    assert release is not None
    guided = [report_release(ex, "ex")] if ex.ok else []
    guided += [report_findings(ex, "ex")] if ex.ok else []
    ready = ex.release_report()
    texts = {
        "text": repr(ex),
        "picture": re.sub(r"<svg.*?</svg>|<[^>]+>", " ", static_html(record)),
        "ready": str(ready),
        "guide": "\n".join(map(repr, guided)),
        "header": " · ".join(each.words for each in release.items if each.words),
    }
    lines = "\n".join([texts["text"], texts["ready"], texts["guide"]]).splitlines()
    green = [each.words for each in release.items if each.words and each.state == "good"]
    kinds = {"right": "ready", "wrong": "not ready", "note": "open"}
    verdicts = {"ready": ready.verdict, "page": release.verdict}
    if guided:
        verdicts["guide"] = kinds[guided[0].kind]
    ticks = [line.strip() for line in lines if line.strip().startswith("✓")]
    return Said(record, texts, [*ticks, *green], verdicts, _codes(ex))


def _codes(ex: explorer.Exploration) -> dict[str, int]:
    """Of the commands that would show this attempt; nothing is run for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_line, "_open", lambda *_: ex)
        patch.setattr(command_line, "_measure", lambda *_: None)
        patch.setattr(explorer.Exploration, "verify", lambda *_, **__: ex.session.entry.verified)
        patch.setattr(command_line, "_say", lambda _: None)
        patch.setattr(checking, "_explore_target", lambda _: ex)
        checked = checking.check(Target(call="model.pt2"))
        return {
            "open": command_line.main(["model.pt2"]),
            "ready": command_line.main(["model.pt2", "--ready"]),
            "check": 1 if checked.failed else 3 if checked.unchecked else 0,
        }


GAINSAYS = re.compile(
    r"\b(differs?|disagrees?|diverges?|broken|fails|failed|not run|did not run|rejected sizes|"
    r"in place|static|not compared|has no eager model|may differ)\b"
)
"""What a tick's own text may not say."""
READY = re.compile(r"(?<!Not )Ready to ship")
VERIFIED = re.compile(r"(?<!not )(?<!Not )\bverified\b")


def contradictions(said: Said) -> Iterator[str]:
    """What two places, or two claims, say that cannot both be so."""
    record, everything = said.record, "\n".join(said.texts.values())
    rows = record.verification.rows if record.verification else []
    differs = any(row.outcome == "differs" for row in record.runs)
    wrong = any(each.severity == "wrong" for each in record.findings)
    broken = any(row.verdict == "broken" for row in rows)
    unlike = record.check is not None and record.check.verdict in ("differs", "refused")
    bad = differs or wrong or broken or unlike or record.failure is not None
    undecided = any(each.severity == "surprising" for each in record.findings)
    skipped = any(row.verdict == "not checked" and not row.lacking for row in rows)
    if VERIFIED.search(everything) and bad:
        yield "verified, beside what shows that it is not right"
    if READY.search(everything) and (bad or undecided or skipped or not rows or not record.runs):
        yield "ready to ship, with something wrong or open"
    if READY.search(everything) and re.search(r"^\s*[✗?○] ", said.texts["ready"], re.M):
        yield "ready to ship, above a claim that is open or broken"
    if bad and "Nothing wrong" in everything:
        yield "nothing wrong, beside what is"
    for tick in said.ticks:
        if GAINSAYS.search(tick):
            yield f"a tick that gainsays itself: {tick}"
    if (differs or wrong) and any(
        re.search(r"✓ (verification|sizes)\b", tick) for tick in said.ticks
    ):
        yield "a tick at verification or sizes, beside a difference from eager"
    by_itself = any(row.outcome == "differs" and row.backend == "program" for row in record.runs)
    if (by_itself or wrong) and any(re.search(r"✓ (sound|state)\b", each) for each in said.ticks):
        yield "a tick at an agreement with eager, which a run or a finding gainsays"
    if len(set(said.verdicts.values())) > 1:
        yield f"places differ: {said.verdicts}"
    if (said.codes["ready"] == 0) != (said.verdicts["ready"] == "ready"):
        yield f"exit code {said.codes['ready']} of --ready, which says {said.verdicts['ready']}"
    if bad and not all(code == 1 for code in said.codes.values()):
        yield f"something is wrong, and the exit codes are {said.codes}"
    if not bad and said.verdicts["ready"] != "not ready" and 1 in said.codes.values():
        yield f"nothing is wrong, and the exit codes are {said.codes}"


@pytest.fixture(scope="module")
def record() -> Record:
    def halved(x: torch.Tensor) -> torch.Tensor:
        return x / 2

    ex = explorer.explore(halved, (torch.ones(3),), dynamic_shapes="x: batch")
    return ex.record


def _values(struct: type, field: str) -> list[Any]:
    return list(get_args(get_type_hints(struct)[field]))


GUARANTEES = ("flat", "functional", "sound", "refuses", "state", "saved")
_SENTENCES = {
    "holds": "Agrees with eager at batch 0, 1, 2, 3, 7, exactly.",
    "broken": "Disagrees with eager at 1 of 8 sizes.",
    "not checked": "Eager fails at every tried size.",
    "not applicable": "It has no such op.",
}


@st.composite
def verifications(draw: st.DrawFn) -> Verification | None:
    if draw(st.booleans()):
        return None
    rows = []
    for name in GUARANTEES:
        verdict = draw(st.sampled_from(_values(GuaranteeRow, "verdict")))
        lacking = draw(st.sampled_from(["", "the eager model"])) if verdict == "not checked" else ""
        said = "A program loaded from a file has no eager model." if lacking else ""
        sentence = said or _SENTENCES[verdict]
        rows.append(GuaranteeRow(name, "It is.", verdict, sentence, lacking=lacking))
    verdicts = [row.verdict for row in rows]
    whole = next((each for each in ("broken", "not checked") if each in verdicts), "holds")
    return Verification(whole, "Some hold.", rows, 1.0)  # type: ignore[arg-type]


OUTCOMES = _values(RunRow, "outcome")
RUNS = st.lists(
    st.builds(
        lambda backend, device, inputs, outcome: RunRow(
            backend=backend,
            title=backend,
            device=device,
            inputs=inputs,
            outcome=outcome,
            sentence={"agrees": "Agrees with eager."}.get(outcome, "It says why."),
        ),
        st.sampled_from(["eager", "program", "inductor"]),
        st.sampled_from(["cpu", "cuda:0"]),
        st.sampled_from(["batch=2", "batch=1"]),
        st.sampled_from(OUTCOMES),
    ),
    max_size=4,
)
FINDINGS = st.lists(
    st.sampled_from(_values(FindingRow, "severity")).map(
        lambda severity: FindingRow("a-kind", "A kind", severity, "It says so.", "Why.")
    ),
    max_size=3,
)
CHECKS = st.one_of(
    st.none(),
    st.sampled_from(_values(Check, "verdict")).map(
        lambda verdict: Check(
            verdict,
            {
                "agrees": "Agrees with eager at 4 other sizes.",
                "differs": "Differs from eager at 1 of 4 sizes.",
                "refused": "Rejects 1 of 4 sizes that eager accepts.",
                "not checked": "Not compared with eager.",
            }[verdict],
        )
    ),
)


@pytest.mark.after_check
@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    verification=verifications(),
    runs=RUNS,
    findings=FINDINGS,
    check=CHECKS,
    lost=st.booleans(),
    static=st.booleans(),
)
def test_no_outcomes_together_say_two_things(
    record: Record,
    verification: Verification | None,
    runs: list[RunRow],
    findings: list[FindingRow],
    check: Check | None,
    lost: bool,
    static: bool,
) -> None:
    made = replace(
        record,
        verification=verification,
        runs=runs,
        findings=findings,
        check=check,
        fixed_by=["Let it be"] if check else [],
        given_up=["The program rejects batch = 1, which the model accepts"] if lost else [],
        symbols=[] if static else record.symbols,
    )
    said = said_of(made)
    assert not list(contradictions(said)), said.texts["ready"]


@pytest.mark.slow
def test_a_planted_fault_is_said_in_one_voice(one_of: Callable[[int], int]) -> None:
    for plant in plants()[:: one_of(20)]:
        twins = ((plant.faulty, plant.args), (plant.clean, plant.clean_args or plant.args))
        for target, args in twins:
            shapes = plant.shapes or None
            ex = explorer.explore(target, args, dynamic_shapes=shapes, strict=plant.strict)
            assert not list(contradictions(_said(ex))), repr(ex)
            if ex.ok:
                ex.verify(2)
                ex.run()
                assert not list(contradictions(_said(ex))), f"{ex!r}\n{ex.release_report()}"


@pytest.mark.slow
def test_a_planted_size_is_said_in_one_voice(one_of: Callable[[int], int]) -> None:
    for plant in PLANTS[:: one_of(20)]:
        for target in (plant.faulty, plant.clean):
            ex = explorer.explore(target, plant.inputs, dynamic_shapes=plant.shapes)
            assert not list(contradictions(_said(ex))), repr(ex)
            ex.verify(2)
            ex.run()
            said = _said(ex)
            assert not list(contradictions(said)), f"{ex!r}\n{ex.release_report()}"
            assert (set(said.verdicts.values()) == {"not ready"}) is (target is plant.faulty)


class TwoLayers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.second(self.first(x).relu()) + x)


@pytest.mark.slow
def test_a_program_with_wrong_numbers_is_said_to_differ_everywhere() -> None:
    ex = explorer.explore(TwoLayers().eval(), (torch.randn(3, 4),), dynamic_shapes="x: batch, _")
    attempt = ex.session.entry.attempt
    assert isinstance(attempt, Exported)
    wrong = [fault for kind in KINDS for fault in faults(attempt, kind, 1)]
    assert wrong
    for fault in wrong[:3]:
        shown = explorer.Exploration(Session([Entry.of(fault.attempt)]))
        for act in (lambda: shown.run(backend="program"), lambda: shown.verify(2)):  # noqa: B023
            act()
            said = _said(shown)
            assert not list(contradictions(said)), f"{shown!r}\n{shown.release_report()}"
            assert set(said.verdicts.values()) == {"not ready"}, fault.kind


@pytest.mark.slow
def test_a_known_case_is_said_in_one_voice(one_of: Callable[[int], int]) -> None:
    for case in seed_cases()[:: one_of(40)]:
        kwargs = dict(case.kwargs)
        ex = explorer.explore(case.target, case.args, kwargs, dynamic_shapes=case.shapes)
        assert not list(contradictions(_said(ex))), repr(ex)
        if not ex.ok:
            ex.autofix()
            assert not list(contradictions(_said(ex))), f"{ex!r}\n{ex.release_report()}"


@pytest.mark.after_check
def test_the_guide_is_ok_only_where_the_verdict_is_not_against_it(record: Record) -> None:
    wrong = FindingRow("a-kind", "A kind", "wrong", "It says so.", "Why.")
    holds = [GuaranteeRow("sound", "It is.", "holds", _SENTENCES["holds"])]
    verified = replace(record, verification=Verification("holds", "1 holds.", holds, 1.0))
    for each, ok in (
        (record, False),
        (verified, True),
        (replace(verified, findings=[wrong]), False),
    ):
        opened = OpenedFile(Path("model.pt2"), Content(0, b"", ()), "", each)
        guided = Guided("model(x)", exploration=explorer.Exploration(Session([Entry("", opened)])))
        assert guided.ok is ok
