"""A first-run guide: a model of the user's own exported, explained, fixed, verified, reported."""

from explorer.guiding.guide import Guided, guide

__all__ = ["Guided", "guide"]
