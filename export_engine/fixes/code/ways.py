"""Ways to rewrite a line, and the same ways after another rewrite has made room for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from export_engine.attempt import Attempt
from export_engine.fixes.code.branches.bool_tests_to_tensors import (
    keep_as_tensor,
)
from export_engine.fixes.code.calls.logging_calls import skip_logging, without_note
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
            def make(text: str, line: int) -> Rewritten:
                before, moved = room(text, line)
                return rewrite(before.text, moved)

            return make

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
    skip_logging,
    gives_up="The program does not print, log or warn.",
)
TENSOR = Way(
    "Keep the number in line {line} a tensor",
    "A number that stays a tensor is computed at run time.",
    keep_as_tensor,
    is_tentative=True,
)
