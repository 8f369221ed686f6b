"""Where generated code calls each kernel, and where it defines it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from export_engine.record import StageCode

_HANDLES = re.compile(r"\s*(?:#|//) \[Provenance debug handles\] (?P<names>.+)")
_DEFINED = re.compile(
    r"(?P<python>\w+) = async_compile\.|"
    r'\s*extern "C"\s+(?:[\w:]+\s+)*void\s+(?P<cpp>\w+)\s*\('
)
_BUFFER = re.compile(r"\bbuf\d+\b")
_RENAMED = re.compile(r"\s*(?:auto )?(?P<new>buf\d+) = .*?\b(?P<old>buf\d+)\b")
_FAR = 60
"""Lines between a kernel's handle and its call, at most."""


class CodePlace(NamedTuple):
    """A line of generated code."""

    code: int
    line: int
    """1-based."""


def find_calls(codes: Sequence[StageCode]) -> dict[str, CodePlace]:
    """Where each kernel is called, by its name with the number of the call; in the calls' order."""
    places: dict[str, CodePlace] = {}
    for number, code in enumerate(codes):
        lines = code.text.splitlines()
        for at, line in enumerate(lines):
            match = _HANDLES.fullmatch(line)
            if match is None:
                continue
            for name in map(str.strip, match["names"].split(",")):
                if name not in places:
                    places[name] = CodePlace(number, _call_after(lines, at, name))
    return places


def _call_after(lines: Sequence[str], at: int, name: str) -> int:
    """The line, 1-based, that calls a kernel: C++ sets its arguments up before."""
    called = f"{name.rpartition(':')[0]}("
    for line in range(at + 1, min(at + _FAR, len(lines))):
        if called in lines[line] and not lines[line].lstrip().startswith(("#", "//")):
            return line + 1
    return min(at + 2, len(lines))


def find_readers(codes: Sequence[StageCode], calls: Mapping[str, CodePlace]) -> dict[str, set[str]]:
    """Per kernel, the kernels that read the buffers that its call is the first to name.

    Args:
        codes: of the compilation.
        calls: where each kernel is called, in the calls' order.
    """
    readers: dict[str, set[str]] = {kernel: set() for kernel in calls}
    for number, code in enumerate(codes):
        lines, before = code.text.splitlines(), 0
        writers: dict[str, str] = {}
        for kernel, place in calls.items():
            if place.code != number:
                continue
            for renamed in filter(None, map(_RENAMED.match, lines[before : place.line - 1])):
                if renamed["old"] in writers:
                    writers[renamed["new"]] = writers[renamed["old"]]
            for buffer in _BUFFER.findall(lines[place.line - 1]):
                readers[writers.setdefault(buffer, kernel)].add(kernel)
            before = place.line
    return readers


def find_definitions(codes: Sequence[StageCode]) -> dict[str, CodePlace]:
    """Where each generated kernel is defined, by its name without a number."""
    places: dict[str, CodePlace] = {}
    for number, code in reversed(list(enumerate(codes))):  # a wrapper in C++ only declares them
        for at, line in enumerate(code.text.splitlines()):
            match = _DEFINED.match(line)
            name = match and (match["python"] or match["cpp"])
            if name:
                places.setdefault(name, CodePlace(number, at + 1))
    return places
