"""Generative models cut into programs, and whether those generate what the model does.

Tiny configs of real architectures, greedy, 16 tokens, at several batches and prompts. Beside it,
transformers' own exporter on the same model: whether it exports each of its components. A model
that does not come through is printed with the reason.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch

import explorer

from .table import Row

_TEXT: dict[str, Any] = {
    "num_hidden_layers": 2,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 100,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_SEQ2SEQ: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "vocab_size": 100,
    "max_position_embeddings": 128,
    "forced_eos_token_id": None,
}
_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "LlamaForCausalLM": ("LlamaConfig", _TEXT),
    "Qwen2ForCausalLM": ("Qwen2Config", _TEXT),
    "Qwen3ForCausalLM": ("Qwen3Config", {**_TEXT, "head_dim": 8}),
    "MistralForCausalLM": ("MistralConfig", {**_TEXT, "sliding_window": 8}),
    "MixtralForCausalLM": ("MixtralConfig", {**_TEXT, "num_local_experts": 4}),
    "GemmaForCausalLM": ("GemmaConfig", {**_TEXT, "head_dim": 8}),
    "Gemma2ForCausalLM": ("Gemma2Config", {**_TEXT, "head_dim": 8, "sliding_window": 8}),
    "PhiForCausalLM": ("PhiConfig", _TEXT),
    "Phi3ForCausalLM": ("Phi3Config", _TEXT),
    "StableLmForCausalLM": ("StableLmConfig", _TEXT),
    "OlmoForCausalLM": ("OlmoConfig", _TEXT),
    "GraniteForCausalLM": ("GraniteConfig", _TEXT),
    "CohereForCausalLM": ("CohereConfig", _TEXT),
    "Starcoder2ForCausalLM": ("Starcoder2Config", _TEXT),
    "GPT2LMHeadModel": (
        "GPT2Config",
        {"n_layer": 2, "n_embd": 32, "n_head": 4, "vocab_size": 100, "n_positions": 128},
    ),
    "GPTNeoXForCausalLM": ("GPTNeoXConfig", _TEXT),
    "OPTForCausalLM": (
        "OPTConfig",
        {**_TEXT, "ffn_dim": 64, "word_embed_proj_dim": 32},
    ),
    "DeepseekV2ForCausalLM": (
        "DeepseekV2Config",
        {
            **_TEXT,
            "num_key_value_heads": 4,
            "moe_intermediate_size": 32,
            "n_routed_experts": 4,
            "n_shared_experts": 1,
            "num_experts_per_tok": 2,
            "first_k_dense_replace": 1,
            "kv_lora_rank": 16,
            "q_lora_rank": 16,
            "qk_nope_head_dim": 8,
            "qk_rope_head_dim": 8,
            "v_head_dim": 8,
        },
    ),
    "MambaForCausalLM": (
        "MambaConfig",
        {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4, "vocab_size": 100},
    ),
    "T5ForConditionalGeneration": (
        "T5Config",
        {
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 64,
            "num_layers": 2,
            "num_heads": 4,
            "vocab_size": 100,
            "decoder_start_token_id": 0,
        },
    ),
    "BartForConditionalGeneration": ("BartConfig", _SEQ2SEQ),
    "WhisperForConditionalGeneration": (
        "WhisperConfig",
        {
            **_SEQ2SEQ,
            "num_mel_bins": 8,
            "max_source_positions": 20,
            "max_target_positions": 64,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 3,
            "suppress_tokens": None,
            "begin_suppress_tokens": None,
        },
    ),
    "LlavaForConditionalGeneration": ("LlavaConfig", {}),
}
"""Classes of transformers, with their configs."""
_LEAST = 0.9


class Generative(NamedTuple):
    """A model that generates, and what its `generate()` takes."""

    model: Any
    inputs: dict[str, torch.Tensor]


def generative(name: str) -> Generative:
    """A tiny model of a class of transformers, with random weights."""
    import transformers

    config_name, options = _MODELS[name]
    torch.manual_seed(0)
    if name.startswith("Llava"):
        return _llava()
    config = getattr(transformers, config_name)(**options)
    model = getattr(transformers, name)(config).eval()
    if name.startswith("Whisper"):
        return Generative(model, {"input_features": torch.randn(2, 8, 40)})
    return Generative(model, _tokens(2, 6))


def _tokens(rows: int, count: int) -> dict[str, torch.Tensor]:
    tokens = torch.randint(5, 90, (rows, count))
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


def _llava() -> Generative:
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig
    from transformers import LlavaForConditionalGeneration as Llava

    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=16,
        patch_size=8,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=LlamaConfig(**_TEXT),
        image_token_index=99,
        image_seq_length=4,
    )
    inputs = _tokens(2, 6)
    images = torch.full((2, 4), 99)
    tokens = torch.cat([inputs["input_ids"][:, :1], images, inputs["input_ids"]], dim=1)
    return Generative(
        Llava(config).eval(),
        {
            "input_ids": tokens,
            "attention_mask": torch.ones_like(tokens),
            "pixel_values": torch.randn(2, 3, 16, 16),
        },
    )


def run() -> list[Row]:
    """The table's rows; each model's own line is printed as it comes."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    alarms: list[str] = []
    ours = [_said(name, partial(_ours, alarms=alarms), "ours") for name in _MODELS]
    theirs = [_said(name, _theirs, "transformers' exporter") for name in _MODELS]
    subject = f"{len(_MODELS)} generative models"
    return [
        Row(
            subject,
            "cut, exported with sizes that vary, and the same 16 tokens",
            sum(ours) / len(ours),
            "share",
            least=_LEAST,
            means="by their programs alone, at several batches and prompts, as by generate()",
        ),
        Row(
            subject,
            "alarms between their programs",
            len(alarms),
            most=0,
            means="findings more severe than a note, where the tokens are the same",
        ),
        Row(
            subject,
            "exported by transformers' exporter, every size dynamic",
            sum(theirs) / len(theirs),
            "share",
            means="each of its components becomes a program; what they generate it does not say",
        ),
    ]


def _said(name: str, tried: Callable[[Generative], str], by: str) -> bool:
    """Whether a model comes through; the reason is printed where it does not."""
    try:
        reason = tried(generative(name))
    except Exception as error:  # noqa: BLE001 - one model's failure is a line of the table
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    print(f"{name}, {by}: {reason or 'ok'}", flush=True)
    return not reason


def _ours(case: Generative, alarms: list[str]) -> str:
    kit = explorer.explore_generation(*case)
    for name, each in kit.items():
        if each.record.failure is not None:
            return f"{name} failed to export: {each.record.failure.sentence}"
    wrong = [each for each in kit.generate(16) if each.outcome != "same"]
    said = [each.sentence for each in kit.findings if each.severity != "note" and not wrong]
    for each in said:
        print(f"  alarm: {each}", flush=True)
    alarms += said
    return f"{wrong[0].sizes}: {wrong[0].sentence}" if wrong else ""


def _theirs(case: Generative) -> str:
    from transformers.exporters import DynamoConfig, DynamoExporter

    DynamoExporter().export_for_generation(*case, config=DynamoConfig(dynamic=True))
    return ""
