"""Loops over a dynamic length as a scan: each form computes what the loop does."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from export_engine.attempt import Exported, Failed, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.loop_forms import scannable
from export_engine.fixes.code.loops.loop_to_scan import as_scan
from export_engine.fixes.code.loops.sized_lists import appended
from export_engine.shapes import Shapes
from tests.torch_limits import needs_numbers

from .test_fixes_code import defined

FORMS = {
    "collects": """
        h = x.new_zeros(x.size(0), 3)
        outs = []
        for t in range(x.size(1)):
            # a step
            h = torch.tanh(self.up(x[:, t]) + h)  # kept
            outs.append(h)
        return torch.stack(outs, dim=1), h
    """,
    "reads_a_weight_both_ways_round": """
        h, outs = x[:, 0], []
        for t in range(x.size(1)):
            h = torch.tanh(h @ self.up.weight.T + (x[:, t] @ self.up.weight).mT.mT)
            outs.append(h)
        return torch.stack(outs, dim=1)
    """,
    "reads_the_last_by_number": """
        outs = [x[:, 0]]
        for t in range(1, x.size(1)):
            outs.append(0.3 * x[:, t] + 0.7 * outs[t - 1])
        return torch.stack(outs, dim=1)
    """,
    "tuple_state": """
        B, T, _ = x.shape
        state, outs = (x.new_zeros(B, 3), x.new_ones(B, 3)), []
        for t in range(T):
            state = (state[0] + x[:, t, :], state[1] * 0.5)
            outs.append(self.up(state[0]).unsqueeze(1))
        return torch.cat(outs, 1), state[1]
    """,
    "writes_out": """
        out = torch.zeros_like(x)
        num = torch.zeros_like(x[:, 0])
        den = torch.ones_like(x[:, 0])
        for i in range(x.shape[1]):
            k = x[:, i].float()
            out[:, i] = num / den
            num = num + k
            den = den * 0.5 + k.exp()
        return out, num, den
    """,
    "writes_out_in_its_dtype": """
        out, h = torch.zeros_like(x), x[:, 0].double()
        for i in range(x.shape[1]):
            h = h * 0.5 + x[:, i]
            out[:, i] = h.to(out.dtype)
        return out, h
    """,
    "zipped": """
        h = torch.zeros(x.size(0), 3)
        ys = []
        for a, b in zip(x.unbind(1), torch.unbind(2 * x, dim=1)):
            h = h * a + b
            ys.append(h)
        ys = torch.stack(ys, -1)
        return ys
    """,
    "enumerated": """
        h = torch.zeros(3)
        for n, row in enumerate(x):
            h = h + row.sum(0) * n
        return h
    """,
    "named_elements": """
        steps = x.unbind(dim=1)
        h = torch.zeros(x.size(0), 3)
        for step in steps:
            h = h + step
        return h
    """,
    "from_none": """
        h = None
        ys = []
        for t in range(x.shape[1]):
            if h is None:
                h = x[:, t]
            else:
                h = h * 0.9 + x[:, t] * 0.1
            ys.append(h)
        return torch.stack(ys, 1)
    """,
    "first_apart": """
        ys = []
        for t in range(x.size(1)):
            if t == 0:
                h = self.up(x[:, t])
            else:
                h = self.up(h) + x[:, t]
            ys.append(h)
        return torch.stack(ys, 1)
    """,
    "from_zero": """
        total = 0
        for t in range(x.shape[1]):
            total += self.up(x[:, t]).sum(-1) * (t + 1)
        return total
    """,
    "one_start": """
        h = c = torch.zeros(x.size(0), 3)
        for t in range(x.size(1)):
            h, c = torch.tanh(h + x[:, t]), c * 0.5 + h
        return h, c
    """,
    "start_read_besides": """
        first = x.sum(1)
        h, pair = first, (first, first)
        for t in range(x.size(1)):
            h = h * first + x[:, t]
            pair = (pair[0] + h, pair[1] * h)
        return h, pair
    """,
    "start_named_besides": """
        h = x.sum(1)
        first, more = h.to(x.dtype), self.up(x[:, 0])
        for t in range(x.size(1)):
            h = h * first + x[:, t] * more
        return h
    """,
    "backwards": """
        out = torch.empty(x.size(0), x.size(1), 3)
        h = torch.zeros(x.size(0), 3)
        for t in reversed(range(x.size(1))):
            h += x[:, t]
            out[:, t, :] = h
        return out
    """,
    "counts_down": """
        h = torch.zeros(x.size(0), 3)
        for t in range(x.size(1) - 1, -1, -1):
            h = h * 0.5 + x[:, t]
        return h
    """,
    "layers": """
        hs = [torch.zeros(x.size(0), 3) for _ in range(2)]
        outs = []
        for t in range(x.size(1)):
            each = x[:, t]
            for n in range(2):
                hs[n] = torch.tanh(self.up(each) + hs[n])
                each = hs[n]
            outs.append(each)
        return torch.stack(outs, 1), hs[-1]
    """,
    "no_state": """
        outs = []
        for t in range(x.size(1)):
            outs += [self.up(x[:, t])]
        return torch.stack(outs, -1), outs[-1]
    """,
    "looks_back": """
        h = x[:, 0]
        ys = []
        for t in range(1, x.size(1)):
            h = h + x[:, t] * x[:, t - 1]
            ys.append(h)
        return torch.stack([*[h], x[:, 0]]), torch.stack(ys, 1)
    """,
    "slices": """
        h = x.new_zeros(x.size(0), 1, 3)
        outs = []
        for t in range(x.size(1)):
            h = torch.tanh(self.up(x[:, t : t + 1, :]) + h)
            outs.append(h)
        return torch.cat(outs, dim=1)
    """,
    "last_dim": """
        h = x.new_zeros(x.size(0), x.size(1))
        out = torch.zeros_like(x)
        for t in range(x.shape[-1]):
            h = h + x[..., t]
            out[..., t] = h
        return out
    """,
    "last_value": """
        h = x.new_zeros(x.size(0), 3)
        for t in range(x.size(1)):
            h = h + x[:, t]
            y = h * 2
        return y
    """,
    "new_dims": """
        h = x.new_zeros(x.size(0), 3, 1)
        for t in range(x.size(1)):
            h = h + x[:, None, t, :, None].sum(1) * x[:, t : t + 1, 0, None]
        return h
    """,
    "own_output": """
        out = torch.zeros_like(x)
        for t in range(x.size(1)):
            h = out[:, t - 1] * 0.5
            out[:, t] = h + x[:, t]
        return out
    """,
    "two_back": """
        out = torch.ones_like(x)
        for t in range(1, x.size(1)):
            out[:, t] = out[:, t - 1] + 0.5 * out[:, t - 2] * x[:, t]
            total = out[:, t] * 1
        return out, total
    """,
    "own_output_backwards": """
        out, n = torch.zeros_like(x), x.size(1)
        for t in reversed(range(n - 1)):
            out[:, t] = out[:, t + 1] * 0.5 + x[:, t]
        return out
    """,
    "own_list": """
        outs = [x[:, 0] * 2, x[:, 0]]
        for t in range(1, x.size(1)):
            outs.append(torch.tanh(outs[-1] + x[:, t]))
        return torch.stack(outs, 1), torch.cat(outs, dim=-1), outs[-1], torch.stack(outs[2:])
    """,
    "begun_list": """
        best, path = x[:, 0], [x.sum(1)]
        path.append(best)
        for row in reversed(x.unbind(1)):
            best = torch.tanh(best + row)
            path.append(best)
        path.reverse()
        path.append(best * 2)
        path.insert(0, x[:, -1])
        return torch.stack(path, 1), path[2], len(path), torch.stack(path[1::2])
    """,
    "begun_in_front": """
        h, outs = x[:, 0], []
        outs.append(x[:, 1] * 3)
        for row in x.unbind(1)[::-1]:
            h = h * 0.5 + row
            outs.insert(0, h)
        return torch.cat(outs, -1)
    """,
    "goes_through_a_list": """
        h, outs = x[:, 0], []
        for t in range(1, x.size(1)):
            h = torch.tanh(h + x[:, t])
            outs.append(h)
        for n, out in enumerate(reversed(outs)):
            h = h + out * n
        last = [out * 2 for out in outs[1:]]
        for one, other in zip(outs, x.unbind(1)):
            h = h * one + other
        return h, last, outs[0]
    """,
    "one_line": """
        h, outs = torch.zeros(x.size(0), 3), []
        for t in range(x.size(1)): h = h * 0.5 + x[:, t]; outs.append(h)
        return torch.stack(outs, 1), h
    """,
    "named_steps": """
        n = x.size(1)
        steps = reversed(range(n))
        h = torch.zeros(x.size(0), 3)
        for t in steps:
            h = h * 0.5 + x[:, t]
        return h
    """,
    "turned_range": """
        h = torch.zeros(x.size(0), 3)
        for t in list(range(x.size(1)))[::-1]:
            h = h * 0.5 + x[:, t]
        return h
    """,
    "comprehension": """
        return torch.cat([self.up(x) + x for x in x.unbind(1)], dim=-1) * x[0, 0, 0]
    """,
    "named_comprehension": """
        rows = [
            self.up(x[:, n])
            for n in range(x.size(1))
        ]
        return torch.stack(rows, dim=1)
    """,
    "generators": """
        return torch.stack(tuple(2 * each for each in x), 1), sum(each for each in x.unbind(1))
    """,
}
FROM_TWO = (
    "looks_back",
    "two_back",
    "own_output_backwards",
    "own_list",
    "begun_in_front",
    "goes_through_a_list",
)
"""Forms that have at least two elements."""


def cells_of(step: Callable[..., Any]) -> list[Any]:
    """What a step reads of the function around it."""
    return [cell.cell_contents for cell in step.__closure__ or ()]


@pytest.fixture
def plain_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch's scan means, without its compiler, so that forms are tried in milliseconds."""

    def scan(step: Callable[..., Any], carry: Any, xs: Any) -> Any:
        count = pytree.tree_leaves(xs)[0].shape[0]
        assert all(leaf.shape[0] == count for leaf in pytree.tree_leaves(xs))
        starts = [id(leaf) for leaf in pytree.tree_leaves(carry)]
        assert len(set(starts)) == len(starts), "two carried values start as one tensor"
        assert not set(starts) & {id(cell) for cell in cells_of(step)}, "a start is read besides"
        rounds = []
        for n in range(count):
            given = pytree.tree_map(torch.clone, carry)
            before = pytree.tree_map(torch.clone, given)
            carry, outs = step(given, pytree.tree_map(lambda leaf, n=n: leaf[n], xs))
            for mine, theirs in zip(
                pytree.tree_leaves(given), pytree.tree_leaves(before), strict=True
            ):
                assert torch.equal(mine, theirs), "a step changed what it was given"
            parts = pytree.tree_leaves((carry, outs))
            assert len({id(part) for part in parts}) == len(parts), "a step gives a value twice"
            rounds.append(outs)
        if not rounds:
            _, empty = step(carry, pytree.tree_map(lambda leaf: leaf.new_zeros(leaf.shape[1:]), xs))
            return carry, pytree.tree_map(lambda leaf: leaf.new_zeros((0, *leaf.shape)), empty)
        return carry, pytree.tree_map(lambda *leaves: torch.stack(leaves), *rounds)

    importlib.import_module("torch._higher_order_ops.scan")
    monkeypatch.setattr(sys.modules["torch._higher_order_ops.scan"], "scan", scan)


