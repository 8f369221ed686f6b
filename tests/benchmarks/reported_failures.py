"""Failures that users reported: what becomes of each under `%export --fix`, in both modes.

The data are in `tests/benchmarks/reports/`. A failure that no longer fails is counted and left
out. The judge is the benchmark's own: a program is run with the report's own inputs, of other
values and sizes, and compared with eager. Those of one name or several, with all that is said:

    python -m tests.benchmarks.reported_failures two-paths long-rope
"""

from __future__ import annotations

import signal
import statistics
import sys
import time
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import quiet
from export_engine.fixes import autofix
from export_engine.shapes import Shapes
from export_engine.torch_internals import missing_shapes_spec
from export_engine.verify import compare
from export_engine.verify import run as call

from .reports import REPORTED, Reported
from .table import Row

_SECONDS = 120
"""A failure that takes longer is given up."""
_RIGHT = "right"


class Outcome(NamedTuple):
    """How a report ended, in one mode and one kind of spec."""

    name: str
    mode: str
    form: str
    bare: str
    """What torch.export alone makes of it: `right`, or what is wrong."""
    kind: str = ""
    place: str = ""
    """`right`, `wrong`, `none`; empty where no line is marked."""
    sentence: str = ""
    fix: str = ""
    ended: str = ""
    """What `--fix` makes of it: `right`, or what is wrong."""
    lossy: str = ""
    """The first lossy fix on offer, where no lossless one is left."""
    seconds: float = 0.0
    cost: float = 0.0
    """Seconds of the fix over those of the bare export."""


class _TooLong(BaseException):
    """Out of time; not an Exception, so that nobody takes it for the model's own error."""


def outcome_of(case: Reported, strict: bool, form: str) -> Outcome:
    """Runs a report in a mode."""
    args, kwargs = case.call(0)
    shapes = _shapes(case, form)
    mode = "strict" if strict else "non-strict"
    started = time.process_time()
    bare = _bare(case, shapes, strict)
    taken = time.process_time() - started
    if bare == _RIGHT:
        return Outcome(case.name, mode, form, bare)
    started = time.process_time()
    request = Request(
        target=case.build(), args=args, kwargs=kwargs, dynamic_shapes=shapes, strict=strict
    )
    report = autofix(request)
    spent = time.process_time() - started
    first, last = report.first, report.attempt
    outcome = Outcome(
        case.name,
        mode,
        form,
        bare,
        fix=", then ".join(step.fix.title for step in report.kept),
        seconds=spent,
        cost=spent / max(taken, 1e-3),
    )
    if isinstance(last, Exported):
        agreed = last.agreement is not None and last.agreement.verdict == "agrees"
        said = _judged(case, last.program)
        ended = said if agreed or said != _RIGHT else "not verified"
        outcome = outcome._replace(ended=ended)
    else:
        assert isinstance(last, Failed)
        lossy = next((fix.title for fix in last.fixes if fix.lossy), "")
        outcome = outcome._replace(ended="no fix", lossy=lossy)
    if isinstance(first, Failed):
        assert first.diagnosis is not None
        found = first.diagnosis
        outcome = outcome._replace(
            kind=found.kind.name, sentence=found.sentence, place=_place(case, first)
        )
    return outcome


def _shapes(case: Reported, form: str) -> Any:
    shapes = Shapes.parse(case.shapes) if isinstance(case.shapes, str) else case.shapes
    return shapes.to_spec() if form == "ShapesSpec" and isinstance(shapes, Shapes) else shapes


def _place(case: Reported, failed: Failed) -> str:
    """Whether the line that was named is the one that is marked."""
    if not case.lines:
        return ""
    stack = failed.diagnosis.stack if failed.diagnosis else ()
    if not stack:
        return "none"
    last = stack[-1]
    return _RIGHT if last.file == case.file and last.line in case.lines else "wrong"


def _bare(case: Reported, shapes: Any, strict: bool) -> str:
    args, kwargs = case.call(0)
    model = case.build()
    try:
        with quiet():
            wanted = shapes.to_torch(model, args, kwargs) if isinstance(shapes, Shapes) else shapes
            program = torch.export.export(model, args, kwargs, dynamic_shapes=wanted, strict=strict)
    except Exception as error:  # noqa: BLE001 - whatever it is, it did not export
        return f"fails: {type(error).__name__}"
    return _judged(case, program)


