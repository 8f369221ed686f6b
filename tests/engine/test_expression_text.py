"""Sizes are read the same from torch's own expression and from what an archive says of it."""

from __future__ import annotations

import pytest
import sympy
from torch.utils._sympy.functions import FloorDiv, Mod

from export_engine.sizes import parse_size, print_size
from export_engine.torch_internals import read_sympy

A, B = sympy.symbols("s0 s1", integer=True, positive=True)
TEXTS = {
    16 - Mod(A, 16): "16 - (a % 16)",
    Mod(16 - Mod(A, 16), 16): "(16 - (a % 16)) % 16",
    -A: "-a",
    -A * B: "-a*b",
    -A - 1: "-a - 1",
    B - A: "b - a",
    3 - 2 * A: "3 - 2*a",
    2 * A - 3 * B: "2*a - 3*b",
    -FloorDiv(A, 2): "-(a // 2)",
    FloorDiv(-A, 2): "(-a) // 2",
    A * B - A: "a*b - a",
    1 - A**2: "1 - a*a",
    (A - B) * (A + 1): "(a + 1)*(a - b)",
    sympy.Piecewise((1, sympy.Eq(A, 7)), (B, True)): "(1 if a == 7 else b)",
    sympy.Piecewise(
        (1, A < 2), (A, sympy.Eq(B, 5)), (0, True)
    ): "(1 if a < 2 else (a if b == 5 else 0))",
}


@pytest.mark.parametrize("expression", TEXTS, ids=TEXTS.values())
def test_a_size_reads_as_mathematics_wherever_it_comes_from(expression: sympy.Expr) -> None:
    names = {"s0": "a", "s1": "b"}
    read = read_sympy(expression)
    assert read == parse_size(sympy.srepr(expression))
    text = print_size(read, names)
    assert text == TEXTS[expression]
    assert eval(text, {"a": 7, "b": 5}) == expression.subs({A: 7, B: 5})
