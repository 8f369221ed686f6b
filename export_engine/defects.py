"""Export Explorer's own defects: kept in a log, said as what they are, with a report to send.

An exception of ours must not be shown as if the user had made it, nor vanish. `passed_over` logs
one that is; `report_of` makes what a person can send: versions and the traceback, without the
values of anyone's tensors, and without the name of their home.
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
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LOGGER = logging.getLogger("export_explorer")
"""What was passed over. `logging.getLogger("export_explorer").setLevel("DEBUG")` and a handler show
it."""
LOGGER.addHandler(logging.NullHandler())

OURS = (TypeError, AttributeError, LookupError, AssertionError, NameError, NotImplementedError)
"""What a defect of ours is, as a rule. Others are about what was asked for, such as ValueError."""

_LONGEST_MESSAGE = 600
_MOST_FRAMES = 60
_PACKAGES = ("export-explorer", "torch", "msgspec", "anywidget", "ipywidgets", "ipython")
_ROOMS = ("export_engine", "explorer", "kernel_ext", "widgets")


def passed_over(error: BaseException, doing: str) -> None:
    """Logs an exception that is passed over.

    Args:
        error: the exception.
        doing: what was being done, as a clause: `describing the program`.
    """
    LOGGER.debug("passed over while %s", doing, exc_info=error)


@contextmanager
def passing_over(doing: str) -> Iterator[None]:
    """Passes over whatever is raised inside, and logs it; see `passed_over`."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - it is what this is for
        passed_over(error, doing)


def failed_itself(error: BaseException, doing: str) -> str:
    """A defect in a sentence: what failed, and that it is nobody's fault but ours."""
    return (
        f"Export Explorer itself failed while {doing}: {_said(error)}. "
        "This is a bug in Export Explorer; what it was checking is unknown."
    )


def report_of(error: BaseException, doing: str) -> str:
    """What to send: versions and the traceback, whose frames show lines of source and no values."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    lines = [
        f"Export Explorer failed while {doing}.",
        "",
        *(f"{name} {_version_of(name)}" for name in _PACKAGES),
        f"Python {platform.python_version()} on {platform.platform()}",
        "",
        *(_private("".join(traceback.format_list(frames))).rstrip().splitlines()),
        _said(error),
    ]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        lines.append(f"after {_said(cause)}")
    return "\n".join(lines)


def is_ours(error: BaseException) -> bool:
    """Whether an exception is a defect of ours: of such a class, and from a line of ours.

    One from code of the user's or of torch's was raised for what that does, and one that a line of
    ours raises with `raise` says what is wrong with what was asked for.
    """
    if not isinstance(error, OURS) or error.__traceback__ is None:
        return False
    *_, (innermost, line) = traceback.walk_tb(error.__traceback__)
    if innermost.f_globals.get("__name__", "").partition(".")[0] not in _ROOMS:
        return False
    text = linecache.getline(innermost.f_code.co_filename, line, innermost.f_globals)
    return not text.lstrip().startswith("raise ")


def _said(error: BaseException) -> str:
    """Class and message; long ones, and printed tensors, shortened."""
    text = " ".join(_private(str(error)).split())
    text = text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


_VALUES = re.compile(
    r"(tensor|array|Parameter containing:\s*tensor)\(\s*\[.*?\](?:,[^()\[\]]*)?\)", re.S
)
_NUMBERS = re.compile(r"\[(?:\s*-?\d[\w.+-]*\s*,){8,}[^\[\]]*\]")


def _private(text: str) -> str:
    """A text without the values of tensors and without the path of a home."""
    text = _NUMBERS.sub("[…]", _VALUES.sub(r"\1(…)", text))
    try:
        return text.replace(str(Path.home()), "~")
    except RuntimeError:  # there is no home
        return text


def _version_of(name: str) -> str:
    module = sys.modules.get(name)  # what runs, which may not be what is installed
    said = getattr(module, "__version__", None)
    try:
        return str(said or version(name))
    except PackageNotFoundError:
        return "not installed"
