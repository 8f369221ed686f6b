"""Whose file a path is: torch's, a library's, or the user's own."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib.util import find_spec


def _torch() -> str:
    """Where torch is, without importing it."""
    spec = find_spec("torch")
    places = spec.submodule_search_locations if spec else None
    return next(iter(places or ()), "torch is not installed") + os.sep


TORCH = _torch()
MADE_UP = "torch" + os.sep
"""How torch names its own files in the stacks of nodes that it adds: `torch/fx/passes/...`."""
_PATHS = sysconfig.get_paths()
LIBRARIES = tuple(
    {os.path.realpath(_PATHS[key]) + os.sep for key in ("purelib", "platlib", "stdlib")}
    | {_PATHS[key] + os.sep for key in ("purelib", "platlib", "stdlib")}
    | {text + os.sep for text in sys.path if text.endswith(("site-packages", "dist-packages"))}
)
"""Folders of packages: an environment may have others than its own, by a `.pth` file."""


def is_own(path: str) -> bool:
    """Whether a file, or a notebook cell, is the user's."""
    return not path.startswith((TORCH, MADE_UP, *LIBRARIES)) and (
        not path.startswith("<") or path.startswith(("<ipython-input", "<stdin>"))
    )


def package_of(path: str) -> str:
    """The installed package that a file belongs to; empty for torch's, and for the user's own."""
    if path.startswith((TORCH, MADE_UP)):
        return ""
    for packages in ("/site-packages/", "/dist-packages/"):
        _, text, inside = path.replace(os.sep, "/").partition(packages)
        if text:
            return inside.partition("/")[0]
    return ""
