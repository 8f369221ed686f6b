"""From sequence to sequence, of transformers."""

from __future__ import annotations

from typing import Any

from .model import Model
from .transformers_calls import pair

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
_T5: dict[str, Any] = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 32,
    "num_layers": 1,
    "num_heads": 4,
    "vocab_size": 100,
    "use_cache": False,
}

PAIRS: tuple[Model, ...] = (
    pair("t5", "T5Config", "T5Model", **_T5),
    pair("bart", "BartConfig", "BartModel", **_SEQ2SEQ, use_cache=False),
    pair("bart with cache", "BartConfig", "BartModel", **_SEQ2SEQ, use_cache=True),
    pair("marian", "MarianConfig", "MarianModel", **_SEQ2SEQ, use_cache=False, pad_token_id=1,
          decoder_start_token_id=2),
    pair("mbart", "MBartConfig", "MBartModel", **_SEQ2SEQ, use_cache=False),
    pair("pegasus", "PegasusConfig", "PegasusModel", **_SEQ2SEQ, use_cache=False),
    pair("blenderbot", "BlenderbotConfig", "BlenderbotModel", **_SEQ2SEQ, use_cache=False),
    pair("m2m-100", "M2M100Config", "M2M100Model", **_SEQ2SEQ, use_cache=False),
    pair("plbart", "PLBartConfig", "PLBartModel", **_SEQ2SEQ, use_cache=False),
    pair("umt5", "UMT5Config", "UMT5Model", **_T5),
    pair("longt5", "LongT5Config", "LongT5Model", **_T5, local_radius=8),
)  # fmt: skip
