"""The tables that a Record's columns point into. Equal entries are kept once."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from export_engine.describe.file_names import FileNames
from export_engine.record import Column, Frames, Ragged
from export_engine.source import Location, Stack

_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)


class Table(Generic[_K, _T]):
    """Entries by key, numbered in order of first use."""

    def __init__(self) -> None:
        self.entries: list[_T] = []
        self._numbers: dict[_K, int] = {}

    def find(self, key: _K) -> int | None:
        """The number of a key's entry; None where it has none yet."""
        return self._numbers.get(key)

    def add(self, key: _K, entry: _T) -> int:
        """Adds the entry of a new key and returns its number."""
        number = self._numbers[key] = len(self.entries)
        self.entries.append(entry)
        return number


class Strings:
    """Texts, numbered in order of first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text, adding it where it is new."""
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def entries(self) -> list[str]:
        """All texts, by number."""
        return list(self._numbers)


class Stacks:
    """Call stacks, their frames and files."""

    def __init__(self, strings: Strings, names: FileNames) -> None:
        self._strings = strings
        self.files = names
        self._frames: dict[Location, int] = {}
        self._stacks: dict[Stack, int] = {}
        self._by_number: list[Stack] = []

    def number(self, stack: Stack) -> int:
        """The number of a stack; -1 for the empty one."""
        if not stack:
            return -1
        known = self._stacks.get(stack)
        if known is not None:
            return known
        for location in stack:
            self._frames.setdefault(location, len(self._frames))
        self._by_number.append(stack)
        return self._stacks.setdefault(stack, len(self._stacks))

    def stack(self, number: int) -> Stack:
        """A stack by its number; the empty one for -1."""
        return self._by_number[number] if number >= 0 else ()

    def frames(self) -> Frames:
        """Every frame that some stack has."""
        frames = self._frames
        return Frames(
            file=array("i", [self.files.number(frame.file) for frame in frames]),
            line=array("i", [frame.line for frame in frames]),
            function=array("i", [self._strings.number(frame.function) for frame in frames]),
        )

    def stacks(self) -> Ragged:
        """Every stack, as numbers of frames."""
        return make_ragged([self._frames[frame] for frame in stack] for stack in self._by_number)


def make_ragged(lists: Iterable[list[int]]) -> Ragged:
    """Lists of different lengths as two columns."""
    starts: Column = array("i", [0])
    items: Column = array("i")
    for numbers in lists:
        items.extend(numbers)
        starts.append(len(items))
    return Ragged(starts, items)
