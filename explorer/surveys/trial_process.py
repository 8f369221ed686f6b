"""The process of a trial: reads it from standard input, and writes what is known, line by line.

Each line has all that is known by then, so that a process that is killed has said what it found.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import IO, Any

import msgspec

from explorer.exploration import Exploration
from explorer.opening.exporting import explore
from explorer.opening.named_call import run_named_call
from explorer.surveys.plan import Trial
from explorer.surveys.rows import BackendRow, Row
from export_engine.defects import log_internal_error, passing_over
from export_engine.process import serve_forks
from export_engine.record import Check, Record
from export_engine.source import find_last_frame


def main() -> None:
    """Carries out the trial."""
    spoken = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    heard = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    trial = msgspec.json.decode(heard.readline(), type=Trial)
    threading.Thread(target=_end_with, args=(heard,), daemon=True).start()
    os.chdir(trial.folder)
    _Known(trial, spoken).find()
    os.kill(os.getpid(), signal.SIGTERM)  # what the model left running would keep Python alive


def serve(folder: str, preload: Sequence[str]) -> None:
    """Imports what trials need, and forks for each trial.

    Args:
        folder: where trials run.
        preload: modules to import; a trial says what is wrong with one that cannot be.
    """
    os.chdir(folder)
    sys.path.insert(0, folder)
    for name in preload:
        with passing_over(f"importing {name} before the trials"):
            importlib.import_module(name)
    sys.path.remove(folder)
    with passing_over("exporting small models before the trials"):
        _export_small_models()
    serve_forks(_run_fork)


def _export_small_models() -> None:
    """Imports what an export, a fix, a comparison and a count import when they are first used."""
    import torch

    class Sum(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + x.shape[0]

    class Branch(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1 if x.sum() > 0 else x

    for model in (Sum(), Branch()):
        explored = explore(model, (torch.ones(3, device="cpu"),), dynamic_shapes="x: n")
        if not explored.ok:
            explored.autofix()
        if explored.ok:
            explored.cost()
            _compare(explored)


def _run_fork() -> None:
    import torch

    torch.set_num_threads(1)  # a thread of the server is gone here, and OpenMP would wait for it
    main()


def _end_with(heard: IO[bytes]) -> None:
    """Ends this process with the one that started it."""
    heard.read()
    os.kill(os.getpid(), signal.SIGTERM)


class _Known:
    """What is known of the trial so far."""

    def __init__(self, trial: Trial, spoken: IO[bytes]) -> None:
        self._trial, self._spoken = trial, spoken
        self._fields: dict[str, Any] = {
            "key": trial.key,
            "name": trial.name,
            "group": trial.group,
            "mode": trial.mode,
            "shapes": trial.shapes,
            "label": trial.label,
            "torch": version("torch"),
        }

    def find(self) -> None:
        """All that the trial asks for; a row whose stage is empty is whole."""
        self._try()
        self._say(stage="")

    def _try(self) -> None:
        """Exports, fixes, compares, verifies and runs."""
        trial = self._trial
        self._say(outcome="crashed", stage="call", sentence="The process died.")
        try:
            call = run_named_call(trial.call)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's own code
            log_internal_error(error, "making the model of a trial")
            self._say(outcome="call failed", sentence=_sentence(error))
            return
        self._say(stage="export")
        started = time.monotonic()
        try:
            explored = explore(
                *call,
                dynamic_shapes=trial.shapes or None,
                strict=trial.mode == "strict",
                title=trial.name,
            )
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the call does not fit the model
            log_internal_error(error, "exporting the model of a trial")
            self._say(outcome="call failed", sentence=_sentence(error))
            return
        self._say(export_seconds=round(time.monotonic() - started, 2))
        if not explored.ok:
            self._report_failure(explored)
        if explored.ok:
            self._report_export(explored)

    def _report_failure(self, explored: Exploration) -> None:
        failure = explored.record.failure
        assert failure is not None
        frame = find_last_frame(explored.record, failure.stack)
        self._say(
            outcome="failed",
            stage="fix",
            code=failure.code,
            kind=failure.kind,
            sentence=failure.sentence,
            place=f"{frame.name}:{frame.line}" if frame else "",
            fixes=[fix.title for fix in failure.fixes],
        )
        if self._trial.fix:
            explored.autofix()

    def _report_export(self, explored: Exploration) -> None:
        record = explored.record
        cost = explored.cost()
        self._say(
            outcome="fixed" if record.fixed_by else "exported",
            stage="check",
            sentence=record.verdict,
            fixes=list(record.fixed_by),
            findings=[row.code for row in record.findings],
            ops=_count_ops(record),
            symbols={symbol.name: symbol.range for symbol in record.symbols},
            flops=str(cost.flops),
            parameters=cost.parameters,
        )
        self._compare(explored)
        if self._trial.verify:
            self._say(stage="verify")
            explored.verify()
            checked = explored.record.verification
            rows = checked.rows if checked else []
            self._say(guarantees={row.name: row.verdict for row in rows})
        for backend in self._trial.backends:
            self._say(stage=f"run {backend}")
            runs = [
                BackendRow(backend=row.backend, outcome=row.outcome)
                for row in explored.run("cpu", backend).rows
            ]
            self._say(backends=[*self._fields.get("backends", []), *runs])
        if self._trial.page:
            self._say(stage="page")
            explored.save(self._trial.page, kind=".html")
            self._say(page=self._trial.page)

    def _compare(self, explored: Exploration) -> None:
        """Compares the program with eager at other sizes, where a fix has not done so."""
        result = explored.record.check or _compare(explored)
        agrees = result.verdict if result.verdict in ("agrees", "differs") else "not checked"
        self._say(agrees=agrees, agreement=result.sentence, sizes=len(result.trials))

    def _say(self, **fields: Any) -> None:
        self._fields.update(fields)
        row = msgspec.convert(self._fields, Row)
        self._spoken.write(msgspec.json.encode(row) + b"\n")
        self._spoken.flush()


def _count_ops(record: Record) -> dict[str, int]:
    """How often each op is called: as many calls as the verdict says."""
    called = (number for graph in record.graphs for number in graph.target if number >= 0)
    return dict(Counter(record.targets[number].name for number in called).most_common())


def _compare(explored: Exploration) -> Check:
    from export_engine.describe import describe_check
    from export_engine.verify import check

    session = explored.session
    return describe_check(check(session.require_exported(session.current, "compare")))


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:2_000]


if __name__ == "__main__":
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 5_000))
    if sys.argv[1:]:
        serve(sys.argv[1], sys.argv[2:])
    main()
