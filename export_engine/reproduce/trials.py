"""Runs scripts in other processes. Nothing that a script does reaches the user's process."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from export_engine.process import another_python

_MODULE = "export_engine.reproduce.trial_process"
_LONGEST = 20.0
"""Seconds for one script."""
_PROOF = 120.0
"""Seconds for the last one, in a process that imports everything."""


class Outcome(NamedTuple):
    """How a script ends; all empty where it fails in no known way."""

    code: str
    """Of its diagnosis; `wrong answer` where its program and its model differ."""
    error: str
    """The class of the exception."""
    raised: str = ""
    """The class of what the script raises by itself, in a fresh process."""


class Trials:
    """A folder for scripts, and a process that runs them, until `close`."""

    def __init__(self, compared: bool) -> None:
        """Make one.

        Args:
            compared: whether scripts compare a program with its model.
        """
        self.count = 0
        """How many scripts were run."""
        self._compared = compared
        self._folder = tempfile.TemporaryDirectory(prefix="reproduce-", ignore_cleanup_errors=True)
        self._file = Path(self._folder.name) / "reproduce.py"
        self._process: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """Ends the process, and removes the folder."""
        self._end()
        self._folder.cleanup()

    def run(self, text: str, until: float) -> Outcome:
        """Runs a script.

        Args:
            text: the script.
            until: when it is given up, by `time.monotonic()`.
        """
        self.count += 1
        seconds = max(0.1, min(_LONGEST, until - time.monotonic()))
        self._file.write_text(text, encoding="utf-8")
        if not hasattr(os, "fork"):
            return Outcome(**self._ask(("diagnosed",), seconds + _LONGEST))
        process = self._ensure_process()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(self._request(seconds)) + "\n")
        process.stdin.flush()
        message = process.stdout.readline()
        if not message:
            self._end()
            return Outcome("", "")
        return Outcome(**json.loads(message))

    def prove(self, text: str) -> Outcome:
        """Runs a script in processes of their own, which import everything again."""
        self._file.write_text(text, encoding="utf-8")
        return Outcome(**self._ask(("diagnosed", "raised"), _PROOF))

    def _ask(self, questions: tuple[str, ...], seconds: float) -> dict[str, str]:
        """Answers of processes about the script, one for each question, within the time limit."""
        request = json.dumps(self._request(seconds))
        until = time.monotonic() + seconds
        processes: list[subprocess.Popen[str]] = []
        nothing = {"code": "", "error": ""}
        result = dict(nothing)
        try:
            for question in questions:
                processes.append(self._open_process(question, request))
            for process in processes:
                text, _ = process.communicate(timeout=max(0.1, until - time.monotonic()))
                result |= json.loads(text)
        except (subprocess.TimeoutExpired, ValueError):
            return nothing
        finally:
            for process in processes:
                process.kill()
                process.communicate()
        return result

    def _open_process(self, *arguments: str) -> subprocess.Popen[str]:
        """A process in an empty folder."""
        return another_python(["-m", _MODULE, *arguments], self._folder.name)

    def _request(self, seconds: float) -> dict[str, Any]:
        return {"file": str(self._file), "compared": self._compared, "seconds": seconds}

    def _ensure_process(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = self._open_process()
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
