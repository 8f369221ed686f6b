"""Keeps what a trace prints, logs and warns out of the user's cell, and hands it over instead.

torch writes to stderr and to its loggers while an export fails. A user who set TORCH_LOGS asked for
those logs and keeps them.
"""

from __future__ import annotations

import io
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field

from export_engine.process import undone

MOST_PRINTED = 100_000
"""Characters of output that are kept; a model that prints in a loop fills no memory."""


@dataclass
class Heard:
    """What came up while it was quiet."""

    warnings: list[str] = field(default_factory=list)
    printed: str = ""
    """To stdout."""
    complained: str = ""
    """To stderr. torch writes there too when an export fails: the graph so far, in full."""


@undone
def quiet() -> Iterator[Heard]:
    """Collects warnings, logs and output; puts all back on the way out, also on interrupt."""
    heard = Heard()
    output, complaints = _Bounded(), _Bounded()
    caught: list[warnings.WarningMessage] = []
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            redirect_stdout(output),
            redirect_stderr(complaints),
            _logs_into(heard.warnings),
        ):
            warnings.simplefilter("always")
            yield heard
    finally:
        messages = [str(warning.message).strip() for warning in caught]
        heard.warnings = list(dict.fromkeys([*messages, *heard.warnings]))
        heard.printed, heard.complained = output.getvalue(), complaints.getvalue()


@undone
def descriptors_quiet() -> Iterator[None]:
    """Drops what libraries write past Python, straight to the process's stdout and stderr."""
    kept = [(number, os.dup(number)) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for number, _ in kept:
            os.dup2(nowhere, number)
        yield
    finally:
        for number, own in kept:
            os.dup2(own, number)
            os.close(own)
        os.close(nowhere)


class _Bounded(io.StringIO):
    def write(self, text: str) -> int:
        room = MOST_PRINTED - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


_ABOUT_ITSELF = ("Unable to find user code corresponding to",)
"""What torch logs that says nothing of the model: that it found no line, where we know it."""


@undone
def _logs_into(messages: list[str]) -> Iterator[None]:
    """Warnings and errors of torch's loggers go to `messages` instead of to their own handlers."""
    if os.environ.get("TORCH_LOGS"):
        yield
        return

    def keep(record: logging.LogRecord) -> bool:
        try:
            said = record.getMessage().strip()
        except (TypeError, ValueError):  # torch itself logs too few arguments for a message or two
            said = str(record.msg).strip()
        if record.levelno >= logging.WARNING and not said.startswith(_ABOUT_ITSELF):
            messages.append(said)
        return False

    handlers = {
        handler
        for name, logger in logging.root.manager.loggerDict.items()
        if name.split(".")[0] == "torch" and isinstance(logger, logging.Logger)
        for handler in logger.handlers
    }
    for handler in handlers:
        handler.addFilter(keep)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(keep)
