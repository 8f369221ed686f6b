"""The shape contract: bounds with their origins, what guards did, the timeline, formulas."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.fixes import autofix
from export_engine.record import Record, check_record
from export_engine.record.validation import BrokenRecord
from export_engine.shapes import Shapes
from export_engine.sizes import (
    Evaluator,
    Formula,
    UnreadableError,
    compile_formula,
    evaluate_formula,
    sizes_in,
)
from export_engine.source import Location
from export_engine.verify import verify
from tests import seed_cases
from tests.seed_cases import SeedCase


class Bounded(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        torch._check(y.shape[1] <= 99)
        if x.shape[0] <= 16:
            x = x @ y[:, :16]
        n = k.item()
        torch._check(n >= 3)
        if x.shape[1] % 2 == 0:
            x = x + 1
        return x.sum() + torch.ones(n).sum()


def record_of(target: Any, args: tuple[Any, ...], shapes: str, strict: bool = False) -> Record:
    attempt = capture(Request(target=target, args=args, shapes=Shapes.parse(shapes), strict=strict))
    assert isinstance(attempt, Exported), attempt
    return describe(attempt)


def line_of(record: Record, stack: int) -> Location:
    frame = record.stacks.items[record.stacks.starts[stack + 1] - 1]
    return Location(
        record.files[record.frames.file[frame]].path,
        record.frames.line[frame],
        record.strings[record.frames.function[frame]],
    )


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_each_bound_says_where_it_comes_from(strict: bool) -> None:
    args = (torch.ones(8, 20), torch.ones(20, 32), torch.tensor(5))
    record = record_of(Bounded(), args, "x: *, k; y: k[4..64], *", strict)
    found = {
        symbol.name: {bound.side: bound for bound in symbol.bounds} for symbol in record.symbols
    }
    assert found["x.shape[0]"]["upper"].origin == "guard"
    guard = record.guards[found["x.shape[0]"]["upper"].guard]
    assert guard.text == "x.shape[0] <= 16"
    code = "x.shape[0] <= 16"
    source = Path(__file__).read_text().splitlines()
    assert code in source[line_of(record, guard.stack).line - 1]
    assert found["x.shape[0]"]["lower"].origin == "default"
    assert found["k"]["lower"].origin == found["k"]["upper"].origin == "dim"
    assert (found["k"]["lower"].value, found["k"]["upper"].value) == (4, 64)
    if not strict:
        assert found["y.shape[1]"]["upper"].origin == "check"
        assert record.guards[found["y.shape[1]"]["upper"].guard].asked_by == "torch._check"
    unbacked = next(symbol for symbol in record.symbols if symbol.kind == "unbacked")
    assert {bound.side: bound.origin for bound in unbacked.bounds}["lower"] == "check"


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_each_guard_says_what_came_of_it(strict: bool) -> None:
    args = (torch.ones(8, 16), torch.ones(16, 32), torch.tensor(5))
    record = record_of(Bounded(), args, "x: *, *; y: *, *", strict)
    effects = {guard.text: guard for guard in record.guards}
    narrowing = effects["x.shape[0] <= 16"]
    assert (narrowing.effect, narrowing.result) == ("narrows", "x.shape[0] in [2, 16]")
    equal = next(guard for guard in record.guards if guard.effect == "equates")
    assert set(equal.result.split(" = ")) == {"x.shape[1]", "y.shape[0]"}
    assert [record.signature.inputs[entry].path for entry in equal.inputs] == ["x", "y"]
    assert "aten" in equal.asked_by
    implied = [guard for guard in record.guards if guard.effect == "implied"]
    kept = [guard for guard in record.guards if guard.effect == "kept"]
    assert kept
    rules = {rule.guard for rule in record.probe.rules}
    assert all(record.guards.index(guard) not in rules for guard in implied)


@pytest.mark.after_check
def test_the_timeline_tells_in_order() -> None:
    args = (torch.ones(8, 16), torch.ones(16, 32), torch.tensor(5))
    record = record_of(Bounded(), args, "x: *, k; y: k, *")
    kinds = [event.kind for event in record.timeline]
    assert kinds[:4] == ["birth"] * 4
    assert record.timeline[0].text == "x.shape[0], 8 in the example"
    assert record.timeline[2].text == "k: y.shape[0], 16 in the example"
    asked = next(n for n, event in enumerate(record.timeline) if event.text == "x.shape[0] <= 16")
    assert record.timeline[asked + 1].text == "x.shape[0] in [2, 16]"
    assert record.timeline[asked + 1].guard == record.timeline[asked].guard
    assert "replacement" in kinds
    births = [event.text for event in record.timeline if event.kind == "birth"]
    assert any(text.endswith("a data-dependent number") for text in births)


@pytest.mark.after_check
def test_repeated_events_are_counted() -> None:
    args = (torch.ones(8, 16), torch.ones(16, 32), torch.tensor(5))
    record = record_of(Bounded(), args, "x: *, *; y: *, *")
    guards = sum(event.count for event in record.timeline if event.kind == "guard")
    assert guards == sum(guard.count for guard in record.guards)


def sized(name: str) -> str | None:
    return name if name[:1] == "d" and name[1:].isdigit() else None


EXPRESSIONS = st.recursive(
    st.integers(0, 20).map(str) | st.sampled_from(["d0", "d1", "d2"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "//", "%"]), inner, inner).map(
            lambda each: f"({each[1]} {each[0]} {each[2]})"
        ),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda each: f"{each[0]}({each[1]}, {each[2]})"
        ),
        inner.map(lambda each: f"(-{each})"),
        inner.map(lambda each: f"round({each} / 4)"),
    ),
    max_leaves=8,
)


@pytest.mark.after_check
@given(EXPRESSIONS, st.tuples(*[st.integers(0, 50)] * 3))
def test_a_formula_has_the_value_that_python_gives(text: str, sizes: tuple[int, ...]) -> None:
    formula = compile_formula(text, sized)
    names = {f"d{number}": size for number, size in enumerate(sizes)}
    try:
        wanted = eval(text, {}, names)
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            evaluate_formula(formula, sizes)
    else:
        assert evaluate_formula(formula, sizes) == wanted


def test_comparisons_chain_and_nothing_else_is_a_formula() -> None:
    formula = compile_formula("2 <= d0 and not d1 % 2 == 0 or d0 < d1 <= 9", sized)
    assert evaluate_formula(formula, [1, 5]) is True
    assert evaluate_formula(formula, [1, 12]) is False
    assert sizes_in(formula) == [0, 1]
    for text in ("open('x')", "d0.real", "[d0]", "d0 if d1 else 2", "x", "d0 and", "lambda: 1"):
        with pytest.raises(UnreadableError):
            compile_formula(text, sized)


def shown_cases() -> Iterator[SeedCase]:
    wanted = ("A9", "A10", "A11", "A12", "A13", "A14 to A16", "B")
    return (case for case in seed_cases.seed_cases() if case.row in wanted)


BROKEN = {"all-relaxed": "sound"}
"""Cases whose program breaks a guarantee: torch cannot save a call of Python's `round`, and a
program with an unbacked size rejects 0 and 1, which eager accepts."""


@pytest.fixture(scope="module")
def table() -> Iterator[list[str]]:
    rows: list[str] = []
    yield rows
    print("\ncase, what the contract says, what Verify found")
    print("\n".join(sorted(rows)))


@pytest.mark.parametrize("case", list(shown_cases()), ids=lambda case: case.name)
@pytest.mark.slow
def test_the_founding_cases_keep_their_contract(case: SeedCase, table: list[str]) -> None:
    """A9 to A16 and B; C4 to C7 are the guarantees themselves. Those that fail are fixed first."""
    shapes = Shapes.parse(case.shapes) if isinstance(case.shapes, str) else case.shapes
    request = Request(target=case.target, args=case.args, kwargs=case.kwargs, dynamic_shapes=shapes)
    attempt = autofix(request).attempt
    if not isinstance(attempt, Exported):
        table.append(f"{case.row:<10} {case.name:<32} not exported")
        pytest.fail(f"{case.name} does not export")
    record = describe(attempt)
    found = verify(attempt, record, 4)
    contract = ", ".join(f"{each.name} in {each.range}" for each in record.symbols) or "static"
    broken = ", ".join(each.name for each in found.broken)
    table.append(f"{case.row:<10} {case.name:<32} {contract:<60} {broken or found.sentence}")
    assert broken == BROKEN.get(case.name, ""), str(found)


def test_the_front_end_evaluates_the_same() -> None:
    """`widgets/frontend/src/formula.test.ts` reads the same values."""
    path = Path(__file__).parents[2] / "widgets/frontend/src/testing/formulas.json"
    rows = json.loads(path.read_text())
    assert len(rows) > 100
    for row in rows:
        assert compile_formula(row["text"], sized) == row["formula"]
        try:
            value = evaluate_formula(row["formula"], row["sizes"])
        except (ArithmeticError, ValueError):
            value = None
        assert value == row["value"], row
        assert evaluated_again(row["formula"], row["sizes"]) == row["value"], row


def evaluated_again(formula: Formula, sizes: list[int]) -> Any:
    """The value of a formula together with itself, whose parts are then computed once."""
    twice = Evaluator([*formula, *formula, "min"])
    try:
        assert twice(sizes) == twice(sizes)
        return twice(sizes)
    except (ArithmeticError, ValueError):
        return None


def test_what_occurs_twice_in_a_formula_is_computed_once() -> None:
    asked: list[int] = []

    class Sizes(list[int]):
        def __getitem__(self, at: Any) -> Any:
            asked.append(at)
            return super().__getitem__(at)

    half = ["d0", 2, "//"]
    assert Evaluator([*half, *half, "+", "d1", "%"])(Sizes([9, 5])) == 3
    assert asked == [0, 1]
    assert Evaluator([1, True, "+"])([]) == 2


@pytest.mark.parametrize(
    "formula",
    [["d9"], ["+"], [1, 2], [1, 2, "+", "+"], ["__import__"], ["dx"], ["d0", "d0", "exec"]],
)
@pytest.mark.slow
def test_a_formula_from_a_file_is_checked_before_it_is_used(formula: list[int | str]) -> None:
    args = (torch.ones(8, 16), torch.ones(16, 32), torch.tensor(5))
    record = record_of(Bounded(), args, "x: *, k; y: k, *")
    check_record(record)
    rules = [msgspec.structs.replace(record.probe.rules[0], formula=formula)]
    probe = msgspec.structs.replace(record.probe, rules=rules)
    with pytest.raises(BrokenRecord):
        check_record(msgspec.structs.replace(record, probe=probe))


def test_a_dim_that_others_are_made_from_goes_by_its_name() -> None:
    shapes = Shapes.parse("input: 4*quarter, _")
    attempt = capture(
        Request(target=torch.nn.ReLU(), args=(torch.ones(8, 3),), kwargs={}, dynamic_shapes=shapes)
    )
    texts = [guard.text for guard in describe(attempt).guards]
    assert "input.shape[0] == 4*quarter" in texts


class BranchesOnData(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[1] > 5 and x.shape[0] == y.shape[0]:
            x = x.sum(1)
        if x.sum() > 0:
            return x.sin()
        return x.cos()


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_failure_has_the_sizes_as_far_as_the_trace_came(strict: bool) -> None:
    args = (torch.randn(3, 7), torch.randn(3, 2))
    shapes = Shapes.parse("x: batch, seq[..100]; y: batch, _")
    attempt = capture(
        Request(target=BranchesOnData(), args=args, dynamic_shapes=shapes, strict=strict)
    )
    record = describe(attempt)
    check_record(record)

    assert record.failure is not None
    known = {each.places[0].text: each for each in record.symbols if each.places}
    batch = known["x.shape[0]"]
    assert (batch.name, batch.range, batch.example) == ("batch", "[2, ∞)", 3)
    if strict:
        seq = known["x.shape[1]"]
        assert (seq.name, seq.range, seq.example) == ("seq", "[6, 100]", 7)
        assert [each.origin for each in seq.bounds] == ["guard", "dim"]
    exported = msgspec.structs.replace(record, failure=None)
    with pytest.raises(BrokenRecord):
        check_record(exported)


class Undecided(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = x + y
        return z.sin() if z.sum() > 0 else z.cos()


@pytest.mark.after_check
def test_dims_of_one_name_are_one_size_of_a_failure() -> None:
    shapes = Shapes.parse("x: batch, _; y: batch, _")
    record = describe(
        capture(
            Request(
                target=Undecided(), args=(torch.ones(3, 4), torch.ones(3, 4)), dynamic_shapes=shapes
            )
        )
    )

    (batch,) = [each for each in record.symbols if each.kind == "backed"]
    assert batch.name == "batch"
    assert [each.text for each in batch.places] == ["x.shape[0]", "y.shape[0]"]
    (guard,) = [each for each in record.guards if each.text == "x.shape[0] == y.shape[0]"]
    assert guard.symbols == [0]
