"""Ten programs as the exporters of others write them: they open, are compared, shown and saved."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import explorer
from export_engine.archive import ArchiveError, find_difference, read
from export_engine.record import check_record

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore"),
]
for package in ("executorch", "torchao", "transformers"):
    pytest.importorskip(package, reason=f"needs {package}")


def of_executorch(model: Any) -> Any:
    """An example of ExecuTorch's, as its own export script makes an edge program of it."""
    from executorch.extension.export_util.utils import export_to_edge

    return export_to_edge(model.get_eager_model().eval(), model.get_example_inputs(), verbose=False)


def lstm() -> Any:
    from executorch.examples.models.lstm.model import LSTMModel

    return of_executorch(LSTMModel())


def keyword_spotting() -> Any:
    from executorch.examples.models.mlperf_tiny.ds_cnn import DSCNNKWSModel

    return of_executorch(DSCNNKWSModel())


def resnet_for_xnnpack() -> Any:
    """By ExecuTorch's recipe, which partitions and lowers."""
    from executorch.backends.xnnpack.recipes.xnnpack_recipe_types import XNNPackRecipeType
    from executorch.examples.models.mlperf_tiny.resnet8 import ResNet8Model
    from executorch.export import ExportRecipe, export

    model = ResNet8Model()
    recipe = ExportRecipe.get_recipe(XNNPackRecipeType.FP32)
    session = export(model.get_eager_model().eval(), [model.get_example_inputs()], recipe)
    return session.get_edge_program_manager()


def llama_of_executorch() -> Any:
    """Its own transformer with a cache that is a buffer."""
    from executorch.examples.models.llama.llama_transformer import construct_transformer
    from executorch.examples.models.llama.model_args import ModelArgs
    from executorch.exir import to_edge

    arguments = ModelArgs(
        dim=32,
        n_layers=2,
        n_heads=4,
        n_kv_heads=2,
        vocab_size=64,
        hidden_dim=64,
        max_seq_len=16,
        max_context_len=16,
        use_kv_cache=True,
        enable_dynamic_shape=True,
    )
    tokens, position = torch.tensor([[1, 2, 3]]), {"input_pos": torch.tensor([0])}
    model = construct_transformer(arguments).eval()
    shapes = {"tokens": {1: torch.export.Dim("tokens", max=15)}, "attn_options": {"input_pos": {}}}
    return to_edge(torch.export.export(model, (tokens, position), dynamic_shapes=shapes))


def prepare(model: torch.nn.Module, args: tuple[Any, ...]) -> Any:
    from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e
    from torchao.testing.pt2e._xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(model.eval(), args).module(), quantizer)
    prepared(*args)
    return prepared


def block_of_torchao() -> Any:
    """Quantized by torchao, and exported again, as its tutorial does it."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e
    from torchao.testing.model_architectures import TransformerBlock

    args = (torch.randn(2, 4, 16),)
    model = TransformerBlock(16, num_heads=2, mlp_ratio=2, dtype=torch.float32)
    return torch.export.export(convert_pt2e(prepare(model, args)), args)


def convolutions_of_torchao() -> Any:
    from torchao.testing.model_architectures import ConvWithSharedWeightInExportedModel

    return prepare(ConvWithSharedWeightInExportedModel(2, 2, 3), (torch.randn(1, 4, 5, 5),))


def layers_of_torchao() -> Any:
    from torchao.quantization import Int8WeightOnlyConfig, quantize_
    from torchao.testing.model_architectures import ToyTwoLinearModel

    model = ToyTwoLinearModel(16, 8, 4, device="cpu", dtype=torch.float32)
    quantize_(model, Int8WeightOnlyConfig())
    return torch.export.export(model.eval(), model.example_inputs(2))


def tiny_llama() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=64,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
    ).eval()


def llama_of_transformers() -> Any:
    """By its own exporter, every dim left to torch."""
    from transformers.exporters.exporter_dynamo import DynamoConfig, DynamoExporter

    inputs = {"input_ids": torch.tensor([[1, 2, 3, 4]]), "attention_mask": torch.ones(1, 4).long()}
    program, _ = DynamoExporter().export_program(tiny_llama(), inputs, DynamoConfig(dynamic=True))
    return program


def llama_with_a_static_cache() -> Any:
    from transformers.integrations.executorch import convert_and_export_with_cache

    model = tiny_llama()
    model.generation_config.cache_implementation = "static"
    model.generation_config.cache_config = {"batch_size": 1, "max_cache_len": 16}
    return convert_and_export_with_cache(model, strict=False)


def llama_with_a_growing_cache() -> Any:
    from transformers.integrations.executorch import export_with_dynamic_cache

    ids, mask = torch.tensor([[1, 2, 3]]), torch.ones(1, 3).long()
    return export_with_dynamic_cache(tiny_llama(), ids, mask)


PROGRAMS: dict[str, Callable[[], Any]] = {
    each.__name__: each
    for each in (
        lstm,
        keyword_spotting,
        resnet_for_xnnpack,
        llama_of_executorch,
        block_of_torchao,
        convolutions_of_torchao,
        layers_of_torchao,
        llama_of_transformers,
        llama_with_a_static_cache,
        llama_with_a_growing_cache,
    )
}


def programs_in(program: Any) -> list[torch.export.ExportedProgram]:
    """The ExportedProgram, or those of a manager."""
    if isinstance(program, torch.export.ExportedProgram):
        return [program]
    methods = getattr(program, "methods", ())
    return [program.exported_program(name) for name in methods]


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_opens_and_whatever_needs_no_call_works(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = PROGRAMS[name]()
    opened = explorer.view(program)
    ex = next(iter(opened.values())) if isinstance(opened, explorer.Programs) else opened
    assert isinstance(ex, explorer.Exploration)
    record = ex.record
    check_record(record)
    assert len(ex.query("kind:op")) > 1
    assert record.signature.inputs
    assert record.signature.outputs
    assert record.scopes or any(stack >= 0 for stack in record.graphs[0].stack)
    assert explorer.diff(ex, ex).diff.identical
    assert ex.save(tmp_path / "x.html").stat().st_size > 10_000
    assert "bytes moved" in str(ex.cost())
    given = next(iter(programs_in(program)), None)
    if given is not None:
        try:
            torch.export.save(given, tmp_path / "x.pt2")
        except Exception:  # noqa: BLE001 - torch says what it cannot save in many ways
            with pytest.raises(ArchiveError):
                ex.save(tmp_path / "own.pt2")
        else:
            assert not find_difference(read(tmp_path / "x.pt2").record, record)
            assert read(ex.save(tmp_path / "own.pt2")).kept
