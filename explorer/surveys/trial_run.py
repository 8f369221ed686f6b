"""One trial in a process of its own, on whatever machine this is called."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import msgspec

from explorer.surveys.plan import Trial
from explorer.surveys.rows import Outcome, Row
from export_engine.process import run_limited

_MODULE = ["-m", "explorer.surveys.child"]


def run_trial(trial: Trial, stop: threading.Event | None = None) -> Row | None:
    """The row of a trial: what its process said last, and how that ended.

    Args:
        trial: what is tried.
        stop: once set, the process is killed.

    Returns:
        None if it was stopped.
    """
    environment = dict(os.environ)
    command = [trial.python or sys.executable, *_MODULE]
    if not trial.python:
        text = os.pathsep.join(str(Path(other_text).absolute()) for other_text in sys.path)
        environment |= {"PYTHONPATH": text, "PYTHONSAFEPATH": "1"}
    if trial.page:
        Path(trial.page).parent.mkdir(parents=True, exist_ok=True)
    request = msgspec.json.encode(trial).decode()
    ended = run_limited(command, request, trial.seconds, trial.memory, environment, stop)
    if ended.how == "stopped":
        return None
    row = _last_row(ended.output) or _empty(trial, ended.errors)
    row = msgspec.structs.replace(row, seconds=round(ended.seconds, 2), peak=ended.peak)
    if not row.stage:
        return row
    return _cut_short(row, trial, ended.how, ended.code, ended.errors)


def make_lost_row(trial: Trial, why: str) -> Row:
    """The row of a trial whose worker died, each time that it was tried."""
    return _replace(_empty(trial, ""), "lost", f"The worker that ran it died: {why}", "")


def _last_row(output: str) -> Row | None:
    """The last whole line."""
    for line in reversed(output.splitlines()):
        try:
            return msgspec.json.decode(line, type=Row)
        except msgspec.DecodeError:
            continue
    return None


def _empty(trial: Trial, errors: str) -> Row:
    return Row(
        key=trial.key,
        name=trial.name,
        group=trial.group,
        mode=trial.mode,
        shapes=trial.shapes,
        label=trial.label,
        outcome="crashed",
        sentence=_last_line(errors) or "The process ended without a result.",
        stage="start",
    )


def _cut_short(row: Row, trial: Trial, how: str, code: int, errors: str) -> Row:
    """A row whose process was killed; an export that had ended keeps its outcome."""
    stage = row.stage
    if how == "time":
        return _replace(row, "time", f"Took longer than {trial.seconds:g} s, in: {stage}.", stage)
    refused = "MemoryError" in errors or "can't allocate memory" in errors
    if how == "memory" or refused:
        used = f"Used more than {trial.memory / 1e9:g} GB, in: {stage}."
        return _replace(row, "memory", used, stage)
    ended = f"signal {-code}" if code < 0 else f"exit code {code}"
    text = _last_line(errors)
    sentence = f"The process ended with {ended}, in: {stage}." + (f" {text}" if text else "")
    return _replace(row, "crashed", sentence, stage)


def _replace(row: Row, outcome: Outcome, sentence: str, stage: str) -> Row:
    return msgspec.structs.replace(row, outcome=outcome, sentence=sentence, stage=stage)


def _last_line(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return lines[-1][:500] if lines else ""
