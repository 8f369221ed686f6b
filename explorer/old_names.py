"""The names that had other names before 0.1. Each warns of its new name.

They go in 0.2; nothing here or in the docs uses them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any


class _OldName:
    """A member that warns when it is used, and gives what the new one gives."""

    def __init__(self, instead: str, give: Callable[[Any], Any]) -> None:
        self._instead = instead
        self._give = give
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: object | None, kind: type | None = None) -> Any:
        if owner is None:
            return self
        new = self._instead if self._instead.startswith("explorer.") else f".{self._instead}"
        told = f".{self._name} is now {new}; the old name will be removed in 0.2."
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return self._give(owner)


def _rename(name: str) -> _OldName:
    return _OldName(f"{name}()", lambda owner: getattr(owner, name))


def _pane(name: str) -> _OldName:
    return _OldName(f'view(pane="{name}")', lambda owner: owner.view(pane=name))


def _dot_of(owner: Any) -> Callable[..., Any]:
    from explorer.text.dot import dot_graph

    return lambda full=False: dot_graph(owner.record, full)


def _saves(kind: str) -> _OldName:
    return _OldName("save()", lambda owner: partial(owner.save, kind=kind))


def _diff(*programs: Any, **options: Any) -> Any:
    """`explorer.diff`, from the package: nothing here imports what is above it."""
    return sys.modules["explorer"].diff(*programs, **options)


_MOVED: dict[str, tuple[str, dict[str, bool]]] = {
    "explore_joint": ("explore", {"joint": True}),
    "observing": ("observe", {}),
    "read_stages": ("view", {}),
}
"""By an old function of the package: the new one, and what it is called with besides."""

_GONE = {"measure_device": 'cost.on("cpu")', "shrink_config": "explorer.explore_config(small=True)"}
"""By a function that the package no longer has: what to write."""


def load_old_name(name: str, load: Callable[[str], Any]) -> Any:
    """Return the object that had an old name, and warn of the new one.

    Args:
        name: the old name.
        load: gives what the package has under a new name. Nothing here imports it: it would lead
            back to where the package is made of.

    Raises:
        AttributeError: there is no such name, or what it did is done otherwise now.
    """
    for part in ("errors", "typing"):
        if name in load(part).__all__:
            _warn(f"explorer.{name} is now explorer.{part}.{name}")
            return getattr(load(part), name)
    if name not in _MOVED:
        instead = f"; use {_GONE[name]}" if name in _GONE else ""
        raise AttributeError(f"module 'explorer' has no attribute {name!r}{instead}")
    new, options = _MOVED[name]
    said = ", ".join(f"{option}={value}" for option, value in options.items())
    _warn(f"explorer.{name} is now explorer.{new}({said})")
    return partial(load(new), **options) if options else load(new)


def _warn(told: str) -> None:
    # of whoever asked, past this, the function that loads it and the package's __getattr__
    warnings.warn(f"{told}; the old name will be removed in 0.2.", DeprecationWarning, stacklevel=4)


class OldSaves:
    """Old members of a comparison."""

    to_html = _rename("save")


class OldSetNames:
    """Old members of a set of programs."""

    to_html = _saves(".html")
    to_json = _saves(".json")
    ready = _rename("release_report")


class OldNames(OldSetNames):
    """Old members of an Exploration."""

    outside = _rename("unsupported_ops")
    probe = _rename("accepts")
    watch = _rename("record_values")
    overlay = _rename("annotate")
    compare_values = _rename("compare")
    compare_contracts = _OldName(
        'explorer.diff(ex, "ShapesSpec")',
        lambda owner: lambda form="ShapesSpec": _diff(owner, form),
    )
    compare_layers = _OldName(
        "explorer.diff(whole, twin, layers=True)",
        lambda owner: lambda whole: _diff(whole, owner, layers=True),
    )
    diff = _OldName("explorer.diff()", lambda owner: partial(_diff, owner))
    profile = _OldName("cost().measure()", lambda owner: owner.cost().measure)
    delegation_table = _rename("op_table")
    dynamic_shapes = _rename("shapes_code")
    apply = _rename("apply_fixes")
    attempts = _OldName("session.attempts", lambda owner: owner.session.attempts)
    fixed_source = _OldName("session.fixed_source", lambda owner: owner.session.fixed_source)
    save_graph = _rename("save")
    dot = _OldName('save("graph.dot")', _dot_of)
    graph = _pane("graph")
    signature = _pane("signature")
    source = _pane("source")
    shapes = _pane("shapes")
    code = _pane("code")
