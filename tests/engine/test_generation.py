"""A model that generates, cut into programs: what varies, what flows, the same tokens."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import explorer
from export_engine.generation import CutError, cut
from tests.untouched import of_call


@pytest.fixture(scope="module")
def model() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        num_hidden_layers=1,
        hidden_size=16,
        num_attention_heads=2,
        num_key_value_heads=2,
        intermediate_size=32,
        vocab_size=60,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def inputs() -> dict[str, torch.Tensor]:
    tokens = torch.randint(3, 60, (1, 5))
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


@pytest.fixture(scope="module")
def kit(model: Any, inputs: dict[str, torch.Tensor]) -> explorer.GenerationPrograms:
    before = of_call(model, inputs)
    made = explorer.explore_generation(model, inputs)
    assert of_call(model, inputs) == before
    return made


def test_what_varies_is_named(kit: explorer.GenerationPrograms) -> None:
    assert list(kit) == ["prefill", "decode"]
    assert {each.name for each in kit["prefill"].record.symbols} == {"batch", "prompt"}
    assert "attention_mask: batch, past + 1" in kit["decode"].record.shapes
    assert {each.name for each in kit.record.symbols} == {"batch", "prompt / past"}


def test_the_cache_flows_from_call_to_call(kit: explorer.GenerationPrograms) -> None:
    seams = {(each.source, each.target): each.summary for each in kit.seams}

    assert seams == {(0, 1): "2 cache tensors", (1, 1): "2 cache tensors"}
    assert [each for each in kit.findings if each.severity != "note"] == []


def test_the_programs_generate_the_same_tokens(
    kit: explorer.GenerationPrograms, model: Any, inputs: dict[str, torch.Tensor]
) -> None:
    before = of_call(model, inputs)
    trials = kit.generate(16)

    assert len(trials) >= 4
    assert {each.outcome for each in trials} == {"same"}
    assert {"batch = 1, prompt = 5", "batch = 1, prompt = 10"} <= {each.sizes for each in trials}
    assert all(each.rate > 0 and each.first_ms > 0 for each in trials)
    assert "the same 16 tokens" in repr(kit)
    assert of_call(model, inputs) == before


def test_another_token_is_said_with_its_step_and_its_program(
    kit: explorer.GenerationPrograms, model: Any, inputs: dict[str, torch.Tensor]
) -> None:
    head = model.lm_head.weight.detach().clone()
    wrong = explorer.GenerationPrograms(
        {"prefill": kit["prefill"], "decode": kit["decode"]}, kit._cut, inputs
    )
    program = kit["decode"].program
    name = next(each for each in program.state_dict if each.endswith("lm_head.weight"))
    program.state_dict[name] = torch.nn.Parameter(-head)
    try:
        (found,) = wrong.generate(6, sizes=[(2, 5)])
    finally:
        program.state_dict[name] = model.lm_head.weight

    assert (found.outcome, found.step, found.component) == ("differs", 1, 1)
    assert found.sentence == "token 2 differs from generate()'s, which `decode` gave."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (torch.nn.Linear(2, 2), "has no generate"),
        (None, "fails with these inputs"),
    ],
)
def test_what_cannot_be_cut_is_a_sentence(model: Any, given: Any, said: str) -> None:
    with pytest.raises(CutError, match=said):
        cut(given or model, {"input_ids": torch.ones(1, 3)})
