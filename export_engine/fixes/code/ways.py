"""Ways to rewrite a line, and the same ways after another rewrite has made room for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from export_engine.attempt import Attempt
from export_engine.fixes.code.branches.branch_appends import append_apart
from export_engine.fixes.code.branches.match_to_if import match_as_if
from export_engine.fixes.code.branches.number_states import numbers_as_tensors
from export_engine.fixes.code.branches.tensor_questions import (
    asked_as_tensors,
    asked_not_zero,
    kept_as_tensor,
)
from export_engine.fixes.code.calls.notes import note_apart, unsaid, without_note
from export_engine.fixes.code.editing.rewrite import Rewritten

Rewrite = Callable[[str, int], Rewritten]
_Room = Callable[[str, int], tuple[Rewritten, int]]
"""A rewrite, and the line at which the next one goes on."""


class Way(NamedTuple):
    """A rewrite, and what is said of it."""

    title: str
    """With `{line}` and `{function}`."""
    why: str
    rewrite: Rewrite
    gives_up: str = ""
    is_tentative: bool = False
    """Whether another way that leads to a program is better than this one that leads on."""
    room: Rewrite | None = None
    """What is done before, where that is tried in eager by itself."""
    selects: Callable[[Attempt, str], bool] | None = None
    """Of a choice: whether the values of the program are such that it is Python's choice."""

    def after(self, room: _Room) -> Way:
        """The same way, once room is made for it."""

        def behind(rewrite: Rewrite) -> Rewrite:
            def made(text: str, line: int) -> Rewritten:
                before, moved = room(text, line)
                return rewrite(before.text, moved)

            return made

        later = behind(self.room) if self.room is not None else None
        return self._replace(rewrite=behind(self.rewrite), room=later)

    def behind(self, first: str) -> Way:
        """The same way, with what is done before it in its title."""
        return self._replace(title=f"{first}, and {self.title[0].lower()}{self.title[1:]}")


NOTE = Way(
    "Skip the message in line {line} while exporting",
    "The branch only warns or prints, so no output depends on it.",
    without_note,
    gives_up="The program does not warn.",
)
UNSAID = Way(
    "Skip the message in line {line} while exporting",
    "A message needs the numbers that it is made of, and no output depends on it.",
    unsaid,
    gives_up="The program does not print, log or warn.",
)
TENSOR = Way(
    "Keep the number in line {line} a tensor",
    "A number that stays a tensor is computed at run time.",
    kept_as_tensor,
    is_tentative=True,
)


def numbers_kept(ways: list[Way], read: int, *, whole: bool = False) -> list[Way]:
    """The rewrites of a line where the number that another line reads stays a tensor."""
    return [
        each.behind("Keep the number in line {read} a tensor")
        .after(lambda text, line: (kept_as_tensor(text, read, whole=whole), line))
        ._replace(why=f"{TENSOR.why} {each.why}")
        for each in ways
    ]


def states_kept(ways: list[Way]) -> list[Way]:
    """The rewrites of a branch once the plain numbers that it changes are tensors."""

    def room(text: str, line: int) -> Rewritten:
        return numbers_as_tensors(text, line)[0]

    first = "Keep the numbers that line {line} changes tensors"
    return [
        each.behind(first)
        .after(numbers_as_tensors)
        ._replace(why=f"{TENSOR.why} {each.why}", room=room)
        for each in ways
    ]


def without_notes(ways: list[Way]) -> list[Way]:
    """The rewrites of a branch that warns as well, without the warning."""
    return [
        each.behind(NOTE.title)
        .after(note_apart)
        ._replace(why=f"No output depends on the message. {each.why}", gives_up=NOTE.gives_up)
        for each in ways
    ]


def appended_apart(ways: list[Way]) -> list[Way]:
    """The rewrites of a branch both of whose ways append, as a choice of what is appended."""
    return [each.after(lambda text, line: (append_apart(text, line), line)) for each in ways]


def matched(ways: list[Way]) -> list[Way]:
    """The rewrites of the first test of a `match`, as an `if` with its `elif`s."""
    return [each.after(match_as_if) for each in ways]


def asked_not_zeros(ways: list[Way]) -> list[Way]:
    """The rewrites of a branch that asks for the truth of a number: whether it is not 0."""
    return [each.after(lambda text, line: (asked_not_zero(text, line), line)) for each in ways]


def asked_of_tensors(ways: list[Way]) -> list[Way]:
    """The rewrites of a line whose questions to tensors are tensors first."""
    return [each.after(lambda text, line: (asked_as_tensors(text, line), line)) for each in ways]
