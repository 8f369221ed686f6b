"""Runs scripts in other processes. Nothing that a script does reaches the user's process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

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
            return self._once(seconds + _LONGEST)
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(self._request(seconds)) + "\n")
        process.stdin.flush()
        said = process.stdout.readline()
        if not said:
            self._end()
            return Outcome("", "")
        return Outcome(**json.loads(said))

    def prove(self, text: str) -> Outcome:
        """Runs a script in a process of its own, which imports everything again."""
        self._file.write_text(text, encoding="utf-8")
        return self._once(_PROOF)

    def _once(self, seconds: float) -> Outcome:
        command = [sys.executable, "-m", _MODULE, "once", json.dumps(self._request(seconds))]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=seconds, check=False, **self._surroundings()
            )
            return Outcome(**json.loads(done.stdout or b"{}"))
        except (subprocess.TimeoutExpired, ValueError, TypeError):
            return Outcome("", "")

    def _request(self, seconds: float) -> dict[str, Any]:
        return {"file": str(self._file), "compared": self._compared, "seconds": seconds}

    def _surroundings(self) -> dict[str, Any]:
        """Where a script runs: an empty folder, with the packages that this process finds."""
        found = os.pathsep.join(str(Path(each).absolute()) for each in sys.path)
        environment = {**os.environ, "PYTHONPATH": found, "PYTHONSAFEPATH": "1"}
        return {"cwd": self._folder.name, "env": environment, "start_new_session": True}

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                **self._surroundings(),
            )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
