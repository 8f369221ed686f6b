"""Fixes of Python loops: over a dynamic size, and over data."""
