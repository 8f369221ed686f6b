"""Calls with nested tensors, of which torch makes programs that cannot be called, or none."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.diagnose import diagnose
from export_engine.fixes import autofix


def rows(layout: torch.layout) -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(3, 4), torch.ones(2, 4)], layout=layout)


@pytest.mark.after_check
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
def test_a_nested_input_is_named_where_it_cannot_be_traced(layout: torch.layout) -> None:
    attempt = capture(Request(target=nn.Linear(4, 4), args=(rows(layout),)))
    assert isinstance(attempt, Failed)
    assert "`input` is a nested tensor" in diagnose(attempt).sentence


@pytest.mark.after_check
def test_a_program_that_no_module_can_be_made_of_is_shown_and_is_no_fix() -> None:
    request = Request(target=nn.Linear(4, 4), args=(rows(torch.jagged),))
    attempt = capture(request.with_changes(strict=True))
    assert isinstance(attempt, Exported)
    assert describe(attempt).signature.inputs[-1].path == "input"
    report = autofix(request)
    assert not report.kept
    (fix,) = report.attempt.fixes if isinstance(report.attempt, Failed) else ()
    assert fix.lossy
    assert isinstance(fix.leads_to, Exported)
    assert fix.leads_to.agreement is not None
    assert "torch cannot make a module from it" in fix.leads_to.agreement.reason
