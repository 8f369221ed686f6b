"""Branches on data that only save work, warn as well, or append either way; numbers of sizes."""

from __future__ import annotations

import linecache
import textwrap
import types

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import AutofixReport, autofix
from export_engine.fixes.code.branches.branch_appends import append_apart
from export_engine.fixes.code.branches.shortcuts import without_shortcut
from export_engine.fixes.code.calls.notes import note_apart
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.loop_to_scan import as_scan

from .test_fixes_code import defined
from .test_fixes_loops_on_data import line_of

SHORT = {
    "alone": ("if m.all():  # asked\n    m = None\nreturn x", "return x"),
    "only": (
        "if f:\n    if m.all():  # asked\n        m = None\nreturn x",
        "if f:\n    pass\nreturn x",
    ),
    "otherwise": (
        "if m.all():  # asked\n    b = None\nelse:\n    b = x\nreturn b",
        "b = x\nreturn b",
    ),
    "reversed": (
        "if not m.all():  # asked\n    b = x\nelse:\n    b = None\nreturn b",
        "b = x\nreturn b",
    ),
    "expression": (
        "b = None if m.all() else x + 1  # asked\nreturn b",
        "b = (x + 1)  # asked\nreturn b",
    ),
}


def text_of(body: str) -> str:
    lines = [f"    {each}" for each in body.split("\n")]
    return "import torch\ndef f(x, m, f, out):\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("form", SHORT)
def test_a_shortcut_is_left_out_and_what_it_saves_is_kept(form: str) -> None:
    body, kept = SHORT[form]
    text = text_of(body)
    found = without_shortcut(text, line_of(text, "# asked"))
    assert found.made.text == text_of(kept)
    names: dict[str, object] = {}
    exec(compile(found.probe, "probe.py", "exec"), names)
    with pytest.raises(LookupError):
        names["f"](torch.ones(2), torch.ones(2), True, [])  # type: ignore[operator]


@pytest.mark.parametrize(
    "body",
    [
        "if m.all():  # asked\n    m = x\nreturn x",
        "if m.all():  # asked\n    k = 1\nelse:\n    k = 2\nreturn x * k",
        "if m.all():  # asked\n    return x\nreturn x",
        "if f:\n    pass\nelif m.all():  # asked\n    m = None\nreturn x",
        "x = 1 if m.all() else 2  # asked\nreturn x",
    ],
)
def test_a_branch_that_does_more_than_turn_something_off_is_kept(body: str) -> None:
    text = text_of(body)
    with pytest.raises(Unclear):
        without_shortcut(text, line_of(text, "# asked"))


def test_a_warning_beside_other_work_goes_before_it() -> None:
    text = text_of("if x.isnan().any():  # asked\n    print('NaN')\n    x = x * 2\nreturn x")
    made, line = note_apart(text, line_of(text, "# asked"))
    assert made.text == text_of(
        "if not torch.compiler.is_exporting() and (x.isnan().any()):\n    print('NaN')\n"
        "if x.isnan().any():  # asked\n    x = x * 2\nreturn x"
    )
    assert made.text.splitlines()[line - 1].endswith("# asked")


def test_only_ways_that_all_end_with_one_append_choose_what_is_appended() -> None:
    ways = "if m.all():  # asked\n    y = x + 1\n    out.append(y)\nelse:\n    out.append(x)"
    text = text_of(f"{ways}\nreturn out")
    made = append_apart(text, line_of(text, "# asked")).text
    assert made == text_of(
        f"{ways.replace('out.append(y)', '_chosen = y').replace('out.append(x)', '_chosen = x')}\n"
        "out.append(_chosen)\nreturn out"
    )
    for other in ("pass", "out.append(x)\n    out.append(x)", "f.append(x)", "out.append(*x)"):
        text = text_of(ways.replace("out.append(x)", other))
        with pytest.raises(Unclear):
            append_apart(text, line_of(text, "# asked"))


def fixed(body: str, name: str, *args: torch.Tensor) -> AutofixReport:
    model, _ = defined(body, name)
    report = autofix(Request(target=model, args=args))
    assert isinstance(report.attempt, Exported), report.sentence
    return report


@pytest.mark.slow
def test_a_shortcut_is_skipped_where_the_answers_are_the_same() -> None:
    same = (
        "m = x > -9\nif m.all():\n    m = None\nif m is not None:\n    x = x.where(m, 0)\nreturn x"
    )
    report = fixed(same, "same", torch.rand(4, 3))
    assert [step.fix.title[:17] for step in report.kept] == ["Skip the shortcut"]
    assert not report.kept[0].fix.lossy
    program = report.attempt.program.module()  # type: ignore[union-attr]
    x = torch.tensor([[-10.0, 1.0, 2.0]]).expand(4, 3)
    assert torch.equal(program(x), x.where(x > -9, 0))


