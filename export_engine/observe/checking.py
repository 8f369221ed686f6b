"""Runs a program on every call that was seen, and compares it with the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch

from export_engine.attempt import Request
from export_engine.capture import model_kept
from export_engine.defects import log_internal_error
from export_engine.observe.seen_calls import Call, Seen
from export_engine.observe.variation import Group
from export_engine.process import raise_if_interrupted, sandbox
from export_engine.torch_internals import callable_module
from export_engine.verify import compare, fresh_request, run


@dataclass(frozen=True)
class CheckedCall:
    """A call that was seen, or several of the same sizes, and what the program makes of it."""

    sizes: dict[str, int]
    """The sizes and ints that vary, by the names of the group's Shapes."""
    times: int
    outcome: Literal["agrees", "differs", "rejected", "not checked"]
    """`not checked`: the model itself fails on the copies of its inputs."""
    detail: str = ""
    own_values: bool = True
    """Whether it ran on the values that were seen; else on others of the same sizes."""


def check_calls(
    program: torch.export.ExportedProgram, target: Callable[..., Any], group: Group
) -> Iterator[CheckedCall]:
    """Each call of a group; the model is as before.

    Raises:
        KeyboardInterrupt: the user interrupted.
    """
    with sandbox(), model_kept(target) as restore:
        called = callable_module(program)
        for number, (call, seen) in enumerate(group.calls):
            raise_if_interrupted()
            request = _request(target, group, call, seen)
            outcome, detail = _compare_with_eager(called, request, restore)
            yield CheckedCall(
                _sizes(group, number), seen.times, outcome, detail, seen.example is not None
            )


def _compare_with_eager(
    called: Callable[..., Any], request: Request | None, restore: Callable[[], None]
) -> tuple[Any, str]:
    if request is None:
        return "not checked", "no inputs of such a call were stored"
    try:
        eager = run(request.target, request, seed=0)
    except Exception as error:  # noqa: BLE001 - the model may refuse inputs by whatever it likes
        log_internal_error(error, "running a call that was seen")
        return "not checked", _describe_error(error)
    finally:
        restore()
    try:
        ours = run(called, request, seed=0)
    except Exception as error:  # noqa: BLE001 - so may the program
        log_internal_error(error, "running a program on a call that was seen")
        return "rejected", _describe_error(error)
    finally:
        restore()
    difference = compare(ours, eager)
    return ("agrees" if difference.same else "differs"), difference.detail


def _request(target: Callable[..., Any], group: Group, call: Call, seen: Seen) -> Request | None:
    """The call again: with its own inputs, or others of its sizes where they were not kept."""
    if seen.example is not None:
        args, kwargs = seen.example
        return Request(target=target, args=args, kwargs=kwargs)
    kept = next((item.example for _, item in group.calls if item.example is not None), None)
    if kept is None:
        return None
    paths = (part[0] for part in call.build)
    wanted = {path: sizes for path, sizes in zip(paths, call.sizes, strict=True) if sizes}
    return fresh_request(Request(target=target, args=kept[0], kwargs=kept[1]), wanted, seed=0)


def _sizes(group: Group, number: int) -> dict[str, int]:
    named = {name: columns[0].values[number] for name, columns in group.dims.items()}
    ints = {c.path: c.values[number] for c in group.columns if c.position < 0 and c.varies}
    return named | ints


def _describe_error(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:200]
