"""Architectures by name: transformers' with shrunk defaults, timm's and torchvision's smallest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from .model import Call, Model, ids

_TEXT = """
afmoe apertus arcee aria_text bert-generation bigbird_pegasus bitnet canine clip_text_model
cohere2_moe cpmant cwm data2vec-text deepseek_v4 doge dpr ernie4_5 exaone4 exaone_moe flaubert
flex_olmo fsmt gemma glm gpt_neox_japanese granitemoeshared gte hy_v3 hyperclovax imagegpt
jina_embeddings_v3 kimi_linear laguna led llama4_text markuplm mellum mimo_v2_flash minimax
minimax_m2 ministral3 modernbert-decoder moshi mra mvp nanochat nemotron_h olmo olmo3 olmo_hybrid
openai_privacy_filter qwen3_5_moe_text qwen3_5_text qwen3_vl_moe_text qwen3_vl_text
roberta-prelayernorm roc_bert seed_oss solar_open splinter tapas vaultgemma visual_bert xlm
xlm-roberta yoso
"""
_IMAGES = """
aimv2_vision_model clip_vision_model chinese_clip_vision_model data2vec-vision deit
dinov2_with_registers dinov3_vit ijepa internvl_vision mlcd_vision_model pixio pixtral pvt radio
sam3_vit_model sam_hq_vision_model sam_vision_model siglip_vision_model swiftformer textnet
vit_mae vit_msn vitdet
"""
_TIMM = """
test_byobnet test_coatnet test_convnext test_efficientnet test_mambaout test_maxvit test_nfnet
test_resnet test_vit test_vit_relpos lcnet_050 mobilenetv3_small_050 tinynet_e ghostnet_100
repghostnet_050 starnet_s1 fasternet_t0 edgenext_xx_small mobileone_s0 repvit_m0_9 shvit_s1
efficientvit_b0 fastvit_t8 convnext_atto mobilevitv2_050 mobilevit_xxs semnasnet_075 mnasnet_small
regnetx_002 resnet10t rexnet_100 hardcorenas_a
"""
_TORCHVISION = """
alexnet densenet121 efficientnet_b0 googlenet mnasnet0_5 mobilenet_v2 mobilenet_v3_small
regnet_x_400mf regnet_y_400mf resnet18 resnext50_32x4d shufflenet_v2_x0_5 squeezenet1_0
squeezenet1_1 vgg11 vgg11_bn
"""
_SMALL = dict.fromkeys(
    ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "embedding_size"), 32
) | dict.fromkeys(
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_key_value_heads",
     "num_experts_per_tok", "type_vocab_size", "eos_token_id"), 2
) | dict.fromkeys(
    ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads",
     "decoder_attention_heads", "num_local_experts", "num_experts", "n_routed_experts"), 4
) | dict.fromkeys(
    ("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim"), 48
) | {
    "encoder_layers": 1, "decoder_layers": 1, "head_dim": 8, "hidden_dim": 64, "vocab_size": 128,
    "image_size": 32, "patch_size": 8, "moe_intermediate_size": 16,
    "max_position_embeddings": 128, "pad_token_id": 0, "bos_token_id": 1,
}  # fmt: skip
"""Sizes that a config is given where its default has one of that name."""


def _build_shrunk(architecture: str) -> torch.nn.Module:
    """A model of transformers of few and narrow layers, without a cache."""
    from transformers import AutoModel
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = CONFIG_MAPPING[architecture]
    default = kind()
    sizes = {
        name: size
        for name, size in _SMALL.items()
        if type(getattr(default, name, None)) is int
        or (name.endswith("token_id") and hasattr(default, name))
    }
    config = kind(**sizes)
    config.use_cache = False
    model: torch.nn.Module = AutoModel.from_config(config)
    return model.eval()


def _build_timm(name: str) -> torch.nn.Module:
    import timm

    model: torch.nn.Module = timm.create_model(name, pretrained=False)
    return model.eval()


def _build_torchvision(name: str) -> torch.nn.Module:
    import torchvision.models

    model: torch.nn.Module = torchvision.models.get_model(name, weights=None)
    return model.eval()


def _call_text(batch: int, seq: int) -> Call:
    return (), {"input_ids": ids(batch, seq)}


def _call_image(batch: int, size: int) -> Call:
    return (torch.randn(batch, 3, size, size),), {}


def _images(
    package: str, names: str, build: Callable[[str], torch.nn.Module], size: int, shapes: str
) -> Iterator[Model]:
    for name in names.split():
        sizes: dict[str, Any] = {"batch": 2, "size": size}
        title = f"{package} {name}"
        yield Model(title, package, lambda name=name: build(name), _call_image, sizes, shapes)


LIBRARIES: tuple[Model, ...] = (
    *(
        Model(f"transformers {name}", "transformers", lambda name=name: _build_shrunk(name),
              _call_text, {"batch": 2, "seq": 16}, "input_ids: batch, seq")
        for name in _TEXT.split()
    ),
    *_images("transformers", _IMAGES, _build_shrunk, 32, "pixel_values: batch, _, _, _"),
    *_images("timm", _TIMM, _build_timm, 160, "x: batch, _, _, _"),
    *_images("torchvision", _TORCHVISION, _build_torchvision, 96, "x: batch, _, _, _"),
)  # fmt: skip
