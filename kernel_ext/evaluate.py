"""Evaluates the parts of a call in the user's namespace."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, NamedTuple

from kernel_ext.command import Call
from kernel_ext.errors import ExportUsageError, pointing


class Evaluated(NamedTuple):
    """A call, ready to export."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def evaluate_call(call: Call, namespace: dict[str, Any]) -> Evaluated:
    """The callee and the arguments. The call itself is not made.

    Raises:
        ExportUsageError: a name is not known, or the callee cannot be called.
        Exception: whatever the user's own expressions raise.
    """
    function = evaluate(call.function, namespace)
    if not callable(function):
        kind = type(function).__name__
        raise ExportUsageError(f"{call.function} is a {kind} and cannot be called.")
    args: list[Any] = []
    for starred, source in call.args:
        value = evaluate(source, namespace)
        args.extend(value) if starred else args.append(value)
    kwargs: dict[str, Any] = {}
    for name, source in call.kwargs:
        value = evaluate(source, namespace)
        kwargs.update(value if name is None else {name: value})
    return Evaluated(function, tuple(args), kwargs)


def evaluate(source: str, namespace: dict[str, Any]) -> Any:
    """One expression of the user's, in their namespace."""
    try:
        return eval(compile(source, "<%export>", "eval"), namespace)  # noqa: S307 - the user's own
    except NameError as error:
        # Only a name of this line: one missing inside the user's own functions is theirs to see.
        if error.name and error.__traceback__ and error.__traceback__.tb_next is not None:
            inner = error.__traceback__.tb_next
            if inner.tb_next is None and error.name not in namespace:
                raise _unknown_name(error.name, source, namespace) from None
        raise
    except SyntaxError as error:
        raise pointing(
            f"This is no Python: {error.msg}", source, (error.offset or 1) - 1
        ) from error


def _unknown_name(name: str, source: str, namespace: dict[str, Any]) -> ExportUsageError:
    known = [each for each in namespace if not each.startswith("_")]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else " Run the cell that defines it first."
    return pointing(f"There is no {name} here.{hint}", source, source.find(name))
