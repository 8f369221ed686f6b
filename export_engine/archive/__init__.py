"""Archives: programs in `.pt2` files.

Importing this package costs no torch import; making a program of a file, and saving one, does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from export_engine.archive.errors import ArchiveError

if TYPE_CHECKING:
    from export_engine.archive.torch_archive import RECORD, load, save

__all__ = ["RECORD", "ArchiveError", "load", "save"]

_HOMES = {"RECORD": "torch_archive", "load": "torch_archive", "save": "torch_archive"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
