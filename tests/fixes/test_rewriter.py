"""The rewriter of control flow: what it writes, and that it answers as eager does."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.code.try_edit import try_without_gradients
from export_engine.fixes.rewrite.form import NotStaged
from export_engine.fixes.rewrite.rewriting import Rewritten, rewrite
from export_engine.shapes import Shapes

from .compositions import Composer
from .control_flow import FUNCTIONS
from .modules import define

GOLDEN = Path(__file__).parent / "golden"
SIZES = [(3, 5), (1, 1), (2, 1), (4, 7), (1, 3), (5, 2), (3, 0), (0, 5)]
SCALES = (0.2, 1, 3)


def request_of(source: str, name: str, *, strict: bool = False) -> tuple[Request, str, str, int]:
    """A request for a model with this `forward`, its file, text, and a line of the function."""
    model, file, text = define(source, name)
    line = text.split("\n").index("    def forward(self, x):") + 2
    torch.manual_seed(1)
    shapes = Shapes.parse("x: batch, time, _")
    request = Request(
        target=model, args=(torch.randn(3, 5, 4),), dynamic_shapes=shapes, strict=strict
    )
    return request, file, text, line


def rewritten(source: str, name: str) -> tuple[Request, Rewritten]:
    request, file, text, line = request_of(source, name)
    return request, rewrite(request, file, text, line)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_rewrite_reads_as_a_maintainer_would_write_it(name: str) -> None:
    """Read each new golden file: it is what a user is offered to paste."""
    _, made = rewritten(FUNCTIONS[name], name)
    golden = GOLDEN / f"{name}.diff"

    assert made.edit.diff("model.py") == golden.read_text(encoding="utf-8")


def differences(model: Any, program: Any) -> list[str]:
    """Where a program answers otherwise than the model, on sizes and values never traced."""
    found = []
    for seed, ((batch, time), scale) in enumerate(itertools.product(SIZES, SCALES)):
        torch.manual_seed(seed)
        x = torch.randn(batch, time, 4) * scale
        try:
            expected = model(x)
        except (RuntimeError, IndexError):
            continue
        try:
            with torch.no_grad():
                result = program(x)
        except (RuntimeError, IndexError, AssertionError) as error:
            if batch and time:
                found.append(f"rejects {batch} × {time}: {error}")
            continue
        close = result.shape == expected.shape and torch.allclose(
            result, expected, rtol=1e-4, atol=1e-4, equal_nan=True
        )
        if not close:
            found.append(f"differs at {batch} × {time}")
    return found


def find_end(seed: int, depth: int) -> str:
    """How a random function ends: `cured`, `left`, `nothing to rewrite`, or where it is wrong."""
    source = Composer(seed, depth).write()
    try:
        request, made = rewritten(source, f"composition_{depth}_{seed}")
    except NotStaged:
        return "nothing to rewrite"
    except CannotRewrite:
        return "left"
    attempt, _ = try_without_gradients(request, made.edit)
    if not isinstance(attempt, Exported):
        return "left"
    wrong = differences(request.target, attempt.program.module())
    return f"{wrong} in:\n{source}" if wrong else "cured"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_compositions_answer_as_eager_does(seed: int) -> None:
    assert find_end(seed, 2) == "cured"


@pytest.mark.thorough
def test_nine_of_ten_compositions_are_cured_and_none_is_wrong() -> None:
    ends = Counter(find_end(seed, depth) for seed in range(100, 150) for depth in (2, 3))

    asked = 100 - ends.pop("nothing to rewrite", 0)
    cured, left = ends.pop("cured"), ends.pop("left", 0)
    assert not ends
    assert cured >= 0.9 * asked, f"{cured} of {asked} cured, {left} left"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "strict"),
    [
        ("tensor_and_float", True),
        ("named_test", False),
        ("early_return_in_size_branch", False),
        ("collected_on_either_way", False),
    ],
)
def test_what_the_catalogue_left_is_cured_whole(name: str, strict: bool) -> None:
    request, *_ = request_of(FUNCTIONS[name], f"cured_{name}_{strict}", strict=strict)
    report = autofix(request)

    assert isinstance(report.attempt, Exported)
    assert report.attempt.agreement is not None
    assert report.attempt.agreement.verdict == "agrees"
    assert not any(step.fix.narrows for step in report.kept)
    assert not differences(request.target, report.attempt.program.module())


REFUSED = {
    "a row that is written is part of a tensor that is read": """
        def forward(self, x):
            y = x * 2
            for row in y:
                row *= 2
            return y
    """,
    "an input is written": """
        def forward(self, x):
            if x.sum() > 0:
                x += 1
            return x
    """,
    "an attribute is written": """
        def forward(self, x):
            if x.sum() > 0:
                self.k = 3.0
            return x * self.k
    """,
}


@pytest.mark.parametrize("why", REFUSED)
def test_an_effect_that_another_name_sees_is_refused(why: str) -> None:
    with pytest.raises(CannotRewrite):
        rewritten(REFUSED[why], "refused_" + "_".join(why.split()))


def test_comments_and_untouched_statements_stay_as_they_are() -> None:
    source = """
        def forward(self, x):
            # scaled   by two
            y = (x
                 * 2)   # here
            if x.sum() > 0:
                y = y + 1
            return  y
    """
    _, made = rewritten(source, "kept_text")

    assert (
        "        # scaled   by two\n        y = (x\n             * 2)   # here\n" in made.edit.after
    )
