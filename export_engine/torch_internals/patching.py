"""Replaces an attribute of torch's for a while."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from export_engine.process import undone


@undone
def replace_attribute(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replace `owner.name` by `make(original)`, then restore it, inherited or own.

    A module that is first imported meanwhile and imports the name also gets the original back.
    """
    original = getattr(owner, name, None)
    if original is None:
        yield
        return
    own = vars(owner).get(name)
    replacement = make(original)
    last = next(reversed(sys.modules), "")
    setattr(owner, name, replacement)
    try:
        yield
    finally:
        if own is None:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
        for text in _modules_since(last):
            _put_back(sys.modules.get(text), name, replacement, original)


def _modules_since(last: str) -> Iterator[str]:
    """The modules that were imported after this one was. Of thousands, mostly none."""
    if next(reversed(sys.modules), "") == last:
        return iter(())
    return takewhile(lambda name: name != last, list(reversed(sys.modules)))


def _put_back(module: Any, name: str, replacement: Any, original: Any) -> None:
    """Makes a module have the original where it imported the replacement by its name."""
    value = getattr(module, "__dict__", {})
    if value.get(name) is replacement:
        value[name] = original
