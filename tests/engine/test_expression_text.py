"""Sizes are read the same from torch's own expression and from what an archive says of it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
import sympy
from torch.utils._sympy.functions import FloorDiv, Mod

from export_engine.sizes import (
    Expression,
    UnreadableError,
    make_expression,
    name_symbol,
    number,
    order_terms,
    parse_code,
    parse_size,
    print_size,
)
from export_engine.torch_internals import read_sympy

A, B = sympy.symbols("s0 s1", integer=True, positive=True)
TEXTS = {
    16 - Mod(A, 16): "16 - a % 16",
    Mod(16 - Mod(A, 16), 16): "(16 - a % 16) % 16",
    -A: "-a",
    -A * B: "-a*b",
    -A - 1: "-a - 1",
    B - A: "b - a",
    3 - 2 * A: "3 - 2*a",
    2 * A - 3 * B: "2*a - 3*b",
    -FloorDiv(A, 2): "-(a // 2)",
    FloorDiv(-A, 2): "-a // 2",
    A * B - A: "a*b - a",
    1 - A**2: "1 - a*a",
    (A - B) * (A + 1): "(a + 1)*(a - b)",
    sympy.Piecewise((1, sympy.Eq(A, 7)), (B, True)): "1 if a == 7 else b",
    sympy.Piecewise(
        (1, A < 2), (A, sympy.Eq(B, 5)), (0, True)
    ): "1 if a < 2 else a if b == 5 else 0",
    sympy.Eq(FloorDiv(A - 1, 2) + 1, 32): "(a - 1) // 2 + 1 == 32",
    Mod(FloorDiv(A, 2), 3) + 2 * FloorDiv(B, 3): "2*(b // 3) + (a // 2) % 3",
}


@pytest.mark.parametrize("expression", TEXTS, ids=TEXTS.values())
def test_a_size_reads_as_mathematics_wherever_it_comes_from(expression: sympy.Expr) -> None:
    names = {"s0": "a", "s1": "b"}
    read = read_sympy(expression)
    assert read == parse_size(sympy.srepr(expression))
    text = print_size(read, names)
    assert text == TEXTS[expression]
    assert eval(text, {"a": 7, "b": 5}) == expression.subs({A: 7, B: 5})


ARITHMETIC = ("Add", "Mul", "FloorDiv", "Mod", "IntTrueDiv", "ToFloat")
BRACKET = re.compile(r"(?<!\w)\(")
"""One that is not a call's."""
OPERATOR = re.compile(r"//|[*/%]")


def random_size(numbers: random.Random, depth: int) -> Expression:
    """As sympy has them: a product's number comes first, and terms in the order of the text."""
    if not depth or numbers.random() < 0.2:
        return name_symbol(numbers.choice("abc"))
    factor = number(numbers.choice((1, 2, 3, -1, -2)))
    parts = [random_size(numbers, depth - 1), random_size(numbers, depth - 1)]
    kind = numbers.choice(ARITHMETIC)
    if kind == "Mul":
        factors = [part for part in parts if part.kind != "Mul"]
        return make_expression(kind, (factor, *factors)) if factors else parts[0]
    if kind == "ToFloat":
        return make_expression(kind, (parts[0],))
    made = make_expression(kind, (parts[0], numbers.choice((parts[1], factor))))
    return Expression(kind, order_terms(made.args)) if kind == "Add" else made


def random_condition(numbers: random.Random, depth: int) -> Expression:
    kind = numbers.choice(("LessThan", "Equality", "And", "Or", "Not") if depth else ("LessThan",))
    make = random_size if kind in ("LessThan", "Equality") else random_condition
    parts = [make(numbers, max(depth - 1, 0)) for _ in range(1 if kind == "Not" else 2)]
    return make_expression(kind, tuple(parts))


def random_expressions() -> list[Expression]:
    numbers = random.Random(0)
    sizes = [random_size(numbers, numbers.randint(1, 4)) for _ in range(1_000)]
    return [*sizes, *(random_condition(numbers, numbers.randint(1, 3)) for _ in range(500))]


def read(text: str) -> Expression:
    return parse_code(text, lambda name: name)


def test_a_printed_size_is_read_as_it_was() -> None:
    for expression in random_expressions():
        assert read(print_size(expression, {})) == expression


def test_each_pair_of_brackets_is_needed_or_tells_products_apart() -> None:
    seen = 0
    for expression in random_expressions():
        text = print_size(expression, {})
        for start, end in brackets_in(text):
            seen += 1
            bare = f"{text[:start]}{text[start + 1 : end]}{text[end + 1 :]}"
            try:
                same = read(bare) == expression
            except UnreadableError:
                same = False
            beside = text[max(start - 3, 0) : start] + text[end + 1 : end + 4]
            assert not same or len({*OPERATOR.findall(text[start:end] + beside)}) > 1, text
    assert seen > 500


def test_comparisons_in_comparisons_do_not_double_forever() -> None:
    text = "a"
    for _ in range(20):
        text = f"(a < {text} < b)"
    with pytest.raises(UnreadableError, match="50,000 parts"):
        read(text)
    with pytest.raises(UnreadableError, match="50,000 parts"):
        parse_size(text)
    assert print_size(read("a < b <= c"), {}) == "a < b and b <= c"


def brackets_in(text: str) -> Iterator[tuple[int, int]]:
    """Where each pair begins and ends."""
    for match in BRACKET.finditer(text):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield match.start(), end - 1
