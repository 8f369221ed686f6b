"""Fixes by their outcomes: plain models, and what `autofix` makes of each."""