def line_of_loop(text: str) -> int:
    lines = list(enumerate(text.splitlines(), 1))
    loops = [n for n, each in lines if each.strip()[:4] == "for " and each.strip()[-1] == ":"]
    return (loops or [n for n, each in lines if "for " in each])[0]


@pytest.mark.slow
@pytest.mark.usefixtures("plain_scan")
@pytest.mark.parametrize("form", FORMS)
def test_a_scan_computes_what_the_loop_does_at_every_length(form: str) -> None:
    model, text = defined(FORMS[form], f"loops_{form}")
    made = as_scan(*scannable(text, line_of_loop(text))).text
    names: dict[str, Any] = {}
    exec(compile(made, "scan.py", "exec"), names)
    other = names["Model"]()
    other.load_state_dict(model.state_dict())
    for length in (2, 3, 5) if form in FROM_TWO else (1, 2, 5):
        x = torch.rand(2, length, 3)
        theirs = x.clone()
        torch.testing.assert_close(other(x), model(theirs), rtol=0, atol=0)
        assert torch.equal(x, theirs)


def test_comments_and_layout_are_kept() -> None:
    _, text = defined(FORMS["collects"], "kept_comments")
    made = as_scan(text, line_of_loop(text)).text
    assert "            # a step\n" in made
    assert "h = torch.tanh(self.up(_x_t) + h)  # kept\n" in made


