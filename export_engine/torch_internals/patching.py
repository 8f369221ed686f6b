"""Replaces an attribute of torch's for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from export_engine.process import undone


@undone
def replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """`owner.name` replaced by `make(original)`, then put back as it was, inherited or own."""
    original = getattr(owner, name, None)
    if original is None:
        yield
        return
    own = vars(owner).get(name)
    setattr(owner, name, make(original))
    try:
        yield
    finally:
        if own is None:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
