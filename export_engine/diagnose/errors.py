"""Finds torch's errors by class name in the exception chain.

By name, since most classes are private and move between releases.
"""

from __future__ import annotations

import traceback
from typing import Any

from export_engine.defects import log_internal_error
from export_engine.diagnose.failing_line import chain
from export_engine.source import is_shown


def is_a(error: BaseException, *names: str) -> bool:
    """Whether an error's class, or one that it derives from, is torch's and has such a name."""
    return any(
        cls.__name__ in names and cls.__module__.partition(".")[0] == "torch"
        for cls in type(error).__mro__
    )


def find(error: BaseException, *names: str) -> BaseException | None:
    """The first error of the chain with such a class."""
    return next(
        (chained_error for chained_error in chain(error) if is_a(chained_error, *names)), None
    )


def cause(error: BaseException) -> BaseException:
    """The root cause: the innermost error of the chain."""
    *_, innermost = chain(error)
    return innermost


def break_type(error: BaseException) -> str:
    """Dynamo's name of the graph break; empty if there is none.

    Up to torch 2.11, a UserError also counts as one there.
    """
    for chained_error in chain(error):
        kind = getattr(chained_error, "gb_type", None)
        if isinstance(kind, str) and kind and not is_a(chained_error, "UserError"):
            return kind
    return ""


def operator_of(error: BaseException) -> Any:
    """The operator overload that an error of the fake tensors is about."""
    return next(
        (f for chained_error in chain(error) if (f := getattr(chained_error, "func", None))), None
    )


def message(error: BaseException) -> str:
    """An error's text; empty if it cannot be read."""
    result = getattr(error, "msg", None)
    if isinstance(result, str):
        return result.strip()
    try:
        return str(error).strip()
    except Exception as error:  # noqa: BLE001 - the text of a model's own error is the model's code
        log_internal_error(error, "reading the text of an error")
        return ""


def came_through(error: BaseException, *functions: str) -> bool:
    """Whether the error passed through such a torch function, called from the user's code."""
    names: list[str] = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if is_shown(frame.f_code.co_filename):
            names.clear()
        else:
            names.append(frame.f_code.co_name)
    return any(name in functions for name in names)
