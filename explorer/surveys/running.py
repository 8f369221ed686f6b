"""Runs the trials of a survey: on this machine, or on any `concurrent.futures.Executor`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from explorer.surveys.journal import Journal, read_rows
from explorer.surveys.plan import Trial, choose_trials, list_trials, read_survey
from explorer.surveys.result import SurveyResult
from explorer.surveys.rows import Row
from explorer.surveys.trial_run import end_servers, make_lost_row, run_trial
from export_engine.defects import log_internal_error

_TRIES = 3
"""How often a trial is given to a worker, if workers die with it."""

_FEW = 4
"""Trials for which importing torch in each of their processes takes no longer than forking."""

Report = Callable[[int, int, Row], None]
"""Called with each row: how many are there, how many there will be, and the row."""


def survey(
    source: str | Path | Mapping[str, Any],
    *,
    journal: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    only: Sequence[str] = (),
    part: tuple[int, int] = (1, 1),
    again: Sequence[str] = ("lost",),
    progress: Report | None = None,
) -> SurveyResult:
    """Exports many models, each in its own process with time and memory limits.

    Trials that the journal already has are skipped, so a stopped survey resumes.

    Args:
        source: `survey.toml`, or a dict of the same fields.
        journal: the file that each row is appended to; none by default.
        executor: what runs the trials, such as Dask's `client.get_executor()`; by default threads
            here, each of which waits for a process.
        workers: how many trials run at once on this machine; by default a core each.
        only: patterns of names, `bert*`.
        part: which part of the survey, from 1, and of how many.
        again: outcomes to try again even if the journal has them: `lost`, `time`.
        progress: called with each new row.

    Raises:
        SurveyError: the survey is invalid.
        OSError: the journal cannot be read.
        KeyboardInterrupt: interrupted; processes are stopped, and the rows so far are in the
            journal.
    """
    plan, home = read_survey(source)
    trials = choose_trials(list_trials(plan, home), only, part)
    kept = Journal(Path(journal)) if journal else None
    return carry_out(trials, kept, workers, progress, executor=executor, again=again)


def carry_out(
    trials: Sequence[Trial],
    journal: Journal | None,
    workers: int | None = None,
    progress: Report | None = None,
    *,
    executor: Executor | None = None,
    again: Sequence[str] = ("lost",),
) -> SurveyResult:
    """Runs the trials whose rows a journal does not have; arguments are those of `survey`."""
    entries = read_rows(journal.path) if journal and journal.path.exists() else {}
    rows = {
        trial.key: entries[trial.key]
        for trial in trials
        if trial.key in entries and entries[trial.key].outcome not in again
    }
    waiting = [trial for trial in trials if trial.key not in rows]

    def keep(row: Row) -> None:
        rows[row.key] = row
        if journal is not None:
            journal.add(row)
        if progress is not None:
            progress(len(rows), len(trials), row)

    fork = len(waiting) > _FEW
    try:
        if executor is not None:
            _Spread(executor, keep, fork).run(waiting)
        elif waiting:
            _run_here(waiting, workers or os.cpu_count() or 1, keep, fork)
    finally:
        end_servers()
    if journal is not None:
        journal.flush()
    ordered = [rows[trial.key] for trial in trials if trial.key in rows]
    return SurveyResult(ordered, journal.problem if journal else "")


def _run_here(
    trials: Sequence[Trial], workers: int, keep: Callable[[Row], None], fork: bool
) -> None:
    """On threads of this process; an interrupt ends the processes that they wait for."""
    stop = threading.Event()
    with ThreadPoolExecutor(workers, "survey") as pool:
        futures = [pool.submit(run_trial, trial, stop, fork) for trial in trials]
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=1, return_when=FIRST_COMPLETED)
                for future in done:
                    if (row := future.result()) is not None:
                        keep(row)
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise


class _Spread:
    """Trials on the workers of an executor: one whose worker died is given to another."""

    def __init__(self, executor: Executor, keep: Callable[[Row], None], fork: bool) -> None:
        self._executor = executor
        self._keep = keep
        self._fork = fork
        self._tries: dict[str, int] = {}
        self._running: dict[Future[Row | None], Trial] = {}

    def run(self, trials: Sequence[Trial]) -> None:
        try:
            for trial in trials:
                self._submit(trial)
            while self._running:
                done, _ = wait(self._running, timeout=1, return_when=FIRST_COMPLETED)
                for future in done:
                    self._take(future)
        except BaseException:
            for future in self._running:
                future.cancel()
            raise

    def _submit(self, trial: Trial) -> None:
        self._tries[trial.key] = self._tries.get(trial.key, 0) + 1
        try:
            self._running[self._executor.submit(run_trial, trial, None, self._fork)] = trial
        except RuntimeError as error:  # the executor is broken, or was shut down
            self._keep(make_lost_row(trial, str(error)))

    def _take(self, future: Future[Row | None]) -> None:
        trial = self._running.pop(future)
        try:
            row = future.result()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            log_internal_error(error, f"running {trial.key} on a worker")
            if self._tries[trial.key] < _TRIES:
                self._submit(trial)
                return
            row = make_lost_row(trial, f"{type(error).__name__}: {error}"[:500])
        self._keep(row if row is not None else make_lost_row(trial, "it was stopped"))
