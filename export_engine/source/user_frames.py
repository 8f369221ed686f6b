"""Call stacks for a user: without torch's internals, outermost call first.

Frames are kept when they are the user's, their libraries', or one of torch's own `nn` modules or
example cases.
Walks live frames, reads and writes the text form that torch stores on nodes; knows nothing of
torch's private names.
"""

from __future__ import annotations

import linecache
import re
import sysconfig
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import FrameType
from typing import NamedTuple

from export_engine.source.file_owner import TORCH, package_of

_TORCH = TORCH.replace("\\", "/")
_TORCH_NN = _TORCH + "nn/"
_EXPORTDB = _TORCH + "_export/db/examples/"
# Between any two modules, and of no use to a reader.
_NN_PLUMBING = _TORCH_NN + "modules/module.py"
_STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"] + "/"
_ENGINE = __file__.rsplit("/", 2)[0] + "/"
_HELPERS = frozenset({"einops"})
"""Packages whose layers are helpers too."""
_PROMPTS = ("<ipython-input", "<stdin>")
_FRAME_LINE = re.compile(r'\s*File "(?P<file>.*)", line (?P<line>\d{1,9}), in (?P<function>.*)')


class Location(NamedTuple):
    """A line of a stack."""

    file: str
    line: int
    function: str


Stack = tuple[Location, ...]

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})


def user_stack(innermost: FrameType, behind: Callable[[FrameType], Stack]) -> Stack:
    """The shown frames from `innermost` out to the one that started the export.

    Args:
        innermost: where to start.
        behind: the user's lines that a frame of generated code (`<eval_with_key>`) replaces.
    """
    frame: FrameType | None = innermost
    locations: list[Location] = []
    while frame is not None:
        code = frame.f_code
        path = code.co_filename
        if path.startswith(_ENGINE):
            if code.co_name == "run_export":
                break
        elif is_shown(path):
            locations.append(Location(path, frame.f_lineno, code.co_name))
        elif path.startswith("<eval_with_key>"):
            locations.extend(reversed(behind(frame)))
        frame = frame.f_back
    locations.reverse()
    return without_repeats(locations)


@lru_cache(maxsize=4096)
def is_shown(path: str) -> bool:
    """Whether frames of this file belong in a stack that a user reads."""
    if path.startswith(_TORCH):
        return path.startswith((_TORCH_NN, _EXPORTDB)) and path != _NN_PLUMBING
    if path.startswith("<"):
        return path.startswith(_PROMPTS)
    if path.startswith("torch/"):  # torch's marker of the checks that it adds itself
        return False
    if path.endswith(".pyx"):  # compiled by Cython, as NumPy's random numbers
        return False
    standard = path.startswith(_STANDARD_LIBRARY) and "-packages" not in path
    return not standard and not path.startswith(_ENGINE)


def in_the_model(stack: Stack) -> Stack:
    """The stack up to the innermost line of the model's code; all, if there is none.

    That is not one of torch's own modules, nor of a package that it calls as a helper, such as
    einops: one that runs no module of its own there.
    """
    end = len(stack)
    while end > 1 and stack[end - 1].file.startswith(_TORCH):
        end -= 1
    return outside_helpers(stack[:end])


def outside_helpers(stack: Stack) -> Stack:
    """The stack up to the innermost line that is not in a helper package; all, if there is none."""
    modules = {
        package_of(location.file) for location in stack if location.function == "forward"
    } - _HELPERS
    shown = [
        n for n, location in enumerate(stack, 1) if package_of(location.file) in {"", *modules}
    ]
    return stack[: shown[-1]] if shown else stack


def without_repeats(locations: Iterable[Location]) -> Stack:
    """The stack without a repeated path, and without frames of comprehensions.

    A branch of torch.cond is traced on its own first; the recovered stack of each of its ops begins
    again at the function that called cond. A comprehension is a function of its own only before
    Python 3.12 (PEP 709): its line is one of the function that it stands in.
    """
    shown: list[Location] = []
    for frame_location in locations:
        location = frame_location
        if (
            frame_location.function in _COMPREHENSIONS
            and shown
            and shown[-1].file == frame_location.file
        ):
            location = frame_location._replace(function=shown.pop().function)
        if location in shown:
            del shown[shown.index(location) :]
        shown.append(location)
    return tuple(shown)


@lru_cache(maxsize=16384)
def parse_stack_trace(text: str) -> Stack:
    """The shown frames of a `stack_trace` text: Python's traceback format, as torch stores it."""
    locations = []
    for line in text.splitlines():
        match = _FRAME_LINE.fullmatch(line)
        if match and is_shown(match["file"]):
            locations.append(Location(match["file"], int(match["line"]), match["function"]))
    return without_repeats(locations)


@lru_cache(maxsize=16384)
def format_stack(stack: Stack) -> str:
    """A stack in the text form that torch stores on nodes."""
    return "\n".join(_format_location(location) for location in stack).strip()


@lru_cache(maxsize=16384)
def _format_location(location: Location) -> str:
    code = linecache.getline(location.file, location.line).strip()
    place = f'  File "{location.file}", line {location.line}, in {location.function}'
    return f"{place}\n    {code}" if code else place
