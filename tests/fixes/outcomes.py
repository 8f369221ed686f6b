"""What becomes of each case under `autofix`, and what is worse than it was.

The table is `outcomes.json`, per torch, case and mode. To run cases and compare them with it, all
or those whose names begin with one of the arguments; `--write` puts them into the table:

    python -m tests.fixes.outcomes loops/ reports/two-paths --write

Runs are kept by the content of the engine and of the case, so that a second call goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import torch

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import tracing
from export_engine.describe import describe
from export_engine.fixes import AutofixReport, autofix
from export_engine.fixes.rewrite.probe import running
from export_engine.shapes import Shapes
from export_engine.torch_internals import NoGraph
from export_engine.verify import compare
from export_engine.verify import run as call

from .case import Case
from .sources import all_cases

TABLE = Path(__file__).with_name("outcomes.json")
_ROOT = Path(__file__).parents[2]
_KEPT = _ROOT / ".pytest_cache" / "fix-outcomes"
_SECONDS = 120
"""CPU seconds after which a case is given up."""


class Outcome(msgspec.Struct, omit_defaults=True):
    """How a case ended in a mode."""

    ended: str
    """`exports`, `no fix`, `too long`, or `crashed: …`."""
    agreement: str = ""
    """The verdict of the check at other sizes: `agrees`, `differs`, `refused`, `not checked`."""
    sizes: list[str] = []
    """The sizes at which program and eager agreed, `batch=3 seq=7`."""
    calls: list[str] = []
    """Per call of the case: `agrees`, `differs`, `refuses`, or `eager fails`."""
    ranges: dict[str, tuple[int | None, int | None]] = {}
    """Of each size of the inputs that is dynamic."""
    guards: list[str] = []
    """The conditions that the program checks."""
    given_up: list[str] = []
    """What the fixes give up; empty where they are lossless."""
    fixes: list[str] = []
    """Titles."""
    exports: int = 0
    """How often torch.export traced the model to a graph, the first failure included."""
    seconds: float = 0.0
    """CPU time."""
    reason: str = ""
    """Of a failure, the kind of its diagnosis."""
    sentence: str = ""
    """Of a failure, its diagnosis."""
    refusals: list[str] = []
    """Of a failure, why fixes that one would expect are not offered."""


def measure(case: Case, strict: bool) -> Outcome:
    """Runs `autofix` on a case, and judges its program by the case's own calls."""
    args, kwargs = case.call(0)
    shapes = Shapes.parse(case.shapes) if isinstance(case.shapes, str) else case.shapes
    target = case.build()
    request = Request(target=target, args=args, kwargs=kwargs, dynamic_shapes=shapes, strict=strict)
    started = time.process_time()
    with _counted() as exports:
        report = autofix(request)
    outcome = Outcome("no fix", exports=len(exports), seconds=time.process_time() - started)
    outcome.fixes = [step.fix.title for step in report.kept]
    outcome.given_up = [s.fix.gives_up for s in report.kept if s.fix.narrows or s.fix.lossy]
    _describe_end(case, report, outcome)
    outcome.seconds = round(outcome.seconds, 2)
    return outcome


def _describe_end(case: Case, report: AutofixReport, outcome: Outcome) -> None:
    last = report.attempt
    if isinstance(last, Failed):
        outcome.refusals = list(last.refusals)
        if last.diagnosis is not None:
            outcome.reason, outcome.sentence = last.diagnosis.kind.name, last.diagnosis.sentence
        return
    assert isinstance(last, Exported)
    outcome.ended = "exports"
    if last.agreement is not None:
        outcome.agreement = last.agreement.verdict
        agreed = [each.sizes for each in last.agreement.trials if each.outcome == "agrees"]
        said = [" ".join(f"{name}={size}" for name, size in each.items()) for each in agreed]
        outcome.sizes = list(dict.fromkeys(said))
    record = describe(last)
    outcome.ranges = {
        each.name: (each.lower, each.upper) for each in record.symbols if not each.is_from_data
    }
    outcome.guards = sorted({each.text for each in record.guards if each.effect == "kept"})
    outcome.calls = [_judge(case, last.program, number) for number in range(len(case.calls))]


