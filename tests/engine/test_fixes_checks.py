"""Code fixes of branches that raise, warn, select and write; of assumptions, and of factories."""

from __future__ import annotations

import linecache
import warnings
from dataclasses import replace
from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Failed, Fix, Request, apply_edits
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import AutofixReport, autofix
from export_engine.fixes.code.assumed_branches import assume_branch_on_data
from export_engine.fixes.code.line_rules import clone_branch_results, disable_validation
from export_engine.fixes.code.text_edits import CannotRewrite

from .test_fixes_code import defined


def fixed(body: str, name: str, *args: torch.Tensor, strict: bool = False) -> AutofixReport:
    model, _ = defined(body, name)
    return autofix(Request(target=model, args=args or (torch.rand(4, 3) + 1,), strict=strict))


def after(report: AutofixReport) -> str:
    assert isinstance(report.attempt, Exported), report.sentence
    assert report.attempt.agreement is not None
    assert report.attempt.agreement.verdict in ("agrees", "not checked"), report.sentence
    assert report.attempt.request is not None
    return report.attempt.request.edits[0].after


RAISES = {
    "constant": "if x.isnan().any():\n    raise ValueError('nan')\nreturn x * 2",
    "one_line": "if x.isnan().any(): raise ValueError('nan')\nreturn x * 2",
    "exits": "if x.isnan().any():\n    exit('nan')\nreturn x * 2",
    "computed": 'if not (x >= 0).all():\n    raise ValueError(f"nan {x.shape}")\nreturn x',
    "flag_first": "if self.training and x.isnan().any():\n    raise ValueError('nan')\nreturn x",
    "otherwise": (
        "if x.sum() > -1e9:\n    y = x * 2  # kept\n    y = y + 1\nelse:\n"
        "    raise ValueError('nan')\nreturn y"
    ),
}


@pytest.mark.parametrize("form", RAISES)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_a_branch_that_only_raises_becomes_a_check_of_the_program(form: str, strict: bool) -> None:
    report = fixed(RAISES[form], f"raises_{form}", strict=strict)
    after(report)
    assert isinstance(report.attempt, Exported)
    with pytest.raises(RuntimeError, match="nan"):
        report.attempt.program.module()(torch.full((4, 3), float("nan")))


@pytest.mark.slow
def test_a_check_on_a_number_rejects_the_others() -> None:
    body = """
        n = x.sum().int().item()
        if n > 5 or n < 0:
            raise ValueError("n")
        elif n == 77:
            return x
        return x * n
    """
    report = fixed(body, "number_bounds", torch.ones(3, 1))
    after(report)
    assert isinstance(report.attempt, Exported)
    program = report.attempt.program.module()
    assert torch.equal(program(torch.ones(3, 1)), 3 * torch.ones(3, 1))
    with pytest.raises(RuntimeError):
        program(9 * torch.ones(3, 1))


@pytest.mark.slow
def test_a_branch_that_only_warns_is_skipped_and_the_fix_says_so() -> None:
    body = "if x.max() > 1e3:\n    warnings.warn('large')\nreturn x * 2"
    report = fixed(body, "warns")
    assert "if not torch.compiler.is_exporting():" in after(report)
    assert report.kept[0].fix.gives_up == "The program does not print, log or warn."


SELECTS = {
    "numbers": ("s = 2.0 if x.max() > 1.5 else 1.0\nreturn x * s", "torch.where(x.max() > 1.5"),
    "two": (
        "if x.max() > 1.5:\n    s = 2.0\n    t = 1.0\nelse:\n    s, t = 3.0, 2.0\nreturn x * s + t",
        "torch.where(",
    ),
    "both": (
        "if x.max() > 1.5:\n    s = 2.0; t = 1.0\nelse:\n    s = 1.0; t = 3.0\nreturn x * s + t",
        "t = torch.where(condition, 1.0, 3.0)",
    ),
}


@pytest.mark.parametrize("form", SELECTS)
@pytest.mark.slow
def test_a_choice_between_numbers_is_selected_with_where_and_agrees_either_way(form: str) -> None:
    body, made = SELECTS[form]
    report = fixed(body, f"selects_{form}")
    assert made in after(report)
    model, _ = defined(body, f"selects_again_{form}")
    assert isinstance(report.attempt, Exported)
    for x in (torch.zeros(4, 3), torch.full((4, 3), 9.0)):
        assert torch.equal(report.attempt.program.module()(x), model(x))


@pytest.mark.slow
def test_values_of_different_shapes_are_not_selected_but_a_way_can_be_assumed() -> None:
    report = fixed("y = x.sum() if x.max() > 0.5 else x\nreturn y + 1", "shapes_differ")
    assert isinstance(report.attempt, Failed)
    (fix,) = report.attempt.fixes
    assert fix.title == "Assume `x.max() > 0.5`"
    assert fix.lossy
    assert "rejects inputs" in fix.gives_up
    (edit,) = fix.edits
    assert "    torch._assert_async(x.max() > 0.5, " in edit.after
    assert "y = (x.sum())" in edit.after


