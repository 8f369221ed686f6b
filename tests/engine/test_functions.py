"""What a function of the user's refers to; what its properties change is put back."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.source import closure_of, function_behind, names_in

SEEN: list[str] = []


def plain() -> int:
    return 1


class Asked:
    """Notes who asks it for an attribute that it has not."""

    asked: list[str] = []  # noqa: RUF012 - for all of them

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        raise AttributeError(name)

    def __call__(self) -> int:
        return 1


def test_the_function_behind_what_wraps_it() -> None:
    @functools.wraps(plain)
    def wrapper() -> int:
        return plain()

    wraps: list[Any] = [plain, wrapper, functools.cache(plain), property(plain)]
    wraps += [staticmethod(plain), classmethod(plain), functools.cache(wrapper)]
    assert [function_behind(each) for each in wraps] == [plain] * len(wraps)
    assert [function_behind(each) for each in (None, len, Asked, Asked())] == [None] * 4
    assert Asked.asked == []


def test_a_wrapper_of_itself_ends() -> None:
    def around() -> None: ...

    vars(around)["__wrapped__"] = around
    assert function_behind(around) is around


def test_names_and_closures() -> None:
    one, later = 1, 2

    def inner() -> list[int]:
        return [one + unset + len(SEEN) for _ in range(3)]

    assert dict(closure_of(inner)) == {"one": 1}
    unset = later
    assert dict(closure_of(inner)) == {"one": 1, "unset": 2}
    assert {"SEEN", "len", "range"} <= {*names_in(inner.__code__)}


class Notes(nn.Module):
    @property
    def scale(self) -> float:
        SEEN.append("scale")
        return 2.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale


def test_what_a_property_changes_is_put_back_and_said() -> None:
    attempt = capture(Request(target=Notes(), args=(torch.ones(3),)))

    assert isinstance(attempt, Exported)
    assert SEEN == []
    assert "SEEN" in {change.name for change in attempt.recording.changes}
