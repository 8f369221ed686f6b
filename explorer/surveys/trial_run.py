"""One trial in a process of its own, on whatever machine this is called."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import msgspec

from explorer.surveys.plan import Trial
from explorer.surveys.rows import Outcome, Row
from export_engine.defects import log_internal_error
from export_engine.process import ForkServer, LimitedRun, Running, run_limited, start_process

_MODULE = ["-m", "explorer.surveys.trial_process"]
_TRIES = 2
"""How often a process is forked for a trial, if what it is forked from dies."""


def run_trial(trial: Trial, stop: threading.Event | None = None, fork: bool = False) -> Row | None:
    """The row of a trial: what its process said last, and how that ended.

    Args:
        trial: what is tried.
        stop: once set, the process is killed.
        fork: whether its process is a fork of one that has imported torch, which pays for many.

    Returns:
        None if it was stopped.
    """
    try:
        if trial.page:
            Path(trial.page).parent.mkdir(parents=True, exist_ok=True)
        ended = _run_process(trial, stop, fork)
    except OSError as error:  # no such Python, no memory for a process, a full disk
        text = f"The process could not be started: {error}"
        return _replace(_empty(trial, ""), "crashed", text, "start")
    if ended.how == "stopped":
        return None
    row = _last_row(ended.output) or _empty(trial, ended.errors)
    row = msgspec.structs.replace(row, seconds=round(ended.seconds, 2), peak=ended.peak)
    if not row.stage:
        return row
    return _cut_short(row, trial, ended.how, ended.code, ended.errors)


def _run_process(trial: Trial, stop: threading.Event | None, fork: bool) -> LimitedRun:
    """Runs a trial's process; again, once, if what it was forked from died with another trial."""
    request = msgspec.json.encode(trial).decode()
    for _ in range(_TRIES):
        process = _fork(trial, stop) if fork else start_process(*_command(trial))
        ended = run_limited(process, request, trial.seconds, trial.memory, stop)
        if ended.how != "ended" or not getattr(process, "is_orphan", False):
            break
    return ended


def _fork(trial: Trial, stop: threading.Event | None) -> Running:
    """A fork of a process that has imported torch; where that fails, a new process."""
    for _ in range(_TRIES):
        server = _SERVERS.find(trial)
        if server is None or (stop is not None and stop.is_set()):
            break
        try:
            return server.fork(stop)
        except OSError as error:
            log_internal_error(error, "forking a process for a trial")
            _SERVERS.drop(trial, server)
    return start_process(*_command(trial))


def _command(trial: Trial, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """The command that starts a trial's Python, and its environment."""
    environment = dict(os.environ)
    if not trial.python:
        text = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)
        environment |= {"PYTHONPATH": text, "PYTHONSAFEPATH": "1"}
    return [trial.python or sys.executable, *_MODULE, *arguments], environment


class _Servers:
    """The processes that are forked, one for each Python and folder."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[tuple[str, ...], ForkServer | None] = {}

    def find(self, trial: Trial) -> ForkServer | None:
        """The server for a trial; None where forks do not work."""
        if sys.platform != "linux":
            return None
        key = self._key(trial)
        with self._lock:
            if key not in self._servers:
                try:
                    self._servers[key] = ForkServer(*_command(trial, *key[1:]))
                except OSError as error:
                    log_internal_error(error, "starting the process that trials are forked from")
                    self._servers[key] = None
            return self._servers[key]

    def drop(self, trial: Trial, dead: ForkServer) -> None:
        """Ends a server that does not answer; the next trial like this one starts another."""
        with self._lock:
            if self._servers.get(self._key(trial)) is dead:
                del self._servers[self._key(trial)]
        dead.end()

    def end(self) -> None:
        """Ends all servers; the next trial starts one again."""
        with self._lock:
            servers, self._servers = self._servers, {}
        for server in servers.values():
            if server is not None:
                server.end()

    def _key(self, trial: Trial) -> tuple[str, ...]:
        return trial.python, trial.folder, *trial.preload


_SERVERS = _Servers()


def end_servers() -> None:
    """Ends the processes that trials are forked from. No trial runs then."""
    _SERVERS.end()


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