@pytest.mark.slow
@pytest.mark.parametrize("rest", ["x * m[:, None]", "x * m[:, None] + 1"])
def test_a_mask_of_ones_is_tried_where_the_example_has_another(rest: str) -> None:
    text = "def forward(self, x, m):\n    if m.all():\n        m = None\n"
    text += f"    return x if m is None else {rest}\n"
    file = "/cells/masks_of_ones.py"
    source = f"import torch\nclass Masks(torch.nn.Module):\n{textwrap.indent(text, '    ')}"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = types.ModuleType("masks_of_ones")
    exec(compile(source, file, "exec"), vars(module))
    args = (torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 0]))
    report = autofix(Request(target=module.Masks(), args=args))
    alike = rest == "x * m[:, None]"
    assert any("shortcut" in step.fix.title for step in report.kept) is alike


@pytest.mark.slow
def test_a_shortcut_that_changes_the_answer_is_none() -> None:
    model, _ = defined(
        "m = x + 1\nif x.sum() > 0:\n    m = None\nreturn x if m is None else m * 2", "changes"
    )
    report = autofix(Request(target=model, args=(torch.rand(4, 3),)))
    assert not any("shortcut" in fix.title for fix in report.first.fixes)


@pytest.mark.slow
def test_a_branch_that_warns_too_and_appends_either_way_is_exported() -> None:
    rows = "out = []\nfor row in x:\n    if row.sum() > 1:\n        print('large')\n"
    rows += "        row = row / 2\n    if row.max() > 0.4:\n        out.append(-row)\n"
    report = fixed(
        f"{rows}    else:\n        out.append(row)\nreturn torch.stack(out)",
        "rows",
        torch.rand(2, 3),
    )
    assert "The program does not warn." in {step.fix.gives_up for step in report.kept}
    program = report.attempt.program.module()  # type: ignore[union-attr]
    for x in (torch.zeros(2, 3), torch.ones(2, 3), torch.rand(2, 3)):
        halved = torch.stack([row / 2 if row.sum() > 1 else row for row in x])
        expected = torch.stack([-row if row.max() > 0.4 else row for row in halved])
        assert torch.equal(program(x), expected)


class Grid(nn.Module):
    """Tokens of a square grid."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side = int(x.shape[1] ** 0.5)
        return x.transpose(1, 2).reshape(x.shape[0], -1, side, side).mean(1)


@pytest.mark.slow
def test_a_size_whose_root_is_made_a_number_stays_dynamic() -> None:
    report = autofix(
        Request(target=Grid(), args=(torch.rand(2, 16, 8),), shapes=({1: torch.export.Dim("n")},))
    )
    assert report.first.diagnosis is not None
    assert "`int(x.shape[1] ** 0.5)` makes a plain number of it" in report.first.diagnosis.sentence
    assert isinstance(report.attempt, Exported), report.sentence
    x = torch.rand(2, 25, 8)
    assert torch.equal(report.attempt.program.module()(x), Grid()(x))


def test_a_loop_over_pieces_of_other_lengths_is_no_scan() -> None:
    text = text_of("for part in torch.split(x, 3):  # asked\n    m = m + part.sum()\nreturn m")
    with pytest.raises(Unclear, match="need not be of one length"):
        as_scan(text, line_of(text, "# asked"))


def test_a_loop_over_numbers_counts_only_where_they_are_a_range() -> None:
    body = "for i in torch.arange(n).tolist():  # asked\n    m = m * 2 + x[i]\nreturn m"
    text = text_of(body).replace("f(x, m, f, out)", "f(x, m, n)")
    assert "_scan(_step, (m,), (x.narrow(0, 0, n),)" in as_scan(text, line_of(text, "# asked")).text
    text = text_of(body.replace("torch.arange(n)", "m"))
    with pytest.raises(Unclear, match="numbers that a tensor holds"):
        as_scan(text, line_of(text, "# asked"))


class Formats(nn.Module):
    """Prints its size."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print(f"{x.shape[0]:>4} of {{n}}")
        return x * 2


class Halves(nn.Module):
    """Drops rows until little is left."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while x.shape[0] > 2:
            x = x[1:]
        return x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "strict", "said"),
    [
        (Formats, False, "formats a dynamic size as a number"),
        (Formats, True, "makes text of its number"),
        (Halves, False, "the loop `while x.shape[0] > 2` is unrolled while tracing"),
    ],
)
def test_what_needs_the_number_of_a_size_is_said(
    model: type[nn.Module], strict: bool, said: str
) -> None:
    dynamic = ({0: torch.export.Dim("n")},)
    request = Request(target=model(), args=(torch.rand(3, 3),), shapes=dynamic, strict=strict)
    report = autofix(request)
    assert report.first.diagnosis is not None
    assert said in report.first.diagnosis.sentence
    assert isinstance(report.attempt, Exported) == (model is Formats)
