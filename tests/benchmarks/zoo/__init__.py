"""Models of real packages, tiny and with random weights, each with its natural dims named."""

from __future__ import annotations

from .model import Model
from .others import OTHERS
from .transformers_models import TRANSFORMERS

__all__ = ["MODELS", "Model"]

MODELS: tuple[Model, ...] = (*TRANSFORMERS, *OTHERS)