SIZED = {
    "forwards": "range(x.size(1))",
    "turned": "reversed(range(x.size(1)))",
    "counted_down": "range(x.size(1) - 1, -1, -1)",
    "by_its_length": "range(len(outs))",
}


@pytest.mark.usefixtures("plain_scan")
@pytest.mark.parametrize("form", SIZED)
def test_a_list_of_a_size_is_filled_as_one_that_grows(form: str) -> None:
    body = f"""
        h = x.new_zeros(x.size(0), 3)
        outs = [None] * x.size(1)
        for t in {SIZED[form]}:
            h = 0.5 * h + x[:, t]
            outs[t] = h  # kept
        return torch.stack(outs, 1), h
    """
    model, text = defined(body, f"sized_{form}")
    at = line_of_loop(text)
    assert scannable(text, at - 1) == scannable(text, at)
    names: dict[str, Any] = {}
    exec(compile(as_scan(*scannable(text, at)).text, "scan.py", "exec"), names)
    x = torch.rand(2, 5, 3)
    torch.testing.assert_close(names["Model"]()(x), model(x), rtol=0, atol=0)


@pytest.mark.parametrize(
    "fill",
    [
        *("outs[t] = h\nh = outs[t]", "outs[t - 1] = h", "outs[0] = h", "outs[t] += h"),
        *("outs[n - 1 - t] = h", "outs[t] = h\nouts[t] = x", "if t:\n    outs[t] = h"),
        *("if t > 2:\n    continue\nouts[t] = h", "outs[t] = h\nif t > 2:\n    break"),
    ],
)
def test_a_list_that_is_filled_otherwise_keeps_its_size(fill: str) -> None:
    head = "def f(x, h, n):\n    outs = [None] * n\n    for t in range(n):\n"
    text = f"{head}{textwrap.indent(fill, '        ')}\n    return outs\n"
    assert appended(text, 3) == (text, 3)