WRITES = {
    "attribute": "if x.max() > 1.5:\n    self.mean = self.mean + x[0]\nreturn x + self.mean",
    "element": "y = x * 2\nif x.max() > 1.5:\n    y[0] = 7\n    y[:, 1].add_(3)\nreturn y",
    "view": "if x.max() > 1.5:\n    return x.t()\nreturn (x + 1).t()",
}


@pytest.mark.parametrize("form", WRITES)
@pytest.mark.slow
def test_what_a_branch_writes_is_written_after_it(form: str) -> None:
    model, _ = defined(WRITES[form], f"writes_{form}")
    model.register_buffer("mean", torch.zeros(3))
    report = autofix(Request(target=model, args=(torch.rand(4, 3) + 1,)))
    assert "torch.where(" in after(report)
    assert isinstance(report.attempt, Exported)
    for x in (torch.zeros(4, 3), torch.full((4, 3), 9.0)):
        model.mean.zero_()
        theirs, mine = x.clone(), x.clone()
        expected = model(theirs)
        model.mean = torch.zeros(3)
        program = report.attempt.program.module()
        for name, buffer in program.named_buffers():
            if name == "mean":
                buffer.zero_()
        assert torch.equal(program(mine), expected)
        assert torch.equal(mine, theirs)


def test_a_branch_that_returns_its_input_is_cloned() -> None:
    text = (
        "def f(x):\n    def yes(x): return x\n    def no(x):\n        x.add_(1)\n        return x\n"
    )
    assert "return x.clone()" in clone_branch_results(text, 2).text
    assert (
        "        x = x.clone()\n        x.add_(1)\n        return x\n"
        in clone_branch_results(text, 4).text
    )
    with pytest.raises(CannotRewrite):
        clone_branch_results("def f(x):\n    return 1\n", 2)


@pytest.mark.slow
def test_a_cond_that_cannot_export_is_not_kept() -> None:
    body = "if x.max() > 1.5:\n    y = x\nelse:\n    y = x.long()\nreturn y.sum()"
    report = fixed(body, "differs")
    assert isinstance(report.attempt, Failed)
    assert not any(step.kept for step in report.steps)
    assert not any("torch.cond" in fix.title for fix in report.attempt.fixes)


def test_distributions_do_not_validate() -> None:
    text = "def f(x):\n    d = torch.distributions.Normal(x, x + 1)\n    return d.log_prob(x)\n"
    assert "Normal(x, x + 1, validate_args=False)" in disable_validation(text, 3).text
    with pytest.raises(CannotRewrite):
        disable_validation("def f(x):\n    return Linear(x)\n", 2)


FACTORY = """
import functools
import torch

def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

def make(scale, other):
    if other:
        def forward(x):
            return x * scale
    else:
        @logged
        def forward(x):
            if x.sum() > 0:
                return x * scale
            return x - scale
    return forward
"""


def module_of(text: str, name: str) -> dict[str, Any]:
    file = f"/cells/{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {"__name__": name}
    exec(compile(text, file, "exec"), names)
    return names


@pytest.mark.slow
def test_functions_made_by_a_factory_are_fixed() -> None:
    names = module_of(FACTORY, "factory")
    other, target = names["make"](3.0, True), names["make"](2.0, False)
    report = autofix(Request(target=target, args=(torch.rand(3),)))
    assert "torch.where(" in after(report)
    assert isinstance(report.attempt, Exported)
    x = torch.tensor([-1.0, -2.0])
    for y in (x.repeat(2)[:3], -x.repeat(2)[:3]):
        assert torch.equal(report.attempt.program.module()(y), target(y))
    assert report.attempt.request is not None
    with apply_edits(report.attempt.request.edits):
        assert torch.equal(other(x), x * 3)


@pytest.mark.slow
@pytest.mark.parametrize(("writes", "is_lossy"), [("", False), ("out=self.mean", True)])
def test_a_test_of_state_is_assumed_without_loss_where_nothing_writes_it(
    writes: str, is_lossy: bool
) -> None:
    body = f"torch.add(self.mean, x[0], {writes or 'alpha=2'})\n"
    model, _ = defined(
        f"{body}if self.mean.sum() >= 0:\n    return x[:1]\nreturn x", f"state_{writes}"
    )
    model.register_buffer("mean", torch.zeros(3))
    attempt = capture(Request(target=model, args=(torch.rand(4, 3),)))
    assert isinstance(attempt, Failed)
    explained = replace(attempt, diagnosis=diagnose(attempt))
    with warnings.catch_warnings(record=True) as heard:
        (fix,) = assume_branch_on_data(explained)
    assert not heard
    assert isinstance(fix, Fix)
    assert fix.title == "Assume `self.mean.sum() >= 0`"
    assert fix.lossy == is_lossy
