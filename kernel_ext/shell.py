"""The magics' access to IPython's shell: its display, its cell, and whether a value is used."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from executing import Source

if TYPE_CHECKING:
    import explorer


def has_page(shell: Any) -> bool:
    """Whether what is shown can be replaced later: in a notebook's kernel, not in a terminal."""
    return getattr(shell, "kernel", None) is not None


def bundle_of(
    shown: explorer.Exploration | explorer.Programs | explorer.typing.Library,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A result's representation in a notebook, with its metadata."""
    bundle = shown._repr_mimebundle_()
    return bundle if isinstance(bundle, tuple) else (bundle, {})


def is_asked_for(shell: Any) -> bool:
    """Whether the magic's value is used, as in `ex = %export model(x)`.

    On its own line it is not: IPython would show the result a second time.
    """
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals is not shell.user_global_ns:
        frame = frame.f_back
    if frame is None:
        return True
    node: Any = Source.executing(frame).node
    return node is not None and not isinstance(node.parent, ast.Expr)


def running_cell(shell: Any) -> str:
    """The text of the cell that runs, as typed; empty outside a notebook's kernel."""
    parent: dict[str, Any] = getattr(shell, "get_parent", dict)() or {}
    return str(parent.get("content", {}).get("code", ""))