def _judged(case: Reported, program: torch.export.ExportedProgram) -> str:
    """Whether a program answers the report's calls as eager does."""
    right = False
    state = {name: value.clone() for name, value in program.state_dict.items()}
    for number in range(3):
        args, kwargs = case.call(number)
        model = case.build()
        request = Request(target=model, args=args, kwargs=kwargs)
        try:
            eager = call(model, request, 0)
        except Exception:  # noqa: BLE001 - a call that the model itself does not take
            continue
        with torch.no_grad():
            for name, value in state.items():
                program.state_dict[name].copy_(value)
        try:
            ours = call(program.module(), request, 0)
        except Exception as error:  # noqa: BLE001 - so may the program
            return f"refuses call {number}: {type(error).__name__}"
        if not compare(ours, eager).same:
            return f"differs at call {number}"
        right = True
    return _RIGHT if right else "eager fails"


def run_all(names: list[str]) -> list[Outcome]:
    """Runs all, or the named ones, and prints a line for each that fails in torch.export."""
    forms = ("Dims",) if missing_shapes_spec() else ("Dims", "ShapesSpec")
    found: list[Outcome] = []
    for case in REPORTED:
        if names and case.name not in names:
            continue
        for strict, form in product((False, True), forms):
            if form == "ShapesSpec" and not isinstance(case.shapes, str):
                continue
            outcome = _limited(case, strict, form)
            found.append(outcome)
            if outcome.bare != _RIGHT:
                print(_line(outcome, bool(names)), file=sys.stderr, flush=True)
    return found


def _limited(case: Reported, strict: bool, form: str) -> Outcome:
    """The outcome, or that it took too long, or the crash."""
    mode = "strict" if strict else "non-strict"
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_SECONDS)
    try:
        return outcome_of(case, strict, form)
    except _TooLong:
        return Outcome(case.name, mode, form, "fails", ended="too long")
    except Exception as error:  # noqa: BLE001 - a crash of ours is an outcome too
        said = f"crashed: {type(error).__name__}: {error}"[:200]
        return Outcome(case.name, mode, form, "fails", ended=said)
    finally:
        signal.alarm(0)
        torch._dynamo.reset()


def _give_up(*_: object) -> None:
    raise _TooLong


def _line(outcome: Outcome, all_said: bool = True) -> str:
    said = (
        f"{outcome.name:24} {outcome.mode:10} {outcome.form:10} {outcome.bare:34} "
        f"{outcome.kind:20} line {outcome.place or '-':6} {outcome.ended:14} "
        f"{outcome.seconds:5.1f} s {outcome.cost:5.1f}x"
    )
    more = [outcome.sentence, outcome.fix, outcome.lossy and f"lossy: {outcome.lossy}"]
    return said + "".join(f"\n    {each}" for each in more if each and all_said)


def rows_of(found: list[Outcome]) -> list[Row]:
    """The summary per mode and kind of spec, and a row for each that does not end verified."""
    rows = [
        Row("reports", "restated", len({case.address for case in REPORTED}), "reports", least=120,
            means="failures of public issues, each with its address"),
    ]  # fmt: skip
    for form, mode in product(("Dims", "ShapesSpec"), ("non-strict", "strict")):
        rows += list(_summary([o for o in found if o.form == form and o.mode == mode], form, mode))
    rows += [
        Row(o.name, f"{o.mode}, {o.form}: {o.ended}", None, means=o.sentence or o.bare)
        for o in found
        if o.bare != _RIGHT and o.ended != _RIGHT
    ]
    return rows


def _summary(found: list[Outcome], form: str, mode: str) -> Iterator[Row]:
    failing = [o for o in found if o.bare != _RIGHT]
    if not failing:
        return
    of = f"{mode}, {form}"
    cured = [o for o in failing if o.ended == _RIGHT]
    lined = [o for o in failing if o.place]
    yield Row(of, "no longer fail", len(found) - len(failing), "reports",
              means="torch.export alone gives a right program")  # fmt: skip
    yield Row(of, "still fail", len(failing), "reports",
              means="torch.export raises, or its program is wrong")  # fmt: skip
    yield Row(of, "end verified", len(cured) / len(failing), "share", least=0.7,
              means="a lossless fix gives a program that answers as eager does")  # fmt: skip
    yield Row(of, "at the marked line", sum(o.place == _RIGHT for o in lined) / max(len(lined), 1),
              "share", least=0.9, means="the failing line of the user's code is named")  # fmt: skip
    yield Row(of, "of an unknown kind", sum(o.kind == "UNKNOWN" for o in failing), "reports",
              most=0, means="every failure has a kind and a sentence")  # fmt: skip
    yield Row(of, "cost of those not cured, median",
              statistics.median([o.cost for o in failing if o not in cured] or [0.0]),
              "bare exports", most=3,
              means="CPU time until all fixes have been tried")  # fmt: skip


def run() -> list[Row]:
    """All reports."""
    return rows_of(run_all([]))


if __name__ == "__main__":
    run_all(sys.argv[1:])
