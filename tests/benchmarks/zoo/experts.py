"""Decoders whose layers choose experts, of transformers."""

from __future__ import annotations

from .model import Model
from .transformers_calls import BASE, GROUPED, decoder, pair

EXPERTS: tuple[Model, ...] = (
    decoder("mixtral", "MixtralConfig", "MixtralForCausalLM", **GROUPED, num_local_experts=4),
    decoder("qwen2-moe", "Qwen2MoeConfig", "Qwen2MoeForCausalLM", **GROUPED, num_experts=4,
             moe_intermediate_size=16, shared_expert_intermediate_size=16),
    decoder("qwen3-moe", "Qwen3MoeConfig", "Qwen3MoeForCausalLM", **GROUPED, num_experts=4,
            num_experts_per_tok=2, moe_intermediate_size=16, head_dim=8),
    decoder("olmoe", "OlmoeConfig", "OlmoeForCausalLM", **GROUPED, num_experts=4,
            num_experts_per_tok=2, pad_token_id=0),
    decoder("granite-moe", "GraniteMoeConfig", "GraniteMoeForCausalLM", **GROUPED,
            num_local_experts=4),
    decoder("phimoe", "PhimoeConfig", "PhimoeForCausalLM", **GROUPED, num_local_experts=4),
    decoder("deepseek-v2", "DeepseekV2Config", "DeepseekV2ForCausalLM", **BASE,
            q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8,
            v_head_dim=8, n_routed_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1,
            first_k_dense_replace=0, moe_intermediate_size=16),
    decoder("deepseek-v3", "DeepseekV3Config", "DeepseekV3ForCausalLM", **BASE,
            q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8,
            v_head_dim=8, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1,
            first_k_dense_replace=0, moe_intermediate_size=16),
    decoder("gpt-oss", "GptOssConfig", "GptOssForCausalLM", **GROUPED, head_dim=8,
            num_local_experts=4, num_experts_per_tok=2, pad_token_id=0),
    decoder("jetmoe", "JetMoeConfig", "JetMoeForCausalLM", vocab_size=100, hidden_size=32,
            num_hidden_layers=1, num_key_value_heads=2, kv_channels=8, intermediate_size=48,
            num_local_experts=4),
    decoder("dbrx", "DbrxConfig", "DbrxForCausalLM", d_model=32, n_heads=4, n_layers=1,
            vocab_size=100, attn_config={"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8},
            ffn_config={"ffn_hidden_size": 32, "moe_num_experts": 4, "moe_top_k": 2,
                        "hidden_size": 32}),
    decoder("ernie4.5-moe", "Ernie4_5_MoeConfig", "Ernie4_5_MoeForCausalLM", **GROUPED,
            moe_num_experts=4, moe_k=2, moe_intermediate_size=16, moe_layer_start_index=0,
            pad_token_id=0),
    decoder("glm4-moe", "Glm4MoeConfig", "Glm4MoeForCausalLM", **GROUPED, head_dim=8,
            n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, n_group=1,
            topk_group=1, first_k_dense_replace=0, pad_token_id=0),
    pair("switch transformers", "SwitchTransformersConfig", "SwitchTransformersModel",
         d_model=32, d_kv=8, d_ff=32, num_layers=2, num_sparse_encoder_layers=1,
         num_sparse_decoder_layers=1, num_heads=4, num_experts=4, vocab_size=100,
         use_cache=False),
)  # fmt: skip
