"""Fixes of Python around sizes, which keep them symbolic."""
