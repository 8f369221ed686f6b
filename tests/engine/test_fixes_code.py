"""Code fixes: branches as torch.cond, flags, asserts, writes; in memory, undone, and refused."""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import sys
import textwrap
import types
from typing import Any

import pytest
import torch

from export_engine.attempt import (
    Edit,
    EditError,
    Exported,
    Failed,
    Request,
    apply_edits,
    combine_edits,
    functions_remembered,
    text_in_effect,
)
from export_engine.capture import capture
from export_engine.fixes import autofix, explain
from export_engine.shapes import Shapes
from export_engine.source import original_file

from ..fixes.cases.code import Padded, Weighed, outer

HEAD = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)
        self.seen = None

    def forward(self, x):
"""


def defined(body: str, name: str) -> tuple[Any, str]:
    """A model whose `forward` has this body, as a notebook cell would define it."""
    source = HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8) + "\n"
    file = f"/cells/{name}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = types.ModuleType(f"cell_{name}")  # strict mode imports it by its name
    sys.modules[module.__name__] = module
    exec(compile(source, file, "exec"), vars(module))
    return module.Model(), source


FORMS = {
    "if_else_return": """
        if x.sum() > 0:  # which way
            return x.sin()
        else:
            return x.cos()
    """,
    "new_attribute": """
        if x.sum() > 0:
            self.kept = x + 1
        else:
            self.kept = x - 1
        return self.kept * 2
    """,
    "early_return": """
        if (x > 0.5).any():
            return x
        y = x * 2
        return y.cos()
    """,
    "assigns_one": """
        # keep this comment
        if x.sum() > 0:
            y = x.sin()
        else:
            y = x
        return y + 1
    """,
    "assigns_two": """
        a = x + 1
        if x.mean() > 0:
            a, b = a * 2, a - 1
        else:
            b = x.exp()
        return a + b
    """,
    "no_else": """
        if x.min() < 0:
            x = x.abs()
        return x.sqrt()
    """,
    "augmented": """
        y = x.clone()
        if not (x.sum() > 0):
            y *= 3
        return y
    """,
    "elif_chain": """
        if x.sum() > 3:
            return x.sin()
        elif x.sum() < -3:
            return x
        else:
            return x * 2
    """,
    "elif_returns": """
        if x.sum() > 3:
            return x.sin()
        elif x.sum() < -3:
            return x
        return x * 2
    """,
    "else_returns": """
        if x.sum() > 3:
            y = x.sin()
        else:
            return x.tanh()
        return y + 1
    """,
    "elif_goes_on": """
        if x.sum() > 3:
            return x.sin()
        elif x.sum() < -3:
            x = x * 2
        else:
            return x
        return x.cos()
    """,
    "conditional": """
        y = self.up(x) if x.mean() > 0 else x
        return y + 1
    """,
    "and_or": """
        if (x.sum() > 0 and x.max() < 9) or x.min() > 5:
            return x.tan()
        return x.neg()
    """,
    "temporaries": """
        if x.sum() > 0:
            t = x * 2
            y = t.sin()
        else:
            t = x
            y = t.cos()
        return y
    """,
    "in_a_loop": """
        for _ in range(3):
            if x.sum() > 0:
                x = x - 1
        return x
    """,
    "modules": """
        if x.norm() > 1:
            x = self.up(x)
        return x * 2
    """,
    "flag": """
        loud = bool((x.abs() > 2).any())
        if loud:
            x = x / 2
        return x
    """,
    "flag_of_several": """
        wild = x.isnan().any() or not (x.abs() < 2).all()
        if wild:
            x = x / 2
        return x
    """,
    "writes_and_returns": """
        y, low = x.clone(), x.min()
        if x.sum() > 0:
            y[0] = 1
            self.seen = low
            return y * 2, low
        self.seen = low * 2
        y.add_(1)
        low = low - 1
        return y, low
    """,
    "new_dict": """
        if x.sum() > 0:
            return {"logits": x.sin()}
        out = {}
        out["logits"] = x.cos()
        return out
    """,
    "new_list": """
        if x.sum() > 0:
            return [x.sin(), x.cos()]
        out = []
        for k in range(2):
            out.append(x * k)
        return out
    """,
    "new_tensor": """
        if x.sum() > 0:
            y = torch.zeros_like(x)
            y[0] = x[1]
            y[1:].add_(1)
        else:
            y = x
        return y + 1
    """,
    "new_tensor_returned": """
        if x.sum() > 0:
            return x
        y = x.clone()
        y[:, 1] = 0
        return y
    """,
    "truth_of_a_number": """
        done, running = (x[:, 0] > 0).long(), 0.0
        out = torch.zeros(x.shape[0])
        for t in reversed(range(x.shape[0])):
            if not done[t]:
                running = 0.5
            running = x[t, 1] + 0.9 * running
            out[t] = running
        return out
    """,
    "number": """
        k = x.sum().int().item()
        if k > 1:
            return x + 1
        return x - 1
    """,
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.slow
def test_every_form_of_branch_is_fixed_and_agrees_either_way(form: str, strict: bool) -> None:
    model, source = defined(FORMS[form], form)
    report = autofix(Request(target=model, args=(torch.rand(4, 3),), strict=strict))
    attempt = report.attempt
    assert isinstance(attempt, Exported), report.sentence
    program = attempt.program.module()
    with torch.no_grad():
        for sign in (1, -1):
            for scale in (0.1, 4):
                x = sign * scale * torch.rand(4, 3)
                expected = model(x.clone())
                torch.testing.assert_close(program(x), expected, equal_nan=True)
    for comment in ("# which way", "# keep this comment"):
        kept = [edit for edit in attempt.request.edits if comment in edit.before]  # type: ignore[union-attr]
        assert all(comment in edit.after for edit in kept)
    assert inspect.getsource(type(model).forward) in source


UNCLEAR = {
    "returns_inside": "if x.sum() > 0:\n    if x.ndim:\n        return x\n    return x + 1\n"
    "return x + 1",
    "view": "y = x[0]\nif x.sum() > 0:\n    y.add_(1)\n    return x * 2\nreturn x",
    "alias": "self.seen = x + 1\ny = self.seen.view(-1)\nif x.sum() > 0:\n"
    "    self.seen.mul_(2)\n    x = x + y[0]\nreturn x",
    "part": "if x.sum() > 0:\n    y = [x]\n    y, z = y[0], 1\n    y.add_(1)\nelse:\n    y = x\n"
    "return y",
    "raises": "if x.sum() > 0:\n    raise ValueError\nreturn x",
    "does_more": "if x.sum() > 0:\n    self.seen = 1\n    raise ValueError\nreturn x",
    "caught": "try:\n    if x.sum() > 0:\n        raise ValueError\n    y = x * 2\n"
    "except ValueError:\n    y = x\nreturn y",
    "remembers": "if x.sum() > 0:\n    self.seen = x\nreturn x if self.seen is None else x * 2",
    "in_place": "y = x.clone()\nif x.sum() > 0:\n    y.add_(1)\nreturn y",
    "of_an_argument": "if x.sum() > 0:\n    x.add_(1)\nreturn x * 2",
    "prints": "if x.sum() > 0:\n    print(x)\nreturn x",
    "half": "if x.sum() > 0:\n    y = x\nreturn y",
    "unused": "if x.sum() > 0:\n    y = x\nreturn x",
    "none": "if x is None or x.sum() > 0:\n    return x\nreturn x + 1",
    "loop": "while True:\n    if x.sum() > 0:\n        break\n    x = x + 1\nreturn x",
    "mixed": "if x.sum() > 0:\n    if x.ndim == 2:\n        return x\n    x = x + 1\nreturn x",
    "out_of_range": "n = (x > 0).sum()\nif n < 4:\n    return x[n]\nreturn x[0]",
    "singular": "y = x[:3]\nif y.sum() > 0:\n    return torch.linalg.inv(y.T @ y + torch.eye(3))\n"
    "return y",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", UNCLEAR)
def test_a_program_of_an_unclear_branch_answers_as_eager_does(case: str) -> None:
    """Whatever is offered: what cannot be done soundly is refused."""
    model, _ = defined(UNCLEAR[case], f"unclear_{case}")
    attempt = autofix(Request(target=model, args=(-torch.rand(4, 3),))).attempt
    if not isinstance(attempt, Exported):
        return
    program = attempt.program.module()
    for sign in (1, -1, 0):
        x = sign * torch.rand(4, 3)
        fresh, _ = defined(UNCLEAR[case], f"unclear_{case}")
        try:
            expected = fresh(x.clone())
        except (ValueError, UnboundLocalError):
            continue
        torch.testing.assert_close(program(x.clone()), expected)


@pytest.mark.after_check
def test_an_assert_becomes_a_check_of_the_program() -> None:
    model, _ = defined('assert x.sum() > 0, "must be positive"\nreturn x * 2', "asserting")
    report = autofix(Request(target=model, args=(torch.rand(4, 3),)))
    assert isinstance(report.attempt, Exported), report.sentence
    program = report.attempt.program.module()
    assert torch.equal(program(torch.ones(4, 3)), 2 * torch.ones(4, 3))
    with pytest.raises(RuntimeError, match="must be positive"):
        program(-torch.ones(4, 3))


def failing(name: str) -> tuple[Any, Failed]:
    model, _ = defined(FORMS["if_else_return"], name)
    attempt = capture(Request(target=model, args=(torch.rand(4, 3),)))
    assert isinstance(attempt, Failed)
    return model, explain(attempt)


@pytest.mark.slow
def test_the_users_function_runs_its_own_code_afterwards_also_when_interrupted() -> None:
    model, attempt = failing("untouched")
    own = type(model).forward.__code__
    fix = next(fix for fix in attempt.fixes if fix.kind == "code")
    assert attempt.request is not None
    request = fix.apply(attempt.request)

    def interrupt(progress: object) -> None:
        assert type(model).forward.__code__ is not own
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        capture(request, interrupt)
    assert type(model).forward.__code__ is own
    assert isinstance(capture(request), Exported)
    assert type(model).forward.__code__ is own


@pytest.mark.slow
def test_a_fix_is_shown_as_a_diff() -> None:
    _, attempt = failing("shown")
    fix = next(fix for fix in attempt.fixes if fix.kind == "code")
    diff = fix.edits[0].diff("cell")
    assert "-        if x.sum() > 0:  # which way" in diff or "-        if x.sum() > 0:" in diff
    assert "+        return torch.where(x.sum() > 0, x.sin(), x.cos())" in diff


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("after", "functions", "said"),
    [
        ("def f(:", ("f",), "not valid Python"),
        ("def g(): pass", ("f",), "cannot be found"),
        ("def f(): pass", ("nowhere",), "cannot be found"),
    ],
)
def test_an_edit_that_cannot_run_says_why(
    after: str, functions: tuple[str, ...], said: str
) -> None:
    with (
        pytest.raises(EditError, match=said),
        apply_edits([Edit("/no/file.py", "", after, functions)]),
    ):
        pass


MARIMO = """
@app.cell
def _():
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            return x + 1
    return (Model,)