def test_a_list_that_is_filled_several_times_keeps_its_size() -> None:
    text = "def f(x, n):\n    outs = [None] * n\n    for k in x:\n        for t in range(n):\n"
    text += "            outs[t] = k\n    return outs\n"
    assert appended(text, 4) == (text, 4)


@pytest.mark.slow
def test_the_size_of_such_a_list_stays_dynamic() -> None:
    body = """
        h, n = x.new_zeros(x.size(0), 3), x.size(1)
        outs = [None] * n
        for t in range(n - 1, -1, -1):
            h = torch.tanh(self.up(x[:, t]) + h)
            outs[t] = h
        return torch.stack(outs, 1)
    """
    model, text = defined(body, "sized_exports")
    request = Request(target=model, args=(torch.rand(2, 4, 3),), shapes=Shapes.parse("x: b, t, _"))
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    assert f"Rewrite the loop in line {line_of_loop(text)} as a scan" in report.sentence
    x = torch.rand(3, 7, 3)
    torch.testing.assert_close(report.attempt.program.module()(x), model(x))


BACKWARDS = {
    "inserted": ("outs.insert(0, h)", "", "outs"),
    "turned": ("outs.append(h)", "outs.reverse()", "outs"),
    "sliced": ("outs.append(h)", "", "outs[::-1]"),
    "reversed": ("outs.append(h)", "", "list(reversed(outs))"),
    "inserted_and_turned": ("outs.insert(0, h)", "outs.reverse()", "outs[::-1]"),
}


