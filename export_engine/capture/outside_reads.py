"""Records what the model's own Python does while traced, unseen by torch.

It reads the environment and files, and copies the Python objects of tensors.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from export_engine.process import undone
from export_engine.source import TORCH, Location, Stack, is_own, is_shown, user_stack
from export_engine.torch_internals import replace_attribute
from export_engine.trace import OutsideRead

_STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep
_BUILT_IN, _IMPORTS = "<frozen ", "importlib"
"""File names of Python's frozen standard-library modules."""
_LOADERS = (TORCH + "serialization.py",)
"""Libraries that open files for their caller."""
_BESIDE = frozenset(
    {"linecache", "tokenize", "traceback", "warnings", "inspect", "tempfile", "importlib"}
    | {"__init__"}  # logging reads its own
)
"""Standard-library modules that read for their own purposes."""


@undone
def outside_reads_seen(into: list[OutsideRead]) -> Iterator[None]:
    """Records each user line that reads from outside, once."""
    told: set[Location] = set()

    def note(what: Any, name: object) -> None:
        place = _place(sys._getframe(2))
        if place is not None and place not in told:
            told.add(place)
            into.append(OutsideRead(what, str(name), place))

    def environment(original: Any) -> Any:
        def __getitem__(self: Any, key: Any) -> Any:  # noqa: N807 - it stands for that
            note("environment", key)
            return original(self, key)

        return __getitem__

    def file(original: Any) -> Any:
        def open(*args: Any, **kwargs: Any) -> Any:  # noqa: A001 - it stands for that
            note("file", Path(str(args[0] if args else kwargs.get("file"))).name)
            return original(*args, **kwargs)

        return open

    with ExitStack() as hooks:
        hooks.enter_context(replace_attribute(type(os.environ), "__getitem__", environment))
        hooks.enter_context(replace_attribute(builtins, "open", file))
        hooks.enter_context(replace_attribute(io, "open", file))
        yield


@undone
def copies_seen(into: list[Stack]) -> Iterator[None]:
    """Records each line that copies the Python object of a tensor, once."""

    def wrap_reduce(original: Any) -> Any:
        def __reduce_ex__(self: Any, protocol: Any) -> Any:  # noqa: N807 - it stands for that
            stack = user_stack(sys._getframe(1), lambda _: ())
            if stack and stack not in into:
                into.append(stack)
            return original(self, protocol)

        return __reduce_ex__

    with replace_attribute(torch.Tensor, "__reduce_ex__", wrap_reduce):
        yield


def _place(frame: FrameType | None) -> Location | None:
    """The user's line that reads, directly or through the standard library; None for others."""
    while frame is not None:
        path = frame.f_code.co_filename
        function = frame.f_code.co_name
        if is_own(path):
            if function == "<module>" or not is_shown(
                path
            ):  # an import, which runs once, or our own code
                return None
            return Location(path, frame.f_lineno, function)
        passing = path.startswith((_STANDARD_LIBRARY, _BUILT_IN, *_LOADERS))
        if not passing or Path(path).stem in _BESIDE or _IMPORTS in path:
            return None
        frame = frame.f_back
    return None
