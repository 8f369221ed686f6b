"""Loops over a dynamic length whose iterations know nothing of each other, as torch.vmap."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.loop_forms import scannable
from export_engine.fixes.code.loops.loop_to_vmap import as_vmap, of_tensors
from export_engine.fixes.code.loops.nested_loops import pairs_at_once
from export_engine.fixes.code.loops.several_appends import with_one_append
from export_engine.shapes import Shapes

from .test_fixes_code import defined
from .test_fixes_loops import line_of_loop

FORMS = {
    "collects": """
        outs = []
        for i in range(x.shape[0]):
            h = self.up(x[i])  # of a row
            outs.append(h.softmax(-1))
        return torch.stack(outs, dim=1)
    """,
    "writes": """
        out = torch.zeros_like(x)
        for i, row in enumerate(x):
            out[i] = row.sort(-1).values * (i + 1)
        return out
    """,
    "two_lists": """
        low, high = [], []
        for row, other in zip(x, x.flip(0)):
            low.append(torch.minimum(row, other))
            high.append((row + other).sum(-1))
        return torch.stack(low), torch.cat([torch.stack(high), x.sum(-1)])
    """,
    "looked_up": """
        order = x[:, 0, 0].argsort() % 4
        outs = []
        for i in range(x.shape[0]):
            outs.append(x[i][order[i].reshape(1)])
        return torch.stack(outs)
    """,
    "comprehension": """
        return torch.stack([row.cumsum(0) + x.mean(0) for row in x])
    """,
}


PAIRS = {
    "all": """
        found = []
        for i in range(x.shape[0]):
            for j in range(x.shape[0]):
                found.append((x[i] * x[j]).sum())
        return torch.stack(found)
    """,
    "written": """
        n = x.shape[0]
        found = torch.zeros(n, n)
        for i in range(n):
            for j in range(n):
                found[i, j] = (x[i] - x[j]).norm()
        return found
    """,
    "upper": """
        n = x.shape[0]
        found = []
        for i in range(n - 1):
            for j in range(i + 1, n):
                found.append(x[i] - x[j])
        return torch.stack(found, dim=0)
    """,
}


def made(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "vmap.py", "exec"), names)
    return names["Model"]()


@pytest.mark.parametrize("form", FORMS)
def test_vmap_computes_what_the_loop_does(form: str) -> None:
    model, text = defined(FORMS[form], f"vmap_{form}")
    other = made(as_vmap(*scannable(text, line_of_loop(text))).text)
    other.load_state_dict(model.state_dict())
    for length in (1, 2, 5):
        x = torch.rand(length, 4, 3)
        torch.testing.assert_close(other(x), model(x))


@pytest.mark.parametrize("form", PAIRS)
def test_two_loops_over_pairs_run_at_once_in_their_order(form: str) -> None:
    model, text = defined(PAIRS[form], f"pairs_{form}")
    other = made(pairs_at_once(text, line_of_loop(text)).text)
    for length in (2, 3, 5):
        x = torch.rand(length, 4, 3)
        torch.testing.assert_close(other(x), model(x))


def test_pairs_of_which_a_part_is_kept_as_a_list_are_left() -> None:
    body = PAIRS["upper"].replace("torch.stack(found, dim=0)", "found[0]")
    _, text = defined(body, "pairs_first")
    with pytest.raises(Unclear, match="stacked"):
        pairs_at_once(text, line_of_loop(text))


@pytest.mark.slow
def test_a_choice_in_each_row_runs_at_once_too() -> None:
    body = """
        outs = []
        for i in range(x.shape[0]):
            if x[i].sum() > 0:
                outs.append(x[i] * 2)
            else:
                outs.append(x[i] + 1)
        return torch.stack(outs)
    """
    model, _ = defined(body, "vmap_of_choices")
    shapes = Shapes.parse("x: n, _")
    report = autofix(Request(target=model, args=(torch.randn(4, 3),), shapes=shapes))
    assert isinstance(report.attempt, Exported)
    (step,) = report.kept
    assert step.fix.title.startswith("Select with torch.where")
    program = report.attempt.program.module()
    for n in (2, 7):
        x = torch.randn(n, 3)
        torch.testing.assert_close(program(x), model(x), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("h = x[0]\nfor row in x:\n    h = h * row\nreturn h", "from one iteration"),
        ("for row in x:\n    h = row * 2\nreturn h", "more, or less"),
    ],
)
def test_an_iteration_that_needs_another_is_left(body: str, reason: str) -> None:
    _, text = defined(body, "vmap_not")
    with pytest.raises(Unclear, match=reason):
        as_vmap(text, line_of_loop(text))


def test_a_number_of_each_iteration_indexes_as_a_tensor() -> None:
    before = "def f(x, n):\n    return x[int(n) - 1, :2]\n"
    assert of_tensors(before, 2).text.splitlines()[1] == (
        "    return x[((n) - 1).reshape(1)].select(0, 0)[:2]"
    )


class LastOf(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(x.shape[0]):
            out.append(x[i, n[i] - 1, :])
        return torch.stack(out)


@pytest.mark.slow
def test_the_last_token_of_each_row_stays_dynamic() -> None:
    args = (torch.randn(3, 6, 2), torch.tensor([2, 6, 1]))
    shapes = Shapes.parse("x: batch, _, _; n: batch")
    report = autofix(Request(target=LastOf(), args=args, shapes=shapes))
    assert isinstance(report.attempt, Exported)
    (step,) = report.kept
    assert step.fix.title.endswith("at once with torch.vmap")
    program = report.attempt.program.module()
    for batch in (2, 5):
        x, n = torch.randn(batch, 6, 2), torch.randint(1, 7, (batch,))
        torch.testing.assert_close(program(x, n), LastOf()(x, n), rtol=0, atol=0)


@pytest.mark.slow
def test_an_op_that_fixes_the_length_leaves_the_loop_to_a_scan() -> None:
    body = """
        outs = []
        for row in x:
            image = torch.nn.functional.grid_sample(
                torch.ones(1, 1, 4, 4), row.view(1, 1, -1, 2), align_corners=False
            )
            outs.append(image.flatten())
        return torch.stack(outs)
    """
    model, _ = defined(body, "vmap_of_samples")
    shapes = Shapes.parse("x: n, _, _")
    report = autofix(Request(target=model, args=(torch.rand(3, 2, 2),), shapes=shapes))
    assert isinstance(report.attempt, Exported)
    assert "as a scan" in report.kept[-1].fix.title


SEVERAL = {
    "a list is added": """
        outs = []
        for i in range(x.shape[1] // 2):
            outs += [x[:, i].relu(), x[:, i] * 2]
        return torch.stack(outs, dim=1)
    """,
    "two are appended": """
        outs = []
        for row in x:
            y = row + 1
            outs.append(row)
            outs.append(y.exp())
        return torch.stack(outs)
    """,
    "of several lengths": """
        outs = []
        for row in x:
            outs.extend((row, row[:2].sum(0, keepdim=True)))
        return torch.cat(outs, 0)
    """,
}
OTHERS = (
    "outs = []\nfor row in x:\n    outs.append(row)\n    row = row + 1\n    outs.append(row)",
    "outs = []\nfor row in x:\n    outs += [row, outs[-1]]",
    "outs = [h]\nfor row in x:\n    outs += [row, row]",
    "outs = []\nfor row in x:\n    outs += [*row, row]",
    "outs = []\nfor row in x:\n    outs += [row, row]\nh = h + len(outs)",
)


@pytest.mark.parametrize("form", SEVERAL)
def test_what_is_added_together_is_added_as_one(form: str) -> None:
    model, text = defined(SEVERAL[form], f"several_{form.replace(' ', '_')}")
    made = with_one_append(text, line_of_loop(text))
    assert made != text
    names: dict[str, Any] = {}
    exec(compile(made, "several.py", "exec"), names)
    for size in (2, 3, 6):
        x = torch.rand(size, size, 4)
        assert torch.equal(names["Model"]()(x), model(x))


@pytest.mark.parametrize("body", OTHERS)
def test_what_is_not_added_together_is_kept(body: str) -> None:
    lines = "\n".join(f"    {each}" for each in body.split("\n"))
    text = f"import torch\ndef f(x, h):\n{lines}\n    return torch.stack(outs)\n"
    assert with_one_append(text, 4) == text


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_list_that_takes_two_in_each_iteration_stays_dynamic(strict: bool) -> None:
    model, _ = defined(SEVERAL["two are appended"], f"two_of_any_{strict}")
    shapes = Shapes.parse("x: time, _, _")
    report = autofix(
        Request(target=model, args=(torch.randn(5, 3, 4),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    for size in (2, 9):
        x = torch.randn(size, 3, 4)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.parametrize(
    ("start", "read", "is_last"),
    [
        ("[x[0]]", "outs[t - 1]", True),
        ("[x[0], x[1]]", "outs[t]", True),
        ("[x[0], x[1]]", "outs[t - 1]", False),
        ("[x[0]]", "outs[t - 2]", False),
        ("[x[0]]", "outs[0]", False),
    ],
)
def test_the_last_of_a_list_by_number_is_told_from_others(
    start: str, read: str, is_last: bool
) -> None:
    text = (
        f"import torch\ndef f(x):\n    outs = {start}\n    for t in range(1, x.shape[0]):\n"
        f"        outs.append(x[t] + {read})\n    return torch.stack(outs)\n"
    )
    if is_last:
        made = scannable(text, 4).text
        scope: dict[str, Any] = {}
        exec(made, scope)
        again: dict[str, Any] = {}
        exec(text, again)
        assert read not in made
        x = torch.arange(12.0).view(4, 3)
        assert torch.equal(scope["f"](x), again["f"](x))
    else:
        with pytest.raises(Unclear, match="another way than its last element"):
            scannable(text, 4)
