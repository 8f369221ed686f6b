"""Choices by data, of numbers, of modules, of what a cache keeps: each as one way for all."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

import libcst as cst
import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.diagnose.plain_breaks import plain_break
from export_engine.fixes import autofix, other_mode
from export_engine.fixes.code.branches.module_choice import all_run
from export_engine.fixes.code.branches.select_number import selected_number
from export_engine.fixes.code.branches.select_to_where import selected
from export_engine.fixes.code.calls.number_index import selected_by_number
from export_engine.fixes.code.calls.tensor_index import indexed_by_tensors
from export_engine.fixes.code.editing.conditions import Unclear, predicate
from export_engine.fixes.code.sizes.size_keyed import without_lookups
from export_engine.shapes import Shapes
from export_engine.verify import copied_leaf
from tests.torch_limits import LOSES_NUMBERS


def function(body: str) -> str:
    return f"import torch\ndef f(x, n):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("if n > x.shape[0]:\n    n = x.shape[0]", "n = torch.sym_min(n, x.shape[0])"),
        ("if n < 2:\n    n = 2", "n = torch.sym_max(n, 2)"),
        ("k = n if n > 0 else 1", "k = torch.sym_max(n, 1)"),
        ("k = 3 if 3 <= n else n", "k = torch.sym_min(3, n)"),
        ("if n == 0:\n    n = 1", "n = torch.sym_ite(n == 0, 1 + 0 * (n), n)"),
        ("k = 1 if n > 5 else 7", "k = torch.sym_ite(n > 5, 1 + 0 * (n), 7 + 0 * (n))"),
    ],
)
def test_a_choice_of_ints_is_a_clamp_or_of_two_symbols(body: str, made: str) -> None:
    text = function(f"{body}\nreturn n, locals().get('k')")
    rewritten = selected_number(text, 3, whole=True).text
    assert made in rewritten
    scopes: list[dict[str, Any]] = [{}, {}]
    for scope, each in zip(scopes, (text, rewritten), strict=True):
        exec(compile(each, "choice.py", "exec"), scope)
    for n in range(-1, 9):
        theirs, mine = (scope["f"](torch.ones(4), n) for scope in scopes)
        assert mine == theirs


def test_a_choice_of_floats_is_neither() -> None:
    assert "sym_ite(n > 5, 5, n)" in selected_number(function("if n > 5:\n    n = 5"), 3).text


def test_an_elif_is_a_choice_in_a_choice() -> None:
    text = function(
        "if x > 1:\n    s = 2.0\nelif x < -1:\n    s = 0.5\nelse:\n    s = 1.0\nreturn s"
    )
    made = selected(text, 3).text
    assert "s = torch.where(x > 1, 2.0, torch.where(x < -1, 0.5, 1.0))" in made
    scope: dict[str, Any] = {}
    exec(compile(made, "choice.py", "exec"), scope)
    for value, wanted in ((3, 2.0), (-3, 0.5), (0, 1.0)):
        assert scope["f"](torch.tensor(value), 0).item() == wanted


def test_a_chain_of_comparisons_is_all_of_them() -> None:
    made = predicate(cst.parse_expression("0 < p.item() <= q < 3"))
    assert cst.Module([]).code_for_node(made) == (
        "torch.logical_and(torch.logical_and(0 < p, p <= q), q < 3)"
    )


@pytest.mark.parametrize(
    "body",
    [
        "return modules[n](x)",
        "return modules[int(n)](x)",
        "k = n.item()\nreturn modules[k](x)",
        "chosen = modules[n]\nreturn chosen(x)",
    ],
)
def test_a_module_that_data_choose_is_one_output_of_all(body: str) -> None:
    text = f"import torch\ndef f(modules, x, n):\n{textwrap.indent(body, '    ')}\n"
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "modules[" in each)
    made = all_run(text, line).text
    assert "torch.stack([_module(x) for _module in " in made
    scope: dict[str, Any] = {}
    exec(compile(made, "choice.py", "exec"), scope)
    modules = [torch.sin, torch.cos, torch.neg]
    x = torch.ones(3)
    for number, each in enumerate(modules):
        assert torch.equal(scope["f"](modules, x, torch.tensor(number)), each(x))


@pytest.mark.parametrize("body", ["return x[1:](n)", "e = x[n]\nreturn e", "return x[0](n)"])
def test_what_chooses_no_module_is_kept(body: str) -> None:
    with pytest.raises(Unclear):
        all_run(function(body), 3)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("if n not in kept:\n    kept[n] = x + n\nreturn kept[n]", 3),
        ("if n in kept:\n    return kept[n]\nkept[n] = y = x + n\nreturn y", 3),
        ("y = kept.get(n)\nif y is None:\n    y = kept[n] = x + n\nreturn y", 3),
    ],
)
def test_a_cache_by_size_is_taken_as_empty(body: str, line: int) -> None:
    text = f"import torch\ndef f(kept, x, n):\n{textwrap.indent(body, '    ')}\n"
    made, name = without_lookups(text, line)
    assert name == "kept"
    scope: dict[str, Any] = {}
    exec(compile(made.text, "cache.py", "exec"), scope)
    kept = {3: "stale"}
    assert scope["f"](kept, 1, 3) == 4
    assert kept == {3: "stale"}


@pytest.mark.parametrize(
    "body", ["return kept[n]", "if n in kept:\n    return kept[m]\nkept[n] = 1\nreturn x"]
)
def test_a_table_that_is_not_filled_there_is_kept(body: str) -> None:
    text = f"def f(kept, x, n, m):\n{textwrap.indent(body, '    ')}\n"
    with pytest.raises(Unclear):
        without_lookups(text, 2)


class Limits(nn.Module):
    def forward(self, x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        n = k.item()
        if n == 0:
            n = 1
        return x / n


class Masks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.masks: dict[int, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        if n not in self.masks:
            self.masks[n] = torch.ones(n, n).tril()
        return self.masks[n] @ x


class Norm(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.norm().item()
        if size > 1.0:
            x = x / size
        return x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "args", "shapes", "others"),
    [
        (Limits(), (torch.ones(2), torch.tensor(3)), None, [(torch.ones(2), torch.tensor(0))]),
        (Masks(), (torch.ones(3, 2),), "x: n, _", [(torch.ones(5, 2),), (torch.ones(2, 2),)]),
        (Norm(), (torch.ones(3),), None, [(torch.ones(3) / 9,)]),
    ],
)
def test_numbers_and_caches_export_and_agree(
    model: nn.Module, args: Any, shapes: str | None, others: list[Any]
) -> None:
    wanted = Shapes.parse(shapes) if shapes else None
    report = autofix(Request(target=model, args=args, shapes=wanted))
    assert isinstance(report.attempt, Exported), report.sentence
    assert len(report.kept) == 1
    program = report.attempt.program.module()
    for each in [args, *others]:
        torch.testing.assert_close(program(*each), type(model)()(*each))


class ItemsAsAttributes(dict[str, torch.Tensor]):
    """Of any attribute it lacks it says that a key is missing, also to `copy`."""

    __getattr__ = dict.__getitem__


def test_a_dict_that_reads_every_attribute_as_an_item_is_copied() -> None:
    given = ItemsAsAttributes(x=torch.ones(2))
    made = copied_leaf(given, {})
    assert type(made) is ItemsAsAttributes
    assert torch.equal(made["x"], given["x"])
    assert made["x"] is not given["x"]


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("return x[0, n]", "x.select(1, n)[0]"),
        ("return x[n, 1:, 0]", "x.select(0, n)[1:, 0]"),
        ("return x[:, -1, int(n)]", "x.select(2, int(n))[:, -1]"),
    ],
)
def test_a_number_among_indices_is_selected_first(body: str, made: str) -> None:
    rewritten = selected_by_number(function(body), 3).text
    assert made in rewritten
    results = []
    for text in (function(body), rewritten):
        scope: dict[str, Any] = {}
        exec(compile(text, "index.py", "exec"), scope)
        results.append(scope["f"](torch.arange(24).reshape(2, 3, 4), 1))
    assert torch.equal(*results)


@pytest.mark.parametrize("body", ["return x[n]", "return x[..., n]", "return x[None, n]"])
def test_an_index_that_is_alone_or_of_an_unknown_dim_is_kept(body: str) -> None:
    with pytest.raises(Unclear):
        selected_by_number(function(body), 3)


@pytest.mark.parametrize("index", ["x[:, 0] == n", "~n", "n.reshape(1)", "not n", "n or 1"])
def test_a_mask_is_no_number_and_one_element_stays_one(index: str) -> None:
    with pytest.raises(Unclear):
        indexed_by_tensors(function(f"return x[{index}]"), 3)


@pytest.mark.parametrize(
    "body",
    [
        "return x[n]",
        "return x[0, n]",
        "return x[:, n]",
        "return x[n, 1:, n]",
        "return x[:, -1, n + 1]",
        "return torch.stack([x[i, n] for i in range(len(x))])",
    ],
)
def test_an_index_that_is_a_tensor_is_of_one_element(body: str) -> None:
    rewritten = indexed_by_tensors(function(body), 3).text
    assert ".reshape(1)].select(" in rewritten
    assert "i.reshape" not in rewritten
    for n in (torch.tensor(1), torch.tensor(-2)):
        results = []
        for text in (function(body), rewritten):
            scope: dict[str, Any] = {}
            exec(compile(text, "index.py", "exec"), scope)
            results.append(scope["f"](torch.arange(24).reshape(2, 3, 4), n))
        assert torch.equal(*results)


@pytest.mark.parametrize("body", ["return x[0]", "return x[:, 1:]", "x[n] = 0", "return x[None]"])
def test_a_plain_index_and_a_written_one_are_kept(body: str) -> None:
    with pytest.raises(Unclear):
        indexed_by_tensors(function(body), 3)


class BestPath(nn.Module):
    """Viterbi's way back."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        back = [x[i].argsort() for i in range(3)]
        best = x[0].argmax()
        path = [best]
        for each in reversed(back):
            best = each[best]
            path.append(best)
        return torch.stack(path)


