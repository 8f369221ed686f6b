"""Failures under a ShapesSpec: questions about unbacked sizes, told at their line and cured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from explorer import explore
from export_engine.attempt import Exported, Failed, Fix, Kind, Request
from export_engine.capture import capture
from export_engine.fixes import apply_fixes, autofix, explain
from export_engine.shapes import Shapes, ShapesError
from export_engine.torch_internals import missing_shapes_spec
from export_engine.traced_sizes import assuming
from tests.engine.test_plain_relations import relation

needs_spec = pytest.mark.skipif(
    bool(missing_shapes_spec()), reason="torch exports a ShapesSpec from 2.14 on"
)


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 2:  # asked
            return x.sum(0)
        return x.sum(0) + 1


class Quicker(nn.Module):
    """Its quick way gives what the other does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x
        if x.shape[1] == 1:  # asked
            y = y.squeeze(1).unsqueeze(1)
        return y * 2


class Divided(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, seq = x.shape
        if seq % 16 != 0:  # asked
            raise ValueError("a multiple of 16 is needed")
        return x.view(batch, 16, seq // 16).sum(1)


class Steps(nn.Module):
    """As language models find packed sequences; torch.diff asks about a min of sizes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.diff(x, prepend=x[:, :1] - 1, dim=-1)  # asked


class Padded(nn.Module):
    """Pads to a multiple, where nothing is missing by nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        missing = (8 - x.shape[1] % 8) % 8
        if missing:  # asked
            x = nn.functional.pad(x, (0, missing))
        return x.view(x.shape[0], -1, 8).sum(1)


class Whole(nn.Module):
    """Asks of a size that is made a multiple what no multiple is."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        missing = (8 - x.shape[0] % 8) % 8
        rows = x.shape[0] + missing
        padded = nn.functional.pad(x, (0, 0, 0, missing))
        if rows == 1:  # asked
            return padded
        return padded.view(rows // 8, 8, 4).sum(0)


class Unrolled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = x[0]
        for row in range(x.shape[0]):  # asked
            total = total + x[row]
            self.last = row
        return total


class Recurrent(nn.Module):
    """A loop over a size, with a state."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.RNNCell(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = torch.zeros(x.shape[0], 4)
        states = []
        for at in range(x.shape[1]):  # asked
            state = self.cell(x[:, at], state)
            states.append(state)
        return torch.stack(states, 1)


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rnn(x)[0]  # asked


class Chained(nn.Module):
    """Asks one thing after the other."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, n: int) -> torch.Tensor:
        if x.shape[0] + y.shape[0] > 100:  # asked
            return x.sum() + y.sum()
        if n > 3:
            return x.sum() * n
        return x.sum() if y.shape[0] >= 4 else y.sum()


class Case(NamedTuple):
    module: Callable[[], nn.Module]
    args: tuple[Any, ...]
    shapes: str
    sentence: str
    assumed: str
    """The shapes of the fix that assumes the answer."""
    narrows: bool = True
    """Whether the model takes sizes that the assumption excludes."""


def t(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes)


CASES = {
    "branch": Case(
        Branch, (t(5, 3),), "x: batch, _; unbacked",
        "This `if` needs to know whether `batch > 2`, and `batch` is unbacked",
        "x: batch[3..], _; unbacked",
    ),
    "quick way": Case(
        Quicker, (t(5, 3),), "x: batch, c; unbacked",
        "This `if` needs to know whether `c == 1`, and `c` is unbacked",
        "x: batch, c; c != 1",
    ),
    "divisor": Case(
        Divided, (t(5, 32),), "x: batch, seq; unbacked",
        "This `if` needs to know whether `seq % 16 != 0`, and `seq` is unbacked",
        "x: batch, seq; seq % 16 == 0", narrows=False,
    ),
    "padding": Case(
        Padded, (t(5, 30),), "x: batch, seq; unbacked",
        "This `if` needs to know whether `seq % 8 != 0`, and `seq` is unbacked",
        "x: batch, seq; (8 - seq % 8) % 8 != 0",
    ),
    "no multiple": Case(
        Whole, (t(16, 4),), "x: seq, _; unbacked",
        "This `if` needs to know whether `seq + (8 - seq % 8) % 8 == 1`, and `seq` is",
        "x: seq, _; seq + (8 - seq % 8) % 8 != 1", narrows=False,
    ),
    "least of two": Case(
        Steps, (t(4, 6),), "x: batch, seq; unbacked",
        "`torch.diff(x, prepend=x[:, :1] - 1, dim=-1)` needs to know whether `1 > seq + min(1",
        "x: batch, seq[1..]; unbacked", narrows=False,
    ),
    "one after the other": Case(
        Chained, (t(5, 3), t(4, 3), 2), "x: a, _; y: b, _; n: int",
        "This `if` needs to know whether `a + b > 100`, and `a` and `b` are",
        "x: a, _; y: b[4..], _; n: int[..3]; a + b <= 100",
    ),
}  # fmt: skip


def failed(case: Case, strict: bool = False) -> Failed:
    shapes = Shapes.parse(case.shapes)
    attempt = capture(
        Request(target=case.module(), args=case.args, dynamic_shapes=shapes, strict=strict)
    )
    assert isinstance(attempt, Failed)
    return explain(attempt)


@needs_spec
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_question_about_an_unbacked_size_is_told_and_cured(name: str, strict: bool) -> None:
    case = CASES[name]
    attempt = failed(case, strict)
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.UNBACKED_SIZE
    assert attempt.diagnosis.sentence.startswith(case.sentence)
    assert _line(attempt).endswith("# asked")
    cures = [fix for fix in attempt.fixes if not fix.lossy]
    assert cures
    assert all(_agrees(attempt, fix) for fix in cures)
    assumption = next((fix for fix in cures if fix.title.startswith("Assume")), None)
    if assumption is None:  # a rewrite accepts more sizes, and nothing else is tried
        assert [fix.kind for fix in cures] == ["code"]
        return
    assert assumption.after == case.assumed
    assert assumption.narrows == case.narrows
    assert bool(assumption.gives_up) == (name != "no multiple")
    assert "-1" not in assumption.title


@needs_spec
@pytest.mark.slow
def test_a_way_that_differs_is_never_called_lossless() -> None:
    attempt = failed(CASES["branch"])
    lossless = [fix for fix in attempt.fixes if not fix.lossy]
    assert lossless
    assert all(_agrees(attempt, fix) for fix in lossless)


@needs_spec
@pytest.mark.slow
def test_a_loop_over_an_unbacked_size_can_only_keep_it() -> None:
    attempt = failed(Case(Unrolled, (t(5, 3),), "x: n, m; unbacked", "", ""))
    assert attempt.diagnosis is not None
    assert "the loop over `range(x.shape[0])` depends on `n`" in attempt.diagnosis.sentence
    assert _line(attempt).endswith("# asked")
    (fix,) = attempt.fixes
    assert (fix.title, fix.lossy, fix.after) == (
        "Keep n at the size of the example", True, "x: _, m; unbacked"
    )  # fmt: skip
    assert _agrees(attempt, fix)


@needs_spec
@pytest.mark.slow
def test_fix_makes_a_program_that_is_right_at_other_sizes() -> None:
    case = CASES["one after the other"]
    request = Request(target=Chained(), args=case.args, shapes=Shapes.parse(case.shapes))
    report = autofix(request)
    assert isinstance(report.attempt, Exported)
    run = report.attempt.program.module()
    for args in ((t(90, 3), t(4, 3), -1), (t(1, 3), t(9, 3), 3)):
        torch.testing.assert_close(run(*args), Chained()(*args))
    for refused in ((t(97, 3), t(4, 3), 2), (t(5, 3), t(3, 3), 2), (t(5, 3), t(4, 3), 4)):
        with pytest.raises((RuntimeError, AssertionError)):
            run(*refused)


def _line(attempt: Failed) -> str:
    assert attempt.diagnosis is not None
    place = attempt.diagnosis.stack[-1]
    return Path(place.file).read_text(encoding="utf-8").splitlines()[place.line - 1]


def _agrees(attempt: Failed, fix: Fix) -> bool:
    found = apply_fixes(attempt, [fix])
    return (
        isinstance(found, Exported)
        and found.agreement is not None
        and found.agreement.verdict == "agrees"
    )


ASSUMED = {
    "a > 1": "x: a[2..], b; unbacked",
    "2*a + 1 < 9": "x: a[..3], b; unbacked",
    "2*a < 9": "x: a[..4], b; unbacked",
    "9 >= a": "x: a[..9], b; unbacked",
    "3 - a <= 0": "x: a[3..], b; unbacked",
    "32*a != 0": "x: a[1..], b; unbacked",
    "2*a != 3": "x: a, b; unbacked",
    "a != 1": "x: a, b; a != 1",
    "a % 16 == 0": "x: a, b; a % 16 == 0",
    "a + b <= 9": "x: a, b; a + b <= 9",
    "a == b": "x: a, b; a == b",
    "a + min(1, a) >= 1": "x: a[1..], b; unbacked",
    "max(a, 3) <= 9": "x: a[..9], b; unbacked",
    "a // 2 >= 3": "x: a[6..], b; unbacked",
    "min(a, b) >= 1": "x: a, b; min(a, b) >= 1",
    "min(a, 4) != 4": "x: a[..3], b; unbacked",
    "a % 3 * a >= 7": "x: a, b; (a % 3)*a >= 7",
    "a + (8 - a % 8) % 8 != 1": "x: a, b; a + (8 - a % 8) % 8 != 1",
}


@pytest.mark.parametrize("text", ASSUMED)
def test_an_assumption_is_a_bound_where_it_says_one(text: str) -> None:
    shapes = Shapes.parse("x: a, b; unbacked")
    assert str(assuming(shapes, relation(text))) == ASSUMED[text]


@pytest.mark.parametrize("text", ["a + (8 - a % 8) % 8 != 1", "a + min(1, a) >= 2"])
def test_what_every_size_fulfils_is_assumed_once(text: str) -> None:
    """The bounds say it already, and yet torch asks."""
    shapes = Shapes.parse("x: a[1..], b; unbacked")
    once = assuming(shapes, relation(text))
    assert str(once) == f"x: a[1..], b; {text}"
    assert assuming(once, relation(text)) == once


def test_an_excluded_size_at_an_end_of_the_bounds_is_a_bound() -> None:
    shapes = Shapes.parse("x: a, b; unbacked")
    for text in ("a != 1", "a != 7", "a != 0", "a < 8"):
        shapes = assuming(shapes, relation(text))
    assert str(shapes) == "x: a[2..6], b; unbacked"


@pytest.mark.parametrize("text", ["a == 4", "a < 1", "a <= 0"])
def test_no_size_is_left_without_a_choice(text: str) -> None:
    with pytest.raises(ShapesError):
        assuming(Shapes.parse("x: a, b; unbacked"), relation(text))


@needs_spec
@pytest.mark.slow
@pytest.mark.parametrize("module", [Recurrent, Layers])
def test_a_loop_over_an_unbacked_size_becomes_a_scan(module: type[nn.Module]) -> None:
    shapes = Shapes.parse("x: batch, seq, _; unbacked")
    report = autofix(Request(target=module().eval(), args=(t(2, 5, 3),), dynamic_shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    (step,) = report.steps
    assert "scan" in step.fix.title
    assert step.fix.title.endswith((", and assume seq >= 1", ", and export in strict mode"))
    assert step.fix.gives_up.count("..") == 0
    assert not step.fix.lossy
    program = report.attempt.program.module()
    for batch, seq in ((1, 1), (3, 9)):
        x = t(batch, seq, 3)
        torch.testing.assert_close(program(x), report.attempt.request.target(x))


class Sums(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(1)


@needs_spec
@pytest.mark.slow
@pytest.mark.parametrize(
    ("shapes", "asserted"),
    [("x: a, b; b % 5 == 0", "b % 5 == 0"), ("x: a[5..], _; unbacked", "x.shape[0] >= 5")],
)
def test_an_example_that_the_shapes_exclude_is_said(shapes: str, asserted: str) -> None:
    ex = explore(Sums(), (t(4, 6),), dynamic_shapes=shapes)
    (finding,) = (each for each in ex.findings if "rejects the example" in each.sentence)
    assert finding.kind.name == "HIDDEN_CONDITION"
    verified = ex.verify()
    unchecked = [each for each in verified.guarantees if each.verdict == "not checked"]
    assert {each.name for each in unchecked} >= {"saved", "unflattened", "decomposed"}
    for each in unchecked:
        assert each.sentence.endswith(f"on the example, which the program rejects: {asserted}.")
        assert not each.report


@needs_spec
@pytest.mark.slow
def test_functions_on_sizes_write_to_nothing() -> None:
    ex = explore(Sums(), (t(4, 6),), dynamic_shapes="x: a, b; max(a, b) < 64; a != b")
    assert not [each for each in ex.findings if "rejects the example" in each.sentence]
    verdicts = {each.name: each.verdict for each in ex.verify().guarantees}
    assert verdicts["functional"] == verdicts["sound"] == verdicts["re-exported"] == "holds"


class Masked(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return x @ x.transpose(1, 2) + mask


@needs_spec
@pytest.mark.slow
def test_sizes_with_the_same_name_are_asserted_saved_and_exported_again() -> None:
    shapes = "x: batch, seq[..64], _; mask: seq, seq; seq % 4 == 0"
    ex = explore(Masked(), (t(2, 8, 8), t(8, 8)), dynamic_shapes=shapes)
    verified = {each.name: each for each in ex.verify().guarantees}
    assert not [each for each in verified.values() if each.verdict == "broken"]
    assert verified["checks"].sentence == "All 4 conditions on values are asserted."


@needs_spec
def test_a_torch_spec_that_does_not_fit_says_what_the_inputs_are() -> None:
    from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapeVar, TensorSpec

    spec = ParamsSpec({"x": TensorSpec([ShapeVar("b")])})
    ex = explore(Sums(), (t(2, 6),), dynamic_shapes=spec)
    assert not ex.ok
    said = " ".join(str(ex).split())
    assert "x has 2 dims, [2, 6], but the spec has 1" in said
    assert "With all sizes static, the inputs are `x: _, _`" in said
