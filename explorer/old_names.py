"""The names that had other names before 0.1. Each warns of its new name.

They go in 0.2; nothing here or in the docs uses them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
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
        told = f".{self._name} is now .{self._instead}; the old name will be removed in 0.2."
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


def _contracts_of(owner: Any) -> Callable[..., Any]:
    contracts = import_module("explorer.comparing.contracts")
    return partial(contracts.compare_contracts, owner.session)


def _layers_with(owner: Any) -> Callable[[Any], Any]:
    diff = import_module("explorer.opening.diffing").diff
    return lambda whole: diff(whole, owner, layers=True)


def _diff_with(owner: Any) -> Callable[[Any], Any]:
    return partial(import_module("explorer.opening.diffing").diff, owner)


_MOVED: dict[str, tuple[str, str, str]] = {
    "explore_joint": ("explorer.opening.exporting", "explore", "explore(joint=True)"),
    "measure_device": ("explorer.results.cost", "measure_device", 'cost.on("cpu")'),
    "observing": ("explorer.opening.observing", "observe", "observe()"),
    "read_stages": ("explorer.results.stages", "read_stages", "view(path)"),
    "shrink_config": ("explorer.opening.configs", "shrink_config", "explore_config(small=True)"),
}
"""By an old name of the package: where that is now, its name there, and what to write."""


def load_old_name(name: str) -> Any:
    """Return the object that had an old name, and warn of the new one.

    Raises:
        AttributeError: there is no such name.
    """
    for part in ("errors", "typing"):
        new = import_module(f"explorer.{part}")
        if name in new.__all__:
            _warn(f"explorer.{name} is now explorer.{part}.{name}")
            return getattr(new, name)
    if name not in _MOVED:
        raise AttributeError(f"module 'explorer' has no attribute {name!r}")
    module, attribute, instead = _MOVED[name]
    _warn(f"explorer.{name} is now explorer.{instead}")
    value = getattr(import_module(module), attribute)
    return partial(value, joint=True) if name == "explore_joint" else value


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
    compare_contracts = _OldName('explorer.diff(ex, "ShapesSpec")', _contracts_of)
    compare_layers = _OldName("explorer.diff(whole, twin, layers=True)", _layers_with)
    diff = _OldName("explorer.diff()", _diff_with)
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
