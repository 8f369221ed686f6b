"""Models without weights: a copy on the meta device; a config of transformers, whole and small."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.opening.configs import count_layers_needed, shrink_config
from export_engine.capture import copy_without_weights
from export_engine.findings import check_twin_layers
from export_engine.plain_errors import WrongArgument


class Tied(nn.Module):
    """Weights that are tied, a buffer, and a tensor that is neither."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.ones(4))
        self.table = {"shift": torch.zeros(4)}

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(ids) * self.scale + self.table["shift"])

    def encode(self, ids: torch.Tensor) -> torch.Tensor:
        return self.embed(ids)


IDS = torch.zeros(2, 3, dtype=torch.long)


def test_a_copy_has_no_values_and_the_model_keeps_its_own() -> None:
    model = Tied().eval()
    before = {name: (id(value), value.clone()) for name, value in model.state_dict().items()}
    ex = explorer.explore(model, (IDS,), dynamic_shapes="ids: batch, seq", without_weights=True)
    assert ex.ok, ex
    assert {each.device.type for each in ex.program.state_dict.values()} == {"meta"}
    for name, value in model.state_dict().items():
        assert value.device.type == "cpu"
        assert torch.equal(value, before[name][1])
    assert model.head.weight is model.embed.weight
    whole = explorer.explore(model, (IDS,), dynamic_shapes="ids: batch, seq")
    assert ex.cost().flops == whole.cost().flops
    assert [each.target for each in ex.program.graph.nodes] == [
        each.target for each in whole.program.graph.nodes
    ]


def test_weights_stay_tied_and_a_method_is_called_on_the_copy() -> None:
    model = Tied()
    copied, (ids,), _ = copy_without_weights(model.encode, (IDS,), {})
    owner: Any = copied.__self__  # type: ignore[attr-defined]
    assert owner is not model
    assert owner.head.weight is owner.embed.weight
    assert owner.table["shift"].is_meta
    assert ids.is_meta


def test_a_function_has_no_weights_to_leave_out() -> None:
    with pytest.raises(WrongArgument, match="--without-weights copies a module"):
        explorer.explore(lambda x: x, (IDS,), without_weights=True)


def test_what_needs_values_is_not_checked_and_the_rest_works() -> None:
    ex = explorer.explore(Tied().eval(), (IDS,), without_weights=True)
    verification = ex.verify()
    assert "broken" not in {each.verdict for each in verification.guarantees}
    assert "has no weights" in repr(verification)
    assert "itself failed" not in repr(verification)
    assert ex.decompose("core").cost().flops is not None


def config(**changes: Any) -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(num_hidden_layers=3, **changes)


@pytest.mark.slow
def test_a_config_is_explored_whole_and_small() -> None:
    given = config(hidden_size=4096, intermediate_size=11008)
    whole = explorer.explore_config(given)
    assert whole.ok, whole
    assert whole.record.title == "LlamaForCausalLM, without weights"
    assert whole.cost().parameters > 10**8
    twin = explorer.explore_config(given, small=True)
    assert twin.record.title == "LlamaForCausalLM, 2 of 3 layers, random"
    assert twin.accepts(batch=3, seq=5)
    compared = explorer.diff(whole, twin, layers=True)
    assert compared.same, compared
    assert given.num_hidden_layers == 3  # as it was
    assert given.use_cache is True
    sound = next(each for each in whole.verify(sizes=1).guarantees if each.name == "sound")
    assert sound.verdict == "not checked"
    assert "LlamaForCausalLM, 2 of 3 layers, random, with the same layers: " in sound.sentence
    assert "Each of the 3 layers" in sound.evidence[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ConvNext", "Mamba"])
def test_a_twin_keeps_what_belongs_together(name: str) -> None:
    """The widths of stages; kinds of layers that a config computes."""
    import transformers

    small = shrink_config(getattr(transformers, f"{name}Config")())
    if name == "ConvNext":
        assert (small.depths, len(small.hidden_sizes)) == ([2, 2, 2, 2], 4)
        assert explorer.explore_config(small, small=True).ok
    else:
        assert small.layer_types == ["linear_attention"] * 2


@pytest.mark.slow
def test_a_twin_that_lacks_a_kind_of_layer_is_told_of() -> None:
    whole = explorer.explore_config(config(attention_bias=True, hidden_size=64), small=True)
    twin = explorer.explore_config(config(hidden_act="gelu"), small=True)
    compared = explorer.diff(whole, twin, layers=True)
    assert not compared.same
    assert "aten.silu.default ×1" in compared.differences[0].whole
    assert "aten.gelu.default ×1" in compared.differences[0].twin
    assert "EX230: layers of" in repr(compared)
    finding, *others = check_twin_layers(whole.record, twin.record)
    assert not others
    assert (finding.kind.code, finding.severity) == ("EX230", "surprising")
    assert finding.sentence.startswith("2 of 2 layers, first `model.layers.0`, have no counterpart")
    assert finding.node >= 0
    assert not list(check_twin_layers(whole.record, whole.record))


@pytest.mark.parametrize(
    ("name", "changes", "needed"),
    [
        ("Qwen2Moe", {"decoder_sparse_step": 4, "num_experts": 2}, 4),
        ("DeepseekV3", {"first_k_dense_replace": 3, "n_routed_experts": 8}, 4),
        ("Gemma3Text", {"head_dim": 8}, 6),
        ("Llama", {}, 2),
    ],
)
def test_each_kind_of_layer_is_among_those_that_a_twin_keeps(
    name: str, changes: dict[str, Any], needed: int
) -> None:
    """Patterns that a list of kinds shows, and those that only the modules do."""
    import transformers

    small = {"num_hidden_layers": 12, "hidden_size": 32, "num_attention_heads": 4}
    whole = getattr(transformers, f"{name}Config")(**small, vocab_size=64, **changes)
    assert count_layers_needed(whole) == needed
    assert shrink_config(whole, needed).num_hidden_layers == needed


@pytest.mark.slow
def test_positions_that_end_are_a_bound() -> None:
    from transformers import BertConfig

    ex = explorer.explore_config(BertConfig(max_position_embeddings=64), small=True)
    assert ex.ok, ex
    assert ex.record.title == "BertForMaskedLM, 2 of 12 layers, random"
    assert next(each.upper for each in ex.record.symbols if each.name == "seq") == 64


def test_only_a_config_is_taken() -> None:
    with pytest.raises(WrongArgument, match="requires a transformers config, not a dict"):
        explorer.explore_config({})