@app.cell
def _():
    def half(x):
        return x / 2
    return
"""


def test_what_marimo_runs_without_the_function_around_it_is_found() -> None:
    """It runs the body of a cell as a module: `Model.forward`, not `_.<locals>.Model.forward`."""
    file = "/apps/story.py"
    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in ast.parse(MARIMO).body:
        assert isinstance(cell, ast.FunctionDef)
        body = ast.Module([each for each in cell.body if not isinstance(each, ast.Return)], [])
        exec(compile(body, file, "exec"), space)
    after = MARIMO.replace("x + 1", "x + 2").replace("x / 2", "x / 4")
    model = space["Model"]()

    with apply_edits([Edit(file, MARIMO, after, ("_",))]):
        assert (model(torch.ones(1)).item(), space["half"](8)) == (3, 2)
    assert (model(torch.ones(1)).item(), space["half"](8)) == (2, 4)
    with (
        pytest.raises(EditError, match="cannot be found"),
        apply_edits([Edit(file, "", after, ("no",))]),
    ):
        pass


def test_functions_are_found_again_whatever_an_edit_or_an_import_did() -> None:
    """Objects are looked through once in a search, and modules each time."""
    before, after = "def f(): return 1\n", "def f(): return 2\n"
    file = "/cells/found_again.py"
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(before, file, "exec"), space)
    late = types.ModuleType("found_again")
    late.__file__ = file

    with functions_remembered(), pytest.MonkeyPatch.context() as patch:
        with apply_edits([Edit(file, before, after, ("f",))]):
            assert space["f"]() == 2
        patch.setitem(sys.modules, "found_again", late)
        exec(compile(before, file, "exec"), vars(late))
        with apply_edits([Edit(file, before, after, ("f",))]):
            assert (space["f"](), late.f()) == (2, 2)
        assert (space["f"](), late.f()) == (1, 1)


def test_edits_of_one_file_build_on_each_other() -> None:
    first = Edit("a.py", "1\n2\n3\n", "1\nnew\n2\n3\n", ("f",))
    text, line = text_in_effect([first], "a.py", 3)
    assert (text, line) == (first.after, 4)
    assert text_in_effect([first], first.edited_file, 3) == (first.after, 3)
    second = Edit("a.py", first.after, "1\nnew\n2\n4\n", ("g",))
    (both,) = combine_edits([first], second)
    assert (both.before, both.after) == (first.before, second.after)
    assert both.functions == ("f", "g")
    assert original_file(both.edited_file) == "a.py"


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_a_function_inside_a_function_is_fixed_with_the_one_around_it(strict: bool) -> None:
    report = autofix(Request(target=outer, args=(torch.rand(3), 2), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence


@pytest.mark.slow
def test_a_heap_that_is_frozen_hides_no_function_from_a_fix() -> None:
    """`gc.freeze()`, as servers call it, leaves what was loaded out of what `gc` tells."""
    assert gc.get_freeze_count(), "tests/frozen_heap.py froze torch"
    shapes = Shapes.parse("input: seq, batch, _")

    report = autofix(
        Request(target=torch.nn.GRU(8, 4), args=(torch.randn(7, 5, 8),), dynamic_shapes=shapes)
    )

    assert isinstance(report.attempt, Exported)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_branch_is_rewritten_where_its_code_needs_another_input_to_vary(strict: bool) -> None:
    args = (torch.randn(2, 5), torch.ones(2, 5).bool())
    shapes = Shapes.parse("x: batch, seq")
    report = autofix(Request(target=Padded(), args=args, dynamic_shapes=shapes, strict=strict))
    titles = [step.fix.title for step in report.kept]
    assert titles[0].endswith("with torch.where")
    assert titles[1:] == ["Also let mask vary"]
    assert isinstance(report.attempt, Exported)
    args = (torch.randn(3, 7), torch.rand(3, 7) > 0.5)
    called = report.attempt.program.module()(*args)
    torch.testing.assert_close(called, Padded()(*args))


@pytest.mark.slow
def test_no_line_of_a_rewrite_is_where_the_story_ends() -> None:
    args = (torch.randn(2, 4), torch.ones(6).bool())
    request = Request(target=Weighed(), args=args, shapes=Shapes.parse("x: _, seq; weight: _"))
    report = autofix(request)
    assert isinstance(report.attempt, Failed)
    assert not report.kept
