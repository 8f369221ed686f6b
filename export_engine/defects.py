"""Export Explorer's own defects: logged, and reported as such.

Our own exceptions must neither look like the user's nor vanish. `log_internal_error` logs a
suppressed one; `report_of` makes a report to send: versions and the traceback, without tensor
values or the name of the home folder. `user_code` marks what the user's code raises, not a defect
of ours; `source.user_error` says what it was.
"""

from __future__ import annotations

import linecache
import logging
import platform
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

LOGGER = logging.getLogger("export_explorer")
"""Suppressed exceptions.

`logging.getLogger("export_explorer").setLevel("DEBUG")` and a handler show them.
"""
LOGGER.addHandler(logging.NullHandler())

OURS = (TypeError, AttributeError, LookupError, AssertionError, NameError, NotImplementedError)
"""Exceptions that usually mean a defect. Others, such as ValueError, are about the input."""

_LONGEST_MESSAGE = 600
_MOST_FRAMES = 60
_PACKAGES = ("export-explorer", "torch", "msgspec", "anywidget", "ipywidgets", "ipython")
_ROOMS = ("export_engine", "explorer", "kernel_ext", "widgets")
_RAISED_BY = "_export_explorer_raised_by"
"""The attribute of an exception that says which code of the user's raised it."""


def log_internal_error(error: BaseException, doing: str) -> None:
    """Logs a suppressed exception.

    Args:
        error: the exception.
        doing: what was being done, as a clause: `describing the program`.
    """
    LOGGER.debug("ignored while %s", doing, exc_info=error)


@contextmanager
def passing_over(doing: str) -> Iterator[None]:
    """Suppresses and logs whatever is raised inside; see `log_internal_error`."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - it is what this is for
        log_internal_error(error, doing)


@contextmanager
def user_code(runs: str) -> Iterator[None]:
    """Marks what is raised inside as raised by the user's code, or by torch for it.

    Args:
        runs: what runs inside, as a subject: `the model`, `the program`, `the container Cache`.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if not find_user_code(error):
            BaseException.__setattr__(error, _RAISED_BY, runs)
        raise


def find_user_code(error: BaseException) -> str:
    """What `user_code` says ran when an exception was raised; empty for any other exception."""
    attributes = BaseException.__getattribute__(error, "__dict__")
    return str(attributes.get(_RAISED_BY, ""))


def describe_defect(error: BaseException, doing: str) -> str:
    """A defect in a sentence: what failed, and that it is a bug in Export Explorer."""
    return (
        f"Export Explorer itself failed while {doing}: {_describe_error(error)}. "
        "This is a bug in Export Explorer; its check has no result."
    )


def report_of(error: BaseException, doing: str) -> str:
    """A bug report: versions and the traceback, with source lines and no values."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    lines = [
        f"Export Explorer failed while {doing}.",
        "",
        *(f"{name} {_version_of(name)}" for name in _PACKAGES),
        f"Python {platform.python_version()} on {platform.platform()}",
        "",
        *(_private("".join(traceback.format_list(frames))).rstrip().splitlines()),
        _describe_error(error),
    ]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        lines.append(f"after {_describe_error(cause)}")
    return "\n".join(lines)


def is_ours(error: BaseException) -> bool:
    """Whether an exception is our defect: of such a class, and raised on a line of ours.

    One from the user's or torch's code is about that code, and one that we raise with `raise` is
    about the input.
    """
    if not isinstance(error, OURS) or error.__traceback__ is None or find_user_code(error):
        return False
    *_, (innermost, line) = traceback.walk_tb(error.__traceback__)
    if not is_own_frame(innermost):
        return False
    text = linecache.getline(innermost.f_code.co_filename, line, innermost.f_globals)
    return not text.lstrip().startswith("raise ")


def message_of(error: BaseException | None) -> str:
    """`str(error)`; empty if the exception's own `__str__` raises."""
    try:
        return str(error)
    except Exception as unprintable:  # noqa: BLE001 - a class of the user's
        log_internal_error(unprintable, "reading the message of an exception")
        return ""


def is_own_frame(frame: FrameType) -> bool:
    """Whether a frame runs code of Export Explorer."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _ROOMS


def _describe_error(error: BaseException) -> str:
    """Class and message; long messages and printed tensors are shortened."""
    text = " ".join(_private(message_of(error)).split())
    text = text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


_VALUES = re.compile(
    r"(tensor|array|Parameter containing:\s*tensor)\(\s*\[.*?\](?:,[^()\[\]]*)?\)", re.S
)
_NUMBERS = re.compile(r"\[(?:\s*-?\d[\w.+-]*\s*,){8,}[^\[\]]*\]")


def _private(text: str) -> str:
    """A text without tensor values and without the path of the home folder."""
    text = _NUMBERS.sub("[…]", _VALUES.sub(r"\1(…)", text))
    try:
        return text.replace(str(Path.home()), "~")
    except RuntimeError:  # no home folder
        return text


def _version_of(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    module = sys.modules.get(name)  # what runs, which may differ from the installed package
    result = getattr(module, "__version__", None)
    try:
        return str(result or version(name))
    except PackageNotFoundError:
        return "not installed"
