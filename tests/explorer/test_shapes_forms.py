"""What a call asks to be dynamic, as Dims and as a ShapesSpec, with the Python to paste."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from explorer import Exploration, explore
from explorer.errors import FixError
from export_engine.shapes import Shapes, forms
from export_engine.torch_internals import missing_shapes_spec

SPEC = not missing_shapes_spec()
needs_spec = pytest.mark.skipif(not SPEC, reason="torch exports a ShapesSpec from 2.14 on")


class Divided(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, seq = x.shape
        return x.view(batch, 16, seq // 16).sum(1)


ARGS = (torch.randn(4, 64),)


@pytest.fixture(scope="module")
def failed() -> Exploration:
    return explore(Divided(), ARGS, dynamic_shapes="x: batch, seq")


def pasted(text: str) -> Any:
    """What a user gets who pastes the text into a cell."""
    cell: dict[str, Any] = {}
    exec(text, cell)
    return cell["dynamic_shapes"]


@pytest.mark.after_check
def test_a_fix_of_shapes_is_shown_in_every_form_that_torch_takes(failed: Exploration) -> None:
    assert failed.record.failure is not None
    card = failed.record.failure.fixes[0]
    assert [each.name for each in card.forms] == (["Dims", "ShapesSpec"] if SPEC else ["Dims"])
    assert card.forms[0].text == card.after
    for form in card.forms:
        given = pasted(form.python)
        program = torch.export.export(Divided(), ARGS, dynamic_shapes=given)
        assert program.module()(torch.randn(3, 96)).shape == (3, 6)


def test_the_text_holds_whole_lines_to_paste(failed: Exploration) -> None:
    text = repr(failed)
    for form in ("Dims", "ShapesSpec")[: 1 + SPEC]:
        begin = text.index(f"Fix 0 as {form}: ex.shapes_code(0, '{form}')")
        for line in failed.shapes_code(0, form).splitlines():
            assert line in text[begin:]
    assert not SPEC or "as ShapesSpec: x: batch, seq" in text


def test_the_python_of_a_call_is_had_without_a_fix_too(failed: Exploration) -> None:
    assert "batch = Dim" in failed.shapes_code()
    with pytest.raises(FixError, match="There is no fix 9"):
        failed.shapes_code(9)
    found = explore(Divided(), ARGS)
    with pytest.raises(FixError, match="requests no dynamic shapes"):
        found.shapes_code()
    if not SPEC:
        with pytest.raises(FixError, match="ShapesSpec needs torch 2"):
            failed.shapes_code(0, "ShapesSpec")


def test_a_form_that_cannot_say_it_says_why() -> None:
    shapes = Shapes.parse("x: a, b; a + b <= 90")
    own, other = forms(shapes, Divided(), ARGS, {})
    assert own.shapes == shapes
    assert other.name == "Dims"
    assert other.shapes is None
    assert other.reason.startswith("No Dim can express `a + b <= 90`")
