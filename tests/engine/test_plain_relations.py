"""Relations about remainders, said with one remainder; and calls that an assumption excludes."""

from __future__ import annotations

from itertools import product

import pytest
import sympy
import torch
from torch import nn
from torch.utils._sympy.functions import Mod

from export_engine.attempt import Request
from export_engine.in_eager import allows, find_accepted_call, iter_excluded_calls
from export_engine.shapes import Relation, Shapes
from export_engine.traced_sizes import plain_text, plainly

PLAIN = {
    "((-1)*(a % 8) + 8) % 8 == 0": "a % 8 == 0",
    "(8 - a % 8) % 8 > 0": "a % 8 != 0",
    "(8 - a % 16) % 8 >= 1": "a % 8 != 0",
    "(a + 3) % 8 == 0": "a % 8 == 5",
    "(3 - a) % 8 != 0": "a % 8 != 3",
    "(7*a + 1) % 8 <= 0": "a % 8 == 1",
    "(8 - (a + b) % 8) % 8 < 1": "(a + b) % 8 == 0",
    "(a - b) % 4 == 0": "(a - b) % 4 == 0",
    "a % 16 == 0": "a % 16 == 0",
    "(8 - a % 12) % 8 == 0": "(8 - a % 12) % 8 == 0",
    "(8 - a % 8) % 8 == 2": "(8 - a % 8) % 8 == 2",
    "a*a % 8 == 0": "(a*a) % 8 == 0",
    "8*a % 8 == 0": "(8*a) % 8 == 0",
    "32*a != 128": "a != 4",
    "6*(a + b) > 12": "a + b > 2",
    "3*a <= 10": "3*a <= 10",
    "0*a <= 10": "0*a <= 10",
}


def relation(text: str) -> Relation:
    return Shapes.parse(f"x: a, b; {text}").assumptions[0]


@pytest.mark.parametrize("text", PLAIN)
def test_a_relation_is_said_plainly_and_says_the_same(text: str) -> None:
    asked = relation(text)
    said = plainly(asked)
    assert str(said) == PLAIN[text]
    for a, b in product(range(40), range(9)):
        assert said.holds({"a": a, "b": b}) == asked.holds({"a": a, "b": b})


def test_a_condition_of_torch_is_said_in_the_names_of_its_sizes() -> None:
    height = sympy.Symbol("s1", integer=True, positive=True)
    missing = Mod(8 - Mod(height, 8), 8)
    assert plain_text(sympy.Ne(missing, 0), {"s1": "x.shape[1]"}) == "x.shape[1] % 8 != 0"
    assert plain_text(sympy.Gt(height, 3), {"s1": "x.shape[1]"}) is None
    assert plain_text(sympy.Ne(missing, 0), {}) is None


class Longer(nn.Module):
    """It runs at every length; what a trace of a long one needs is another matter."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.shape[1] > 4 else x + 1


class Halved(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], 2, x.shape[1] // 2)


def request(model: nn.Module) -> Request:
    return Request(
        target=model, args=(torch.randn(2, 6),), shapes=Shapes.parse("x: a, b[..9]; unbacked")
    )


def test_the_model_is_asked_at_sizes_that_an_assumption_excludes() -> None:
    shapes = Shapes.parse("x: a, b[..9]; unbacked")
    known = relation("b >= 5")
    assert [call.size for call in iter_excluded_calls(request(Longer()), shapes, known)] == [
        4,
        3,
        2,
    ]
    found = find_accepted_call(request(Longer()), shapes, [known])
    assert found is not None
    assert (found.name, found.size) == ("b", 4)
    assert find_accepted_call(request(Halved()), shapes, [relation("b % 2 == 0")]) is None


def test_bounds_and_assumptions_allow_a_call_or_not() -> None:
    call = request(Longer())
    assert allows(Shapes.parse("x: a, b"), call)
    assert allows(Shapes.parse("x: a, 2*b"), call)
    assert not allows(Shapes.parse("x: a, 2*b + 1"), call)
    assert not allows(Shapes.parse("x: a, b[..5]"), call)
    assert not allows(Shapes.parse("x: a, b; b % 4 == 0"), call)