def _judge(case: Case, program: torch.export.ExportedProgram, number: int) -> str:
    """Whether a program answers a call as a new model does."""
    args, kwargs = case.call(number)
    model = case.build()
    request = Request(target=model, args=args, kwargs=kwargs)
    try:
        eager = call(model, request, 0)
    except Exception:  # noqa: BLE001 - a call that the model itself does not take
        return "eager fails"
    kept = {name: value.clone() for name, value in program.state_dict.items()}
    try:
        ours = call(program.module(), request, 0)
    except Exception:  # noqa: BLE001 - so may the program
        return "refuses"
    finally:
        with torch.no_grad():
            for name, value in kept.items():
                program.state_dict[name].copy_(value)
    return "agrees" if compare(ours, eager).same else "differs"


@contextmanager
def _counted() -> Iterator[list[None]]:
    """A list that grows with each export; not with a dry run, which makes no graph."""
    exports: list[None] = []
    run_export = tracing.run_export

    @wraps(run_export)
    def counting(*args: Any, **kwargs: Any) -> Any:
        exports.append(None)
        try:
            return run_export(*args, **kwargs)
        except Exception as error:
            if isinstance(error, NoGraph) or running.probe is not None:
                exports.pop()
            raise

    with patch.object(tracing, "run_export", counting):
        yield exports


class _TooLong(BaseException):
    """Out of time; not an Exception, so that nobody takes it for the model's own error."""


def measure_limited(case: Case, strict: bool) -> Outcome:
    """The outcome, or that it took too long, or the crash."""
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        return measure(case, strict)
    except _TooLong:
        return Outcome("too long", seconds=_SECONDS)
    except Exception as error:  # noqa: BLE001 - a crash is an outcome, too
        return Outcome(f"crashed: {type(error).__name__}: {error}"[:200])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        torch._dynamo.reset()


def _give_up(*_: object) -> None:
    raise _TooLong


# What is worse


def find_worse(before: Outcome, now: Outcome, *, costs: bool = True) -> list[str]:
    """What is worse now, a phrase each; empty where nothing is.

    Args:
        before: the outcome of the table.
        now: of a run.
        costs: whether more exports are worse, too.
    """
    if not costs:
        now = msgspec.structs.replace(now, exports=min(now.exports, before.exports))
    if before.ended != "exports":
        return _worse_refusal(before, now)
    if now.ended != "exports":
        return [f"exported, now: {now.ended} {now.reason}".rstrip()]
    found = list(_narrower(before, now))
    order = ["differs", "refused", "not checked", "", "agrees"]
    if order.index(now.agreement) < order.index(before.agreement):
        found.append(f"the check: {before.agreement}, now: {now.agreement}")
    for number, (old, new) in enumerate(zip(before.calls, now.calls, strict=False)):
        if old == "agrees" != new:
            found.append(f"call {number}: {old}, now: {new}")
    if now.given_up and not before.given_up:
        found.append(f"lossless, now: {now.given_up[0]}")
    return found + _more_exports(before, now)


def _worse_refusal(before: Outcome, now: Outcome) -> list[str]:
    if now.agreement == "differs" or "differs" in now.calls:
        return ["a program that differs from eager"]
    if now.ended == "exports":
        return []
    found = _more_exports(before, now)
    if before.refusals and not now.refusals:
        found.append(f"no longer says: {before.refusals[0]}")
    return found


def _narrower(before: Outcome, now: Outcome) -> Iterator[str]:
    """What the program no longer takes."""
    for name, (low, high) in before.ranges.items():
        if name not in now.ranges:
            yield f"{name} was dynamic"
            continue
        lower, upper = now.ranges[name]
        below = lower is not None and (low is None or lower > low)
        above = upper is not None and (high is None or upper < high)
        if below or above:
            yield f"{name} in [{low}, {high}], now: [{lower}, {upper}]"
    more = [each for each in now.guards if each not in before.guards]
    if len(now.guards) > len(before.guards):
        yield f"it also checks {more[0]}"


