"""Models of waveforms, of transformers."""

from __future__ import annotations

from .model import Model
from .transformers_calls import BASE, audio

_SPEECH = {
    **BASE,
    "conv_dim": (16, 16),
    "conv_stride": (5, 2),
    "conv_kernel": (10, 3),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
}

AUDIO: tuple[Model, ...] = (
    audio("wav2vec2", "Wav2Vec2Config", "Wav2Vec2Model", **_SPEECH),
    audio("hubert", "HubertConfig", "HubertModel", **_SPEECH),
    audio("wavlm", "WavLMConfig", "WavLMModel", **_SPEECH),
    audio("unispeech", "UniSpeechConfig", "UniSpeechModel", **_SPEECH),
    audio("data2vec audio", "Data2VecAudioConfig", "Data2VecAudioModel", **_SPEECH),
    audio("sew", "SEWConfig", "SEWModel", **_SPEECH, squeeze_factor=2),
    audio("wav2vec2 conformer", "Wav2Vec2ConformerConfig", "Wav2Vec2ConformerModel", **_SPEECH,
          position_embeddings_type="relative"),
)  # fmt: skip