@pytest.mark.usefixtures("plain_scan")
@pytest.mark.parametrize("loop", ["range(x.size(1))", "reversed(range(x.size(1)))"])
@pytest.mark.parametrize("form", BACKWARDS)
def test_a_list_that_is_filled_or_read_backwards_keeps_its_order(form: str, loop: str) -> None:
    collects, then, stacked = BACKWARDS[form]
    body = f"""
        h = x.new_zeros(x.size(0), 3)
        outs = []
        for t in {loop}:
            h = 0.5 * h + x[:, t]
            {collects}
        {then or "pass"}
        return torch.stack({stacked}, 1), h
    """
    model, text = defined(body, f"backwards_{form}")
    made = as_scan(text, line_of_loop(text)).text
    names: dict[str, Any] = {}
    exec(compile(made, "scan.py", "exec"), names)
    x = torch.rand(2, 5, 3)
    torch.testing.assert_close(names["Model"]()(x), model(x), rtol=0, atol=0)


KEPT = {
    "inserted_elsewhere": (
        "outs = []\nfor t in range(n):\n    outs.insert(t, x[:, t])\nh = torch.stack(outs)",
        "for its effect",
    ),
    "every_other_list": (
        "outs = []\nfor t in range(n):\n    outs.append(x[:, t])\nh = sum(outs[::2])",
        "stacked",
    ),
    "turned_elsewhere": (
        "outs = []\nfor t in range(n):\n    outs.append(h)\nif n:\n    outs.reverse()\nh = outs",
        "stacked",
    ),
    "leaves": ("for t in range(n):\n    if t > 3:\n        break\n    h = h + x[:, t]", "break"),
    "effect": ("for t in range(n):\n    print(t)\n    h = h + x[:, t]", "for its effect"),
    "prefix": ("for t in range(n):\n    h = h + x[:, :t].sum()", "in another way"),
    "wraps": ("for t in range(n):\n    h = h + x[:, t - 1]", "before its first"),
    "steps": ("for t in range(0, n, 2):\n    h = h + x[:, t]", "in steps"),
    "feeds_back": (
        "for t in range(n):\n    y[:, t] = y[:, t - 1] + x[:, t]\nh = y",
        "is read while",
    ),
    "attribute": ("for t in range(n):\n    self.h = x[:, t]\n    h = h + self.h", "writes to"),
    "returned_list": (
        "outs = []\nfor t in range(n):\n    outs.append(x[:, t])\nh = outs",
        "stacked",
    ),
    "begun_elsewhere": (
        "outs = []\nif n:\n    outs.append(h)\nfor t in range(n):\n    outs.append(h)\n"
        "h = torch.stack(outs)",
        "empty",
    ),
    "grown_again": (
        "outs = []\nfor t in range(n):\n    outs.append(h)\nfor t in range(n):\n"
        "    outs.append(x[:, t])\nh = torch.stack(outs)",
        "stacked",
    ),
    "argument": ("for t in range(n):\n    x[:, 0] += 1\n    h = h + x[:, 1]", "argument `x`"),
    "index_later": ("for t in range(n):\n    h = h + x[:, t]\nh = h + t", "own variable"),
    "changing": ("for t in range(n):\n    y = y + 1\n    h = h + y[:, t]", "changes in the loop"),
}


@pytest.mark.parametrize(
    "expression",
    [
        "torch.stack([row for row in x if row.sum() > 0])",
        "torch.stack([row for part in x for row in part])",
        "torch.stack([self.up(row) for row in x]) if n else x",
        "max(row.sum() for row in x)",
        "torch.stack([(y := row) for row in x])",
    ],
)
def test_a_comprehension_that_is_not_one_plain_loop_is_kept(expression: str) -> None:
    text = f"import torch\ndef f(self, x, n):\n    return {expression}\n"
    with pytest.raises(Unclear):
        as_scan(*scannable(text, 3))


@pytest.mark.parametrize(
    "body",
    [
        "y[:, t] = y[:, : t].sum(1) + x[:, t]",
        "y[:, t] = y[:, t + 1] + x[:, t]",
        "y[:, t] = x[:, t]\nh = y[:, t - 1]",
        "y[:, t] = y.sum(1)",
        "y[t, 0] = y[t - 1, 1]",
        "h = y[:, t]\ny[:, t] = h",
    ],
)
def test_a_loop_that_reads_more_than_its_last_outputs_is_kept(body: str) -> None:
    text = "import torch\ndef f(self, x, n):\n    y = x * 2\n    for t in range(n):\n"
    text += textwrap.indent(body, " " * 8) + "\n    return y\n"
    with pytest.raises(Unclear):
        as_scan(*scannable(text, 4))