def _more_exports(before: Outcome, now: Outcome) -> list[str]:
    if now.exports <= before.exports:
        return []
    return [f"{before.exports} exports, now: {now.exports}"]


# The table


def torch_name() -> str:
    """The torch that runs, as the table names it: `2.13`."""
    return ".".join(torch.__version__.split(".")[:2])


def read_table() -> dict[str, dict[str, dict[str, Outcome]]]:
    """Per torch, case and mode."""
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, dict[str, dict[str, Outcome]]])


def write_table(table: dict[str, dict[str, dict[str, Outcome]]]) -> None:
    """A line for each case and mode, so that a diff shows what changed."""
    lines = []
    for version, cases in sorted(table.items()):
        rows = [
            f'    "{name}": {{\n'
            + ",\n".join(
                f'      "{mode}": {json.dumps(msgspec.to_builtins(each), ensure_ascii=False)}'
                for mode, each in sorted(modes.items())
            )
            + "\n    }"
            for name, modes in sorted(cases.items())
        ]
        lines.append(f'  "{version}": {{\n' + ",\n".join(rows) + "\n  }")
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


@cache
def _engine_hash() -> str:
    """Of all that decides an outcome besides the case."""
    digest = hashlib.sha256(torch.__version__.encode())
    for path in sorted((_ROOT / "export_engine").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run_kept(case: Case, strict: bool) -> Outcome:
    """The outcome of an earlier run of the same engine and case, or of one now."""
    file = _file_of(case, strict)
    if file.exists():
        return msgspec.json.decode(file.read_bytes(), type=Outcome)
    outcome = measure_limited(case, strict)
    keep(case, strict, outcome)
    return outcome


def keep(case: Case, strict: bool, outcome: Outcome) -> None:
    """Keeps an outcome for later calls."""
    file = _file_of(case, strict)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.encode(outcome))


def _file_of(case: Case, strict: bool) -> Path:
    digest = hashlib.sha256(f"{_engine_hash()} {case.name} {strict}".encode())
    digest.update(case.source.encode())
    return _KEPT / f"{digest.hexdigest()[:32]}.json"


def main(arguments: Sequence[str]) -> int:
    """Runs cases, prints those that differ from the table, and says how many are worse."""
    parser = argparse.ArgumentParser(prog="python -m tests.fixes.outcomes")
    parser.add_argument("names", nargs="*", help="how names of cases begin; left out: all")
    parser.add_argument("--write", action="store_true", help="puts the outcomes into the table")
    parser.add_argument("--mode", choices=["strict", "non-strict"], help="one mode alone")
    parser.add_argument("--kept", action="store_true", help="only what has been run already")
    parser.add_argument("--zoo", action="store_true", help="models of real packages, too")
    asked = parser.parse_args(arguments)
    table = read_table() if TABLE.exists() else {}
    rows = table.setdefault(torch_name(), {})
    worse, count, began = 0, 0, time.process_time()
    for case in all_cases(zoo=asked.zoo):
        if asked.names and not case.name.startswith(tuple(asked.names)):
            continue
        for strict in case.modes:
            mode = "strict" if strict else "non-strict"
            if asked.mode not in (None, mode) or (
                asked.kept and not _file_of(case, strict).exists()
            ):
                continue
            now = run_kept(case, strict)
            before = rows.get(case.name, {}).get(mode)
            said = find_worse(before, now) if before is not None else []
            worse, count = worse + bool(said), count + 1
            if said or before is None:
                print(_line(case.name, mode, now, said), flush=True)
            if asked.write:
                rows.setdefault(case.name, {})[mode] = now
    if asked.write:
        write_table(table)
    print(f"{count} outcomes, {worse} worse, {time.process_time() - began:.0f} s")
    return 1 if worse else 0


def _line(name: str, mode: str, now: Outcome, worse: list[str]) -> str:
    calls = " ".join(now.calls)
    said = (
        f"{name:44} {mode:10} {now.ended:8} {now.agreement:11} {now.exports:3} exports "
        f"{now.seconds:5.1f} s  {calls}  {', '.join(now.fixes) or now.reason}"
    )
    return said + "".join(f"\n    worse: {each}" for each in worse)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
