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

from ..fixes.cases.code import AssignsOne, IfElseReturn, Padded, Weighed, outer

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "comment"), [(IfElseReturn, "# which way"), (AssignsOne, "# keep this comment")]
)
def test_a_rewritten_branch_keeps_its_comments_and_the_class_its_source(
    model: type[torch.nn.Module], comment: str
) -> None:
    """How each form of a branch answers either way is held by tests/fixes."""
    source = inspect.getsource(model.forward)

    report = autofix(Request(target=model(), args=(torch.rand(4, 3),)))

    assert isinstance(report.attempt, Exported), report.sentence
    (edit,) = report.attempt.request.edits  # type: ignore[union-attr]
    assert edit.after.count(comment) == edit.before.count(comment) > 0
    assert inspect.getsource(model.forward) == source


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
    model, _ = defined("if x.sum() > 0:\n    return x.sin()\nreturn x.cos()", name)
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
    assert "-        if x.sum() > 0:" in diff
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
