"""A first-run guide: exports the user's model, explains, fixes, verifies and reports."""

from explorer.guiding.guide import Guided, guide

__all__ = ["Guided", "guide"]
