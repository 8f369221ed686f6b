"""Captures what a trace prints, logs and warns, so the user's cell stays clean.

torch writes to stderr and to its loggers while an export fails. A user who set TORCH_LOGS still
gets those logs.
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
from export_engine.source import TORCH

MOST_PRINTED = 100_000
"""Characters of output that are kept, so that a printing loop does not fill the memory."""


@dataclass
class Heard:
    """The captured text."""

    warnings: list[str] = field(default_factory=list)
    printed: str = ""
    """To stdout."""
    complained: str = ""
    """To stderr. torch also prints the whole graph there when an export fails."""


@undone
def quiet() -> Iterator[Heard]:
    """Captures warnings, logs and output; restores all on exit, also after an interrupt."""
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
        messages = [str(row.message).strip() for row in caught if not _is_torchs_own(row)]
        heard.warnings = list(dict.fromkeys([*messages, *heard.warnings]))
        heard.printed, heard.complained = output.getvalue(), complaints.getvalue()


def _is_torchs_own(warning: warnings.WarningMessage) -> bool:
    """Whether torch calls a function of its own that it calls deprecated: a user cannot mend it."""
    deprecated = issubclass(warning.category, (FutureWarning, DeprecationWarning))
    return deprecated and warning.filename.startswith(TORCH)


@undone
def descriptors_quiet() -> Iterator[None]:
    """Drops what C libraries write directly to the process's stdout and stderr."""
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


_LOGGERS = {"torch", "transformers"}
_TRACE = "torch.__trace"
"""torch's log for tlparse, which says nothing to anyone. Where no TORCH_TRACE asks for it, its
handler goes at its first record; one that never got any would have torch word each guard, and the
stacks that asked for it, for nothing."""
_ABOUT_ITSELF = ("Unable to find user code corresponding to",)
"""torch's log messages about missing source lines, which we find ourselves."""


@undone
def _logs_into(messages: list[str]) -> Iterator[None]:
    """Redirects warnings and errors of the loggers of torch and transformers to `messages`."""
    if os.environ.get("TORCH_LOGS"):
        yield
        return

    def keep(record: logging.LogRecord) -> bool:
        try:
            text = record.getMessage().strip()
        except (TypeError, ValueError):  # some of torch's own log calls lack arguments
            text = str(record.msg).strip()
        if record.levelno >= logging.WARNING and not text.startswith(_ABOUT_ITSELF):
            messages.append(text)
        return False

    handlers = {
        handler
        for name, logger in logging.root.manager.loggerDict.items()
        for handler in getattr(logger, "handlers", ())
        if name.partition(".")[0] in _LOGGERS and name != _TRACE
    }
    for handler in handlers:
        handler.addFilter(keep)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(keep)
