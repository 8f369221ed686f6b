"""Decoders of text, of transformers."""

from __future__ import annotations

from .model import Model
from .transformers_calls import GROUPED, decoder

_OLDER = {"n_embd": 32, "n_layer": 1, "n_head": 4, "vocab_size": 100}
"""As GPT-2 names its sizes."""

DECODERS: tuple[Model, ...] = (
    decoder("gpt2", "GPT2Config", "GPT2LMHeadModel", **_OLDER),
    decoder("llama", "LlamaConfig", "LlamaForCausalLM", **GROUPED),
    decoder("llama with cache", "LlamaConfig", "LlamaForCausalLM", cache=True, **GROUPED),
    decoder("mistral", "MistralConfig", "MistralForCausalLM", **GROUPED),
    decoder("qwen2", "Qwen2Config", "Qwen2ForCausalLM", **GROUPED),
    decoder("qwen3 with cache", "Qwen3Config", "Qwen3ForCausalLM", cache=True, **GROUPED,
             head_dim=8),
    decoder("gemma2", "Gemma2Config", "Gemma2ForCausalLM", **GROUPED, head_dim=8),
    decoder("phi3", "Phi3Config", "Phi3ForCausalLM", **GROUPED, pad_token_id=0),
    decoder("opt", "OPTConfig", "OPTForCausalLM", hidden_size=32, num_hidden_layers=1, ffn_dim=32,
             num_attention_heads=4, vocab_size=100, word_embed_proj_dim=32),
    decoder("bloom", "BloomConfig", "BloomForCausalLM", hidden_size=32, n_layer=1, n_head=4,
             vocab_size=100),
    decoder("gpt-neo", "GPTNeoConfig", "GPTNeoForCausalLM", hidden_size=32, num_layers=2,
            num_heads=4, attention_types=[[["global", "local"], 1]], window_size=8,
            vocab_size=100),
    decoder("gpt-neox", "GPTNeoXConfig", "GPTNeoXForCausalLM", hidden_size=32,
            num_hidden_layers=1, num_attention_heads=4, intermediate_size=48, vocab_size=100),
    decoder("gptj", "GPTJConfig", "GPTJForCausalLM", **_OLDER, rotary_dim=4),
    decoder("codegen", "CodeGenConfig", "CodeGenForCausalLM", **_OLDER, rotary_dim=4),
    decoder("gpt-bigcode", "GPTBigCodeConfig", "GPTBigCodeForCausalLM", **_OLDER),
    decoder("falcon", "FalconConfig", "FalconForCausalLM", hidden_size=32, num_hidden_layers=1,
            num_attention_heads=4, vocab_size=100),
    decoder("falcon with alibi", "FalconConfig", "FalconForCausalLM", hidden_size=32,
            num_hidden_layers=1, num_attention_heads=4, vocab_size=100, alibi=True),
    decoder("mpt", "MptConfig", "MptForCausalLM", d_model=32, n_heads=4, n_layers=1,
            vocab_size=100),
    decoder("stablelm", "StableLmConfig", "StableLmForCausalLM", **GROUPED, pad_token_id=0),
    decoder("starcoder2", "Starcoder2Config", "Starcoder2ForCausalLM", **GROUPED),
    decoder("cohere", "CohereConfig", "CohereForCausalLM", **GROUPED),
    decoder("cohere2", "Cohere2Config", "Cohere2ForCausalLM", **GROUPED, sliding_window=8),
    decoder("olmo2", "Olmo2Config", "Olmo2ForCausalLM", **GROUPED, pad_token_id=0),
    decoder("granite", "GraniteConfig", "GraniteForCausalLM", **GROUPED),
    decoder("gemma3 with cache", "Gemma3TextConfig", "Gemma3ForCausalLM", cache=True, **GROUPED,
            head_dim=8, sliding_window=8),
    decoder("phi", "PhiConfig", "PhiForCausalLM", **GROUPED),
    decoder("persimmon", "PersimmonConfig", "PersimmonForCausalLM", hidden_size=32,
            num_hidden_layers=1, num_attention_heads=4, intermediate_size=48, vocab_size=100),
    decoder("xglm", "XGLMConfig", "XGLMForCausalLM", d_model=32, num_layers=1, attention_heads=4,
            ffn_dim=48, vocab_size=100),
    decoder("biogpt", "BioGptConfig", "BioGptForCausalLM", hidden_size=32, num_hidden_layers=1,
            num_attention_heads=4, intermediate_size=48, vocab_size=100),
    decoder("glm4", "Glm4Config", "Glm4ForCausalLM", **GROUPED, head_dim=8, pad_token_id=0),
    decoder("helium", "HeliumConfig", "HeliumForCausalLM", **GROUPED, head_dim=8,
            pad_token_id=0),
    decoder("nemotron", "NemotronConfig", "NemotronForCausalLM", **GROUPED),
    decoder("smollm3", "SmolLM3Config", "SmolLM3ForCausalLM", **GROUPED, pad_token_id=0),
    decoder("diffllama", "DiffLlamaConfig", "DiffLlamaForCausalLM", **GROUPED),
    decoder("ctrl", "CTRLConfig", "CTRLLMHeadModel", n_embd=32, n_layer=1, n_head=4, dff=48,
            vocab_size=100),
    decoder("openai gpt", "OpenAIGPTConfig", "OpenAIGPTLMHeadModel", **_OLDER),
)  # fmt: skip
