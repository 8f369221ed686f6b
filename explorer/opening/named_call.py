"""The call to export that a text names: `package.module:make`, or `file.py:make`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from export_engine.defects import user_code


class Call(NamedTuple):
    """A model and the arguments of one call."""

    model: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] | None


def run_named_call(named: str) -> Call:
    """Call the function that a string names, and return its result. Runs its module.

    Args:
        named: `package.module:make` or `folder/file.py:make`; `make()` gives `(model, args)` or
            `(model, args, kwargs)`.

    Raises:
        ImportError: there is no such module or file.
        AttributeError: there is no such function in it.
        TypeError: it is not a function, or gives something else.
    """
    home, _, function = named.rpartition(":")
    module = _file(Path(home)) if home.endswith(".py") else _module(home)
    result: Any = module
    for name in function.split("."):
        if not hasattr(result, name):
            raise AttributeError(f"module {home!r} has no attribute {function!r}")
        result = getattr(result, name)
    if not callable(result):
        raise TypeError(f"{named} is a {type(result).__name__}, not a function.")
    with user_code(f"`{function}`"):
        value = result()
    if not isinstance(value, tuple) or not 2 <= len(value) <= 3 or not callable(value[0]):
        raise TypeError(
            f"{named}() returned a {type(value).__name__}. It must return (model, args) or "
            "(model, args, kwargs)."
        )
    model, args, *rest = value
    return Call(model, tuple(args), dict(rest[0]) if rest else None)


def _module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(name)


def _file(path: Path) -> ModuleType:
    """Run as Python runs a script: what lies beside it can be imported."""
    file = path.resolve()
    if not file.is_file():
        raise ImportError(f"There is no file {path}.")
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported.")
    module = module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module
