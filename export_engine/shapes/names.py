"""Validates names and sizes, in the language and in values made without it."""

from __future__ import annotations

import keyword

from export_engine.shapes.errors import ShapesError

LARGEST = 2**63 - 1


def check_name(name: str) -> None:
    """Raises ShapesError for a text that cannot be a Dim's name."""
    if name == "_":
        raise ShapesError("`_` cannot name a dim: it means static")
    if name == "int":
        raise ShapesError("`int` cannot name a dim: it means an int argument, `n: int`")
    if keyword.iskeyword(name):
        raise ShapesError(f"{name} is a Python keyword and cannot name a dim; `_` means static")
    if not name.isidentifier():
        raise ShapesError(f"{name!r} cannot name a dim: a name is letters, digits and `_`")


def check_size(size: int) -> None:
    """Raises ShapesError for a number that no size can be."""
    if not 0 <= size <= LARGEST:
        raise ShapesError(f"{size} is not a size: sizes are from 0 to 2**63 - 1")
