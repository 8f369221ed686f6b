"""Whose error an exception is, and a sentence for one of the user's code.

The user's code is the model, the program, a container, a backend: `defects.user_code` marks what it
raises where we run it. A method of the user's that Python or torch calls for us, such as a
container's unflatten function or `__eq__`, is told by the traceback: its frame is inside of ours.
"""

from __future__ import annotations

import linecache
import re
import traceback
from pathlib import PurePath
from types import FrameType

from export_engine.defects import find_user_code, is_own_frame, message_of
from export_engine.source.file_owner import TORCH, is_own, package_of
from export_engine.source.user_frames import Location, is_shown, parse_stack_trace

_TOOLS = frozenset({"mpmath", "msgspec", "numpy", "onnx", "optree", "pygments", "sympy"})
"""Packages that we call ourselves: what one of them raises is not the user's error."""
_GENERATED = "<eval_with_key>"
_NODE = re.compile(r"\s*(\w+)")
_LONGEST = 160


def user_error(error: BaseException) -> str:
    """The error of the user's code and its line, in a sentence; empty for an error of ours.

    An error that we raise `from` one of the user's says no more than that one.
    """
    runs = find_user_code(error) or _user_function(error)
    if not runs:
        return user_error(error.__cause__) if error.__cause__ is not None else ""
    first = next(iter(message_of(error).strip().splitlines()), "")[:_LONGEST].rstrip(" .:")
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    place = error_location(error)
    where = f" ({PurePath(place.file).name}:{place.line})" if place else ""
    return f"{runs[:1].upper()}{runs[1:]} raises {text}{where}."


def raise_if_users(error: BaseException) -> None:
    """Raises an exception on if a function of the user's raised it.

    For a handler of what torch cannot do with a program: a container that cannot be rebuilt says
    nothing about the program.
    """
    if _user_function(error):
        raise error


def is_container_error(error: BaseException) -> bool:
    """Whether a container of the user's could not be flattened or rebuilt.

    torch's pytree called a function of its class, and that raised.
    """
    by_pytree = False
    is_found = False
    for frame, _ in traceback.walk_tb(error.__traceback__):
        path = frame.f_code.co_filename
        is_found = is_found or (by_pytree and not is_own_frame(frame) and is_own(path))
        by_pytree = path.startswith(TORCH) and path.endswith("_pytree.py")
    return is_found


def error_location(error: BaseException) -> Location | None:
    """The innermost line of the user's that an exception passed; None if there is none.

    A line of a graph's generated code stands for the line that its node came from.
    """
    location: Location | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = frame.f_code.co_filename
        if is_own_frame(frame):
            continue
        if path.startswith(_GENERATED):
            location = _node_location(frame, line) or location
        elif is_shown(path) and not path.startswith(TORCH):
            location = Location(path, line, frame.f_code.co_name)
    return location


def _user_function(error: BaseException) -> str:
    """The user's function that raised, called by Python or torch for us; empty for none."""
    text = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        path = frame.f_code.co_filename
        if is_own_frame(frame):
            text = ""
        elif is_own(path) or package_of(path) not in ("", *_TOOLS):
            text = f"`{frame.f_code.co_qualname}`"
    return text


def _node_location(frame: FrameType, line: int) -> Location | None:
    """The user's line of the node that a line of generated code computes."""
    graph = getattr(frame.f_locals.get("self"), "graph", None)
    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals)
    name = _NODE.match(text)
    for node in getattr(graph, "nodes", ()) if name else ():
        if name and node.name == name[1]:
            stack = parse_stack_trace(node.stack_trace or "")
            return stack[-1] if stack else None
    return None
