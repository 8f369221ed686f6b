"""Weights named like what a GraphModule has itself: the program exports, and cannot be called."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx import GraphModule

from export_engine.attempt import Exported, Kind, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.fixes import autofix
from export_engine.torch_internals.graph_module_names import OWN_NAMES
from export_engine.verify import verify


class Holds(nn.Module):
    """Adds a buffer of a name, its own or a submodule's."""

    def __init__(self, name: str, inside: bool = False) -> None:
        super().__init__()
        self.owner = nn.Module() if inside else None
        (self.owner or self).register_buffer(name, torch.arange(3.0))
        self.name = name

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + getattr(self.owner or self, self.name)


def test_the_names_are_all_that_a_graph_module_has_and_a_module_has_not() -> None:
    public = {name for name in dir(GraphModule) if not name.startswith("_")} - {*dir(nn.Module)}
    assert public <= OWN_NAMES


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(OWN_NAMES))
def test_a_program_whose_buffer_has_such_a_name_says_that_it_cannot_be_called(name: str) -> None:
    attempt = capture(Request(target=Holds(name), args=(torch.ones(3),)))
    assert isinstance(attempt, Exported)
    (finding,) = [each for each in describe(attempt).findings if each.code == Kind.NAME_TAKEN.code]
    assert f"its buffer `{name}`" in finding.sentence
    with pytest.raises(Exception, match=r"."):  # if torch learns to, the name comes off the list
        attempt.program.module()(torch.ones(3))


@pytest.mark.after_check
def test_it_is_said_in_place_of_torchs_error_and_inside_a_submodule_the_name_is_free() -> None:
    report = autofix(Request(target=Holds("code"), args=(torch.ones(3),)))
    assert "Not compared with eager: the program cannot be called: `code` is a name" in (
        report.sentence
    )
    inner = autofix(Request(target=Holds("code", inside=True), args=(torch.ones(3),))).attempt
    assert isinstance(inner, Exported)
    assert inner.agreement is not None
    assert inner.agreement.verdict == "agrees"
    assert Kind.NAME_TAKEN.code not in {each.code for each in describe(inner).findings}


@pytest.mark.slow
def test_verify_says_it_once_and_takes_it_for_no_defect_of_its_own() -> None:
    attempt = capture(Request(target=Holds("code"), args=(torch.ones(3),)))
    assert isinstance(attempt, Exported)
    found = {each.name: each for each in verify(attempt, describe(attempt)).guarantees}
    assert found["sound"].verdict == "broken"
    assert found["sound"].sentence.startswith("The program cannot be called: `code` is a name")
    assert {found[name].verdict for name in ("refuses", "state", "re-exported")} == {"not checked"}
    assert not [each for each in found.values() if each.report]