@pytest.mark.parametrize("case", KEPT)
def test_a_loop_whose_iterations_cannot_be_told_apart_is_kept(case: str) -> None:
    body, reason = KEPT[case]
    text = "import torch\ndef f(self, x, n):\n    h = x[:, 0]\n    y = x * 2\n"
    text += textwrap.indent(body, "    ") + "\n    return h\n"
    with pytest.raises(Unclear, match=reason):
        as_scan(text, line_of_loop(text))


@pytest.mark.slow
def test_a_recurrent_loop_exports_with_its_length_dynamic() -> None:
    model, _ = defined(FORMS["collects"], "exports_loop")
    request = Request(target=model, args=(torch.rand(2, 4, 3),), shapes=Shapes.parse("x: b, t, _"))
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    (step,) = report.kept
    assert "as a scan" in step.fix.title
    assert "rejects a length of 0" in step.fix.gives_up
    assert "On the example the program took" in step.fix.why
    program = report.attempt.program.module()
    for length in (1, 9):
        x = torch.rand(3, length, 3)
        torch.testing.assert_close(program(x), model(x))


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_weight_that_an_iteration_reads_both_ways_round_is_no_alias(strict: bool) -> None:
    model, _ = defined(FORMS["reads_a_weight_both_ways_round"], "both_ways_round")
    shapes = Shapes.parse("x: batch, time, _")
    request = Request(target=model, args=(torch.rand(2, 5, 3),), shapes=shapes, strict=strict)
    attempt = autofix(request).attempt
    assert isinstance(attempt, Exported)
    x = torch.rand(3, 8, 3)
    torch.testing.assert_close(attempt.program.module()(x), model(x))


NEIGHBOURS = """
n, area = x.shape[0], 0.0
for i in range(n):
    j = (i + 1) % n
    area = area + x[i, 0] * x[j, 1] - x[j, 0] * x[i, 1]
return area.abs() / 2
"""


@needs_numbers
@pytest.mark.slow
def test_rows_at_computed_positions_are_indexed_by_tensors_in_a_scan() -> None:
    model, _ = defined(NEIGHBOURS, "neighbours")
    request = Request(target=model, args=(torch.rand(5, 2),), shapes=Shapes.parse("x: n, _"))
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    program = report.attempt.program.module()
    for points in (torch.rand(3, 2), torch.rand(9, 2)):
        torch.testing.assert_close(program(points), model(points))


def test_a_loop_of_a_length_from_data_is_kept_and_says_why() -> None:
    body = "n, ys = x.sum().int().item(), []\nfor _ in range(n):\n    ys.append(x)\nreturn ys"
    model, _ = defined(body, "data_loop")
    report = autofix(Request(target=model, args=(torch.ones(2, 2),)))
    assert isinstance(report.attempt, Failed)
    assert any("whether the length is 0" in reason for reason in report.attempt.refusals)


@pytest.mark.slow
def test_a_loop_that_is_kept_says_why() -> None:
    body = "y = x * 1\nfor t in range(1, x.size(0)):\n    y[t] = y[:t].sum(0) + x[t]\nreturn y"
    model, _ = defined(body, "kept_loop")
    report = autofix(
        Request(target=model, args=(torch.rand(4, 3),), shapes=Shapes.parse("x: t, _"))
    )
    assert isinstance(report.attempt, Failed)
    assert any("The loop in line" in reason for reason in report.attempt.refusals)


@pytest.mark.slow
def test_a_scan_that_collects_integers_is_exported_without_gradients() -> None:
    body = """
        h, outs = torch.zeros(x.size(0), 3), []
        for t in range(x.size(1)):
            h = torch.tanh(self.up(x[:, t]) + h)
            outs.append(h.argmax(-1))
        return torch.stack(outs, 1)
    """
    model, _ = defined(body, "integers_loop")
    request = Request(target=model, args=(torch.rand(2, 4, 3),), shapes=Shapes.parse("x: b, t, _"))
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    assert "inside `torch.no_grad()`" in report.kept[0].fix.gives_up
    x = torch.rand(3, 6, 3)
    with torch.no_grad():
        assert torch.equal(report.attempt.program.module()(x), model(x))
        again = autofix(request)
    assert "inside `torch.no_grad()`" not in again.kept[0].fix.gives_up
