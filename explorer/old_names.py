"""The names that members of an Exploration had before 0.1. Each warns of its new name.

They go in 0.2; nothing here or in the docs uses them.
"""

from __future__ import annotations

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
        told = f".{self._name} is now .{self._instead}; the old name goes in 0.2."
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


class OldSaves:
    """What a comparison answers to beside its own members."""

    to_html = _rename("save")


class OldSetNames:
    """What a set of programs answers to beside its own members."""

    to_html = _saves(".html")
    to_json = _saves(".json")
    ready = _rename("release_report")


class OldNames(OldSetNames):
    """What an Exploration answers to beside its own members."""

    outside = _rename("unsupported_ops")
    probe = _rename("accepts")
    watch = _rename("record_values")
    overlay = _rename("annotate")
    compare_values = _rename("compare")
    save_graph = _rename("save")
    dot = _OldName('save("graph.dot")', _dot_of)
    graph = _pane("graph")
    signature = _pane("signature")
    source = _pane("source")
    shapes = _pane("shapes")
    code = _pane("code")