class ScaledByState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("level", torch.tensor(0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = 2.0 if float(self.level) > 0.3 else 1.0
        return x * scale


@pytest.mark.slow
@pytest.mark.parametrize("model", [BestPath(), ScaledByState()])
def test_what_strict_mode_asks_a_tensor_for_stays_a_tensor(model: nn.Module) -> None:
    if LOSES_NUMBERS and isinstance(model, BestPath):
        pytest.skip("torch 2.15 loses track of an index from data within an operator")
    report = autofix(Request(target=model, args=(torch.randn(6, 4),), strict=True))
    assert isinstance(report.attempt, Exported), report.sentence
    assert not any(step.fix.lossy or step.fix.kind == "mode" for step in report.kept)
    program = report.attempt.program.module()
    x = torch.randn(6, 4)
    torch.testing.assert_close(program(x), model(x))


class CountsFromData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x * n for n in range(int(x.sum()))])


class TableBySize(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * {3: 2.0}.get(x.shape[0], 1.0)


@pytest.mark.after_check
@pytest.mark.parametrize(("model", "shapes"), [(CountsFromData(), None), (TableBySize(), "x: n")])
def test_strict_mode_is_not_tried_where_python_asks(
    model: nn.Module, shapes: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Shapes.parse(shapes) if shapes else None
    attempt = capture(Request(target=model, args=(torch.ones(3),), shapes=wanted))
    assert isinstance(attempt, Failed)
    monkeypatch.setattr(other_mode, "try_request", lambda request: pytest.fail("it was tried"))
    assert not list(other_mode.offered(replace(attempt, diagnosis=diagnose(attempt))))


class StepsFromData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.arange(torch.tensor(0.0), torch.tensor(1.0), 1 / x.sum())


def test_a_number_without_a_name_of_the_users_is_said_without_one() -> None:
    attempt = capture(Request(target=StepsFromData(), args=(torch.ones(3),)))
    if isinstance(attempt, Exported):
        pytest.skip("torch 2.15 exports a step that is computed from data")
    assert isinstance(attempt, Failed)
    said = diagnose(attempt).sentence
    assert said.endswith("whether a number that is computed from data is greater than 0.0.")


def test_what_makes_a_tensor_require_a_gradient_is_said_plainly() -> None:
    said = plain_break("Unsupported Tensor.requires_grad_() call")
    assert said == "it changes whether a tensor requires a gradient"
