"""Models of real packages, tiny and with random weights, each with its natural dims named."""

from __future__ import annotations

from .audio import AUDIO
from .decoders import DECODERS
from .encoders import ENCODERS
from .experts import EXPERTS
from .model import Model
from .others import OTHERS
from .pairs import PAIRS
from .states import STATES
from .vision import VISION

__all__ = ["MODELS", "Model"]

MODELS: tuple[Model, ...] = (
    *ENCODERS,
    *DECODERS,
    *EXPERTS,
    *STATES,
    *PAIRS,
    *VISION,
    *AUDIO,
    *OTHERS,
)
