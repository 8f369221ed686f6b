"""Under Dims, what a ShapesSpec could assume: offered where torch has it, tried, and verified."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Fix, Request
from export_engine.capture import capture
from export_engine.fixes import apply_fixes, explain
from export_engine.shapes import Shapes
from export_engine.torch_internals import missing_shapes_spec

from ..fixes.cases.shapes_spec_fix import Divided, Four, Related

SPEC = not missing_shapes_spec()


def failed(module: nn.Module, args: tuple[torch.Tensor, ...], shapes: str) -> Failed:
    attempt = capture(Request(target=module, args=args, shapes=Shapes.parse(shapes)))
    assert isinstance(attempt, Failed)
    return explain(attempt)


def assumed(attempt: Failed) -> list[Fix]:
    return [fix for fix in attempt.fixes if fix.title.endswith("with a ShapesSpec")]


@pytest.mark.slow
def test_a_divisor_is_offered_as_an_assumption_beside_the_derived_dim() -> None:
    attempt = failed(Divided(), (torch.randn(4, 32),), "x: batch, seq[..512]")
    assert attempt.fixes[0].after == "x: batch, 16*_seq[2..32]"
    found = assumed(attempt)
    assert len(found) == SPEC
    for fix in found:
        assert fix.after == "x: batch, seq[..512]; seq % 16 == 0"
        assert fix.title == "Assume seq % 16 == 0 with a ShapesSpec"
        assert not fix.lossy
        exported = apply_fixes(attempt, [fix])
        assert isinstance(exported, Exported)
        assert exported.agreement is not None
        assert exported.agreement.verdict == "agrees"
        run = exported.program.module()
        for seq in (
            16,
            512,
        ):  # 16 the derived Dim does not take: torch specializes on seq // 16 = 1
            x = torch.randn(3, seq)
            torch.testing.assert_close(run(x), Divided()(x))
        for seq in (24, 528):
            with pytest.raises((RuntimeError, AssertionError)):
                run(torch.randn(3, seq))


@pytest.mark.slow
def test_a_relation_of_sizes_is_lossless_where_a_dim_would_be_frozen() -> None:
    args = (torch.randn(8, 2), torch.randn(2, 2))
    attempt = failed(Related(), args, "x: a, _; y: b, _")
    # A rewrite that keeps both ways of the branch accepts more sizes, and comes first.
    rewrite, *others = attempt.fixes
    assert (rewrite.kind, rewrite.lossy) == ("code", False)
    for fix in assumed(attempt):
        assert not fix.lossy
        assert fix in others
        shapes = Shapes.parse(fix.after)
        assert [str(each) for each in shapes.assumptions][:2] == ["(a*b) % 4 == 0", "a + b <= 100"]
        exported = apply_fixes(attempt, [fix])
        assert isinstance(exported, Exported)
        assert exported.agreement is not None
        assert exported.agreement.verdict == "agrees"


@pytest.mark.slow
def test_one_size_alone_is_no_assumption() -> None:
    assert not assumed(failed(Four(), (torch.randn(4, 2),), "x: a, _"))
