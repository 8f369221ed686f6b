"""Architectures of transformers: encoders, decoders, seq2seq, vision, audio, experts, states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .model import Call, Model, ids

_BASE: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 100,
}
_VISION: dict[str, Any] = {key: value for key, value in _BASE.items() if key != "vocab_size"} | {
    "image_size": 32,
    "patch_size": 8,
}
_GROUPED = {**_BASE, "num_key_value_heads": 2}
_SEQ2SEQ: dict[str, Any] = {
    "vocab_size": 100,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}
_SPEECH = {
    **_BASE,
    "conv_dim": (16, 16),
    "conv_stride": (5, 2),
    "conv_kernel": (10, 3),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
}


def _made(config: str, model: str, **options: Any) -> Callable[[], torch.nn.Module]:
    def build() -> torch.nn.Module:
        import transformers

        made: torch.nn.Module = getattr(transformers, model)(
            getattr(transformers, config)(**options)
        )
        return made.eval()

    return build


def _text(name: str, config: str, model: str, **options: Any) -> Model:
    """Token ids and a mask, as an encoder is called."""

    def call(batch: int, seq: int) -> Call:
        mask = torch.ones(batch, seq, dtype=torch.long)
        return (), {"input_ids": ids(batch, seq), "attention_mask": mask}

    shapes = "input_ids: batch, seq; attention_mask: batch, seq"
    built = _made(config, model, **options)
    return Model(name, "transformers", built, call, {"batch": 2, "seq": 16}, shapes)


def _decoder(name: str, config: str, model: str, cache: bool = False, **options: Any) -> Model:
    """Token ids alone, as a decoder is called; with `cache` it gives its cache back."""

    def call(batch: int, seq: int) -> Call:
        return (ids(batch, seq),), {}

    built = _made(config, model, use_cache=cache, **options)
    return Model(
        name, "transformers", built, call, {"batch": 2, "seq": 16}, "input_ids: batch, seq"
    )


def _pair(name: str, config: str, model: str, **options: Any) -> Model:
    def call(batch: int, source: int, target: int) -> Call:
        return (), {"input_ids": ids(batch, source), "decoder_input_ids": ids(batch, target)}

    shapes = "input_ids: batch, source; decoder_input_ids: batch, target"
    sizes = {"batch": 2, "source": 16, "target": 9}
    return Model(name, "transformers", _made(config, model, **options), call, sizes, shapes)


def _image(name: str, config: str, model: str, size: int = 64, **options: Any) -> Model:
    def call(batch: int, height: int, width: int) -> Call:
        return (torch.randn(batch, 3, height, width),), {}

    sizes = {"batch": 2, "height": size, "width": size}
    built = _made(config, model, **options)
    return Model(name, "transformers", built, call, sizes, "pixel_values: batch, _, height, width")


def _audio(name: str, config: str, model: str, **options: Any) -> Model:
    def call(batch: int, time: int) -> Call:
        return (torch.randn(batch, time),), {}

    built = _made(config, model, **options)
    return Model(
        name, "transformers", built, call, {"batch": 2, "time": 800}, "input_values: batch, time"
    )


TRANSFORMERS: tuple[Model, ...] = (
    _text("bert", "BertConfig", "BertModel", **_BASE),
    _text("roberta", "RobertaConfig", "RobertaModel", **_BASE, max_position_embeddings=64),
    _text("electra", "ElectraConfig", "ElectraModel", **_BASE, embedding_size=16),
    _text("albert", "AlbertConfig", "AlbertModel", **_BASE, embedding_size=16),
    _text("deberta-v2", "DebertaV2Config", "DebertaV2Model", **_BASE, relative_attention=True,
          pos_att_type=["p2c", "c2p"]),
    _text("distilbert", "DistilBertConfig", "DistilBertModel", dim=32, n_layers=1, n_heads=4,
          hidden_dim=32, vocab_size=100),
    _text("mpnet", "MPNetConfig", "MPNetModel", **_BASE),
    _text("esm", "EsmConfig", "EsmModel", **_BASE, pad_token_id=1, mask_token_id=32,
          position_embedding_type="rotary"),
    _text("longformer", "LongformerConfig", "LongformerModel", **_BASE, attention_window=8,
          max_position_embeddings=64),
    _text("fnet", "FNetConfig", "FNetModel", hidden_size=32, num_hidden_layers=1,
          intermediate_size=48, vocab_size=100),
    _decoder("gpt2", "GPT2Config", "GPT2LMHeadModel", n_embd=32, n_layer=1, n_head=4,
             vocab_size=100),
    _decoder("llama", "LlamaConfig", "LlamaForCausalLM", **_GROUPED),
    _decoder("llama with cache", "LlamaConfig", "LlamaForCausalLM", cache=True, **_GROUPED),
    _decoder("mistral", "MistralConfig", "MistralForCausalLM", **_GROUPED),
    _decoder("qwen2", "Qwen2Config", "Qwen2ForCausalLM", **_GROUPED),
    _decoder("qwen3 with cache", "Qwen3Config", "Qwen3ForCausalLM", cache=True, **_GROUPED,
             head_dim=8),
    _decoder("gemma2", "Gemma2Config", "Gemma2ForCausalLM", **_GROUPED, head_dim=8),
    _decoder("phi3", "Phi3Config", "Phi3ForCausalLM", **_GROUPED, pad_token_id=0),
    _decoder("opt", "OPTConfig", "OPTForCausalLM", hidden_size=32, num_hidden_layers=1, ffn_dim=32,
             num_attention_heads=4, vocab_size=100, word_embed_proj_dim=32),
    _decoder("bloom", "BloomConfig", "BloomForCausalLM", hidden_size=32, n_layer=1, n_head=4,
             vocab_size=100),
    _decoder("mixtral", "MixtralConfig", "MixtralForCausalLM", **_GROUPED, num_local_experts=4),
    _decoder("qwen2-moe", "Qwen2MoeConfig", "Qwen2MoeForCausalLM", **_GROUPED, num_experts=4,
             moe_intermediate_size=16, shared_expert_intermediate_size=16),
    _decoder("mamba", "MambaConfig", "MambaForCausalLM", vocab_size=100, hidden_size=32,
             num_hidden_layers=1, state_size=8),
    _decoder("rwkv", "RwkvConfig", "RwkvForCausalLM", vocab_size=100, hidden_size=32,
             num_hidden_layers=2, attention_hidden_size=32),
    _pair("t5", "T5Config", "T5Model", d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=4,
          vocab_size=100, use_cache=False),
    _pair("bart", "BartConfig", "BartModel", **_SEQ2SEQ, use_cache=False),
    _pair("bart with cache", "BartConfig", "BartModel", **_SEQ2SEQ, use_cache=True),
    _pair("marian", "MarianConfig", "MarianModel", **_SEQ2SEQ, use_cache=False, pad_token_id=1,
          decoder_start_token_id=2),
    _image("vit", "ViTConfig", "ViTModel", size=32, **_VISION),
    _image("convnext", "ConvNextConfig", "ConvNextModel", num_stages=2, hidden_sizes=[8, 16],
           depths=[1, 1]),
    _image("resnet", "ResNetConfig", "ResNetModel", embedding_size=8, hidden_sizes=[8, 16],
           depths=[1, 1], layer_type="basic"),
    _image("segformer", "SegformerConfig", "SegformerForSemanticSegmentation",
           num_encoder_blocks=2, depths=[1, 1], hidden_sizes=[16, 32], num_attention_heads=[1, 2],
           sr_ratios=[4, 2], patch_sizes=[7, 3], strides=[4, 2], mlp_ratios=[2, 2],
           decoder_hidden_size=16),
    _image("mobilevit", "MobileViTConfig", "MobileViTModel", hidden_sizes=[16, 16, 16],
           neck_hidden_sizes=[8, 8, 8, 8, 8, 8, 16], num_attention_heads=2, image_size=64),
    _image("dinov2", "Dinov2Config", "Dinov2Model", size=32, **_VISION),
    _audio("wav2vec2", "Wav2Vec2Config", "Wav2Vec2Model", **_SPEECH),
    _audio("hubert", "HubertConfig", "HubertModel", **_SPEECH),
)  # fmt: skip
