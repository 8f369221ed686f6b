"""Sets of programs of real models: a diffusion pipeline, and two towers with a head."""

from __future__ import annotations

import pytest
import torch

import explorer
from tests.real_sets import RealSet, diffusion, two_towers


def _runs_as_its_modules_do(kit: explorer.Programs, real: RealSet) -> None:
    programs = {name: each.program.module() for name, each in kit.items()}
    for rows in (2, 3):
        torch.testing.assert_close(real.run(programs, rows), real.run(real.modules, rows))


@pytest.mark.slow
def test_a_diffusion_pipeline_is_a_set_that_makes_the_same_pictures() -> None:
    pytest.importorskip("diffusers", reason="it is not installed: pip install '.[bench]'")
    real = diffusion()
    kit = explorer.explore_many(real.calls, title="diffusion")

    assert kit.ok, repr(kit)
    seams = {(each.source, each.target): each for each in kit.seams}
    assert {pair: each.summary for pair, each in seams.items()} == {
        (0, 1): "encoder_hidden_states",
        (1, 2): "latents",
    }
    assert {flow.known_by for each in kit.seams for flow in each.flows} == {"values"}
    assert [each for each in kit.findings if each.severity != "note"] == []
    assert "batch" in [each.name for each in kit.record.symbols]
    _runs_as_its_modules_do(kit, real)


@pytest.mark.slow
def test_two_towers_and_their_head_are_a_set_that_gives_the_same_scores() -> None:
    real = two_towers()
    kit = explorer.explore_many(real.calls)

    seams = {(each.source, each.target): each.summary for each in kit.seams}
    assert seams == {(0, 2): "text_embeds", (1, 2): "image_embeds"}
    assert {each.name for each in kit.record.symbols} == {"texts", "images"}
    assert [each for each in kit.findings if each.severity != "note"] == []
    _runs_as_its_modules_do(kit, real)
