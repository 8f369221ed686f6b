"""Numbers of data in lists: as indices, made tensors by their type, gone through as flags."""

from __future__ import annotations

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.branches.tensor_questions import kept_as_tensor
from export_engine.fixes.code.calls.tensor_index import indexed_by_list
from export_engine.fixes.code.calls.typed_tensors import made_by_tensor
from export_engine.fixes.code.editing.comprehensions import Form
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.listed_rows import listed_at_once
from export_engine.fixes.code.loops.numbers_listed import of_tensors_listed
from export_engine.shapes import Shapes

from .test_fixes_code import defined


def text_of(*lines: str) -> str:
    return "\n".join(["import torch", "def f(x, n):", *(f"    {each}" for each in lines), ""])


@pytest.mark.parametrize(
    ("name", "dtype"), [("LongTensor", "int64"), ("FloatTensor", "float32"), ("BoolTensor", "bool")]
)
def test_a_list_is_made_a_tensor_with_the_dtype_of_its_type(name: str, dtype: str) -> None:
    made = made_by_tensor(text_of("a, b = [], 0", f"return torch.{name}(a)"), 4).text
    assert made.endswith(f"return torch.tensor(a, dtype=torch.{dtype})\n")


@pytest.mark.parametrize("value", ["n", "3", "x.tolist()", "b", "*a", "[1], [2]"])
def test_a_type_that_may_be_given_a_size_is_kept(value: str) -> None:
    with pytest.raises(Unclear):
        made_by_tensor(text_of("a, b = [], 0", f"return torch.LongTensor({value})"), 4)


def test_a_loop_that_only_asks_its_numbers_goes_through_flags() -> None:
    asks = text_of("for i, on in enumerate(n.tolist()):", "    if not on:", "        x = x * i")
    assert "enumerate(n.bool()):" in kept_as_tensor(asks, 3).text
    reads = asks.replace("x * i", "x * on")
    assert "enumerate(n):" in kept_as_tensor(reads, 3).text
    with pytest.raises(Unclear):
        kept_as_tensor(text_of("for i in sorted(n.tolist()):", "    x = x * i"), 3)


def test_tensors_in_a_list_that_indexes_are_stacked() -> None:
    text = text_of("at = [row.argmax() for row in x]", "return n[at]")
    assert indexed_by_list(text, 4, how="stack").text.endswith("return n[torch.stack(at)]\n")


LISTED = (
    ("int(row.argmax())", "torch.tensor(at)", "row.argmax().long()"),
    ("int(row.max().item())", "torch.LongTensor(at)", "row.max().long()"),
    ("int(row.sum() + 1)", "torch.tensor(at, dtype=torch.long)", "(row.sum() + 1).long()"),
)


@pytest.mark.parametrize(("element", "made", "tensor"), LISTED)
def test_a_list_of_an_int_of_each_row_is_one_of_tensors(
    element: str, made: str, tensor: str
) -> None:
    loop = ("at = []", "for row in x:", f"    at.append({element})")
    found = of_tensors_listed(Form(text_of(*loop, f"return {made}"), 4)).text
    assert found == text_of(*loop[:2], f"    at.append({tensor})", "return torch.stack(at)")
    for other in ("return at", f"return {made}, len(at)", "return torch.tensor(at, dtype=x.dtype)"):
        text = text_of(*loop, other)
        assert of_tensors_listed(Form(text, 4)).text == text


@pytest.mark.parametrize(
    ("listed", "made"),
    [
        ("torch.tensor([1 / c if c > 0 else 0 for c in n])", "torch.where(n > 0, 1 / n, 0)"),
        ("torch.tensor([c * 2 for c in n], dtype=x.dtype)", "(n * 2).to(dtype=x.dtype)"),
        ("torch.tensor([-a.item() if not b else 1 for a, b in zip(x, n)])",
         "torch.where(torch.logical_not(n), (-x), 1)"),
    ],
)  # fmt: skip
def test_a_list_of_a_number_of_each_row_is_computed_at_once(listed: str, made: str) -> None:
    assert listed_at_once(text_of(f"return {listed}"), 3).text == text_of(f"return {made}")


@pytest.mark.parametrize(
    "listed",
    [
        *("[c for c in n]", "torch.tensor([c // n[0] for c in n])", "torch.tensor([x for c in n])"),
        "torch.tensor([c for c in n if c > 0])",
    ],
)
def test_a_list_of_more_than_numbers_of_rows_is_kept(listed: str) -> None:
    with pytest.raises(Unclear):
        listed_at_once(text_of(f"return {listed}"), 3)


MODELS = {
    "weights": (
        """
        counts = torch.bincount((x[:, 0] > 0).long() * 2, minlength=4)
        return torch.tensor([1 / c if c > 0 else 0 for c in counts])
        """,
        None,
    ),
    "rows": ("return x[torch.arange(x.shape[0]), [int(row.argmax()) for row in x]]", "x: n, _"),
    "lengths": (
        """
        sizes = [int(row.sum().abs()) for row in x]
        return torch.LongTensor(sizes), x[:, 0].new_zeros(max(sizes) + 1)
        """,
        None,
    ),
    "chosen": (
        """
        total = 0
        for k, on in enumerate((x[0] > 0).tolist()):
            if on:
                total = total + self.up(x) * k
        return total + x
        """,
        None,
    ),
    "table": (
        """
        at = [int(row.argmax()) for row in x]
        return self.up.weight[at]
        """,
        None,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("case", MODELS)
def test_numbers_in_lists_export_and_agree(case: str, strict: bool) -> None:
    body, shapes = MODELS[case]
    model, _ = defined(body, f"listed_{case}")
    wanted = Shapes.parse(shapes) if shapes else None
    request = Request(target=model, args=(torch.randn(4, 3),), shapes=wanted, strict=strict)
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    program = report.attempt.program.module()
    for seed in range(6):
        torch.manual_seed(seed)
        x = torch.randn(2 + 2 * seed if shapes else 4, 3)
        torch.testing.assert_close(program(x), model(x))
    if case == "chosen":
        torch.testing.assert_close(program(-torch.ones(4, 3)), model(-torch.ones(4, 3)))
