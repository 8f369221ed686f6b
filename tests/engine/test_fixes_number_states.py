"""Plain numbers that a branch on data changes, as tensors: counters, flags, states of a loop."""

from __future__ import annotations

import textwrap

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.branches.number_states import numbers_as_tensors
from export_engine.fixes.code.editing.conditions import Unclear

from .test_fixes_code import defined
from .test_fixes_loops_on_data import line_of

FORMS = {
    "longest_run": """
        best, run = 0, 0
        for v in x[:, 0]:
            if v > 0:  # which
                run += 1
                best = max(best, run)
            else:
                run = 0
        return torch.tensor(best)
    """,
    "triggered": """
        on = False
        out = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            if x[i, 0] > 0.6 and not on:  # which
                on = True
            if x[i, 0] < 0.3 and on:
                on = False
            if on:
                out[i] = 1
        return out
    """,
    "hold": """
        active, hold = False, 0
        out = []
        for v in x:
            if v.sum() > 1:  # which
                active = True
                hold = 2
            elif active:
                hold -= 1
                if hold <= 0:
                    active = False
            out.append(v * 2 if active else -v)
        return torch.stack(out)
    """,
    "returned": """
        n, at = 0, -1
        for i in range(x.shape[0]):
            if x[i].sum() <= 0:  # which
                continue
            n = n + 1
            at = i
            if n > 2:
                at = 100
        return x * 2, n, at
    """,
    "written": """
        n, last = 0, 0
        out = torch.zeros(x.shape[0], dtype=torch.long)
        for i in range(x.shape[0]):
            s = x[i].sum().long().item()
            if s != last and s != 0:  # which
                out[n] = s
                n += 1
            last = s
        return out
    """,
    "indexed": """
        k = 0
        if x.sum() > 0:  # which
            k = 2
        if x[0, 0] > 0:
            k = min(k + 1, 2)
        return x[k]
    """,
    "several": """
        depth, most = 0, -1
        for t in x[:, 1]:
            if t > 0.5:  # which
                depth += 1
            elif t < -0.5:
                depth = max(depth - 1, 0)
            most = max(most, depth)
        return torch.tensor([depth, most], dtype=torch.float32)
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_numbers_that_data_change_are_computed_at_run_time(form: str, strict: bool) -> None:
    if form == "written" and torch.__version__.startswith("2.15."):
        pytest.skip("torch 2.15 loses track of an index from data within torch.cond")
    model, _ = defined(FORMS[form], f"states_{form}")
    report = autofix(Request(target=model, args=(torch.randn(5, 3),), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    program = report.attempt.program.module()
    for seed in range(12):
        torch.manual_seed(seed)
        x = torch.randn(5, 3) * (1 + seed % 3)
        expected = model(x)
        torch.testing.assert_close(program(x), expected, msg=lambda said: f"{form}: {said}")


def made(body: str) -> str:
    text = "import torch\ndef f(self, x):\n" + textwrap.indent(body, " " * 4) + "\n"
    return numbers_as_tensors(text, line_of(text, "# which"))[0].text


@pytest.mark.parametrize("form", [each for each in FORMS if each != "returned"])
def test_what_changes_them_computes_the_same_in_eager(form: str) -> None:
    model, text = defined(FORMS[form], f"states_in_eager_{form}")
    first, line = numbers_as_tensors(text, line_of(text, "# which"))
    assert first.text.splitlines()[line - 1].endswith("# which")
    other: dict[str, type[torch.nn.Module]] = {}
    exec(first.text, other)
    theirs = other["Model"]()
    for seed in range(8):
        torch.manual_seed(seed)
        x = torch.randn(5, 3)
        torch.testing.assert_close(theirs(x), model(x))


KEPT = {
    "float": ("s = 0.5\nif x.sum() > 0:  # which\n    s = 1.5\nreturn x * s", "no plain number"),
    "divided": ("n = 0\nif x.sum() > 0:  # which\n    n = n / 2\nreturn x * n", "more than an int"),
    "grown": ("n = 0\nif x.sum() > 0:  # which\n    n += 0.5\nreturn x * n", "more than an int"),
    "called": ("n = 0\nif x.sum() > 0:  # which\n    n = x.max()\nreturn x", "more than an int"),
    "pairs": ("n = 0\nif x.sum() > 0:  # which\n    n, x = 1, x + 1\nreturn x", "several names"),
    "given": ("n = self.n\nif x.sum() > 0:  # which\n    n += 1\nreturn x", "no plain number"),
    "counted": (
        "n = 0\nfor n in range(3):\n    x = x + n\nif x.sum() > 0:  # which\n    n += 1\nreturn n",
        "no plain number",
    ),
    "tensor": ("y = x\nif x.sum() > 0:  # which\n    y = x + 1\nreturn y", "no plain number"),
    "elif": (
        "n = 0\nif self.n:\n    n = 2\nelif x.sum() > 0:  # which\n    n = 1\nreturn n",
        "`elif`",
    ),
    "beside": (
        "n = 0\nif x.sum() > 0:  # which\n    n = 1\nreturn torch.tensor([n, 2])",
        "other values",
    ),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_may_be_more_than_ints_and_bools_is_kept(case: str) -> None:
    body, reason = KEPT[case]
    with pytest.raises(Unclear, match=reason):
        made(body)


def test_a_number_that_ends_a_loop_stays_one() -> None:
    text = made(
        "i, n = 0, 0\nwhile i < 4:\n    if x[i] > 0:  # which\n        n += 1\n    i += 1\nreturn n"
    )
    assert "n = torch.tensor(0)" in text
    assert "i = torch.tensor" not in text
    assert "return n.item()" in text
