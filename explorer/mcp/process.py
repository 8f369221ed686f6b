"""The process that keeps the session: a line of JSON in for each call, and lines of JSON out.

It runs the user's code, so its standard output is not the one that is spoken on. An interrupt ends
the call that goes on; the session stays.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import IO, Any

from explorer.mcp.answers import ToolRefused, to_json, to_text
from explorer.mcp.files import Root
from explorer.mcp.tools import Tools
from explorer.session.internal_errors import OURS, find_defect
from explorer.session.session import FixError
from explorer.text.escape import harmless
from export_engine.defects import log_internal_error
from export_engine.progress import Progress

_PAUSE = 0.25
"""Seconds from one report of progress to the next."""
_CANCELLED = ("cancelled", "Cancelled. The session's attempts are unchanged.")


def main(root: str) -> None:
    """Answers calls until the input ends."""
    spoken = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    heard = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(root)
    speaker = _Speaker(spoken)
    tools = Tools(Root(Path(root)), speaker.report)
    signal.signal(signal.SIGINT, speaker.interrupt)
    for line in heard:
        call = json.loads(line)
        speaker.begin(call["id"])
        try:
            ended = _answer_call(tools, call)
        except KeyboardInterrupt:
            ended = _CANCELLED
        speaker.end(*ended)


def _answer_call(tools: Tools, call: dict[str, Any]) -> tuple[str, str]:
    """How a call ended, `ok`, `refused` or `cancelled`, and the text for the client."""
    try:
        answer = tools.call(call["tool"], call["arguments"])
        return "ok", to_json(answer) if call["json"] else to_text(answer, call["first_line"])
    except KeyboardInterrupt:
        return _CANCELLED
    except (ToolRefused, FixError, LookupError, ImportError, ValueError, OSError) as error:
        return "refused", _cut(error)
    except SystemExit as error:
        return "refused", f"The code called sys.exit({error.code!r})."
    except Exception as error:  # noqa: BLE001 - whatever the user's own code raises
        log_internal_error(error, f"answering {call['tool']}")
        defect = (
            find_defect(error, f"answering {call['tool']}") if isinstance(error, OURS) else None
        )
        return "refused", _cut(defect or f"{type(error).__name__}: {error}")


def _cut(error: object) -> str:
    text = harmless(error)
    return text if len(text) <= 2_000 else f"{text[:2_000]}…"


class _Speaker:
    """Writes lines about the call that goes on."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._call = 0
        self._last = 0.0
        self._busy = False

    def interrupt(self, *_: object) -> None:
        """The handler of SIGINT: ends the call that goes on, and nothing where none does."""
        if self._busy:
            raise KeyboardInterrupt

    def begin(self, call: int) -> None:
        """Messages from now on are about this call."""
        self._call, self._last, self._busy = call, 0.0, True

    def report(self, progress: Progress) -> None:
        """Progress, not more often than someone can read."""
        now = time.monotonic()
        if now - self._last < _PAUSE:
            return
        self._last = now
        label = harmless(f"{progress.what} {progress.label}")[:200]
        self._write({"done": progress.done, "total": progress.total, "label": label})

    def end(self, ended: str, text: str) -> None:
        """The answer."""
        self._busy = False
        self._write({"ended": ended, "text": text})

    def _write(self, fields: dict[str, Any]) -> None:
        line = json.dumps({"id": self._call, **fields})
        self._stream.write(f"\n{line}\n")  # what the user's code wrote there is a line of its own
        self._stream.flush()


if __name__ == "__main__":
    main(sys.argv[1])
