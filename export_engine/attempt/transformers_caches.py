"""Classes of transformers' caches: registered as pytrees, as transformers' own exporter does.

A transformers without exporters has no such registration; then there are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from export_engine.torch_internals import deregister_container, is_container

_EXPORTER = "transformers.exporters.exporter_dynamo"
_SAVED = re.compile(r"(transformers(?:\.\w+)+)[.:](\w+)")
"""How a file names a class: `transformers.cache_utils:DynamicCache`."""


@dataclass(frozen=True)
class CachesRegistered:
    """A Setup: classes of caches, registered as transformers' own exporter does."""

    classes: tuple[type, ...]

    @property
    def title(self) -> str:
        """Its effect, as an imperative."""
        return f"Register {', '.join(cls.__name__ for cls in self.classes)} as containers"

    @property
    def stays(self) -> bool:
        """True: torch takes the arguments of a call apart with it."""
        return True

    def statements(self, reference: Callable[[type], str]) -> list[str]:
        """The same in Python."""
        calls = [f"register_pytree_node({reference(cls)})" for cls in self.classes]
        return [f"from {_EXPORTER} import register_pytree_node", *calls]

    def install(self) -> Callable[[], None]:
        """Registers those that are not yet; returns the undo function."""
        register = import_module(_EXPORTER).register_pytree_node
        fresh = [cls for cls in self.classes if not is_container(cls)]
        for item in fresh:
            register(item)

        def undo() -> None:
            for each in fresh:
                deregister_container(each)

        return undo


def cache_classes(values: Iterable[Any]) -> tuple[type, ...]:
    """The classes of caches among values, and in the tuples and dicts there."""
    try:
        is_cache = _is_cache()
    except ImportError:
        return ()
    entries: dict[type, None] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
        elif is_cache(type(value)):
            entries[type(value)] = None
    return tuple(sorted(entries, key=lambda each: each.__name__))


def is_cache_class(cls: type) -> bool:
    """Whether transformers' own exporter registers a class; without exporters it does none."""
    try:
        return _is_cache()(cls)
    except ImportError:
        return False


def _is_cache() -> Callable[[type], bool]:
    """The classes of transformers' caches; before 5.18 it has no function for this.

    Raises:
        ImportError: it has no exporters.
    """
    exporter = import_module(_EXPORTER)
    base = import_module("transformers.cache_utils").Cache
    function: Callable[[type], bool] = getattr(
        exporter, "is_cache_class", lambda each: issubclass(each, base)
    )
    return function


def import_saved_class(name: str) -> CachesRegistered | None:
    """Imports what a saved program names as a container's class, where transformers has it.

    Args:
        name: of the class, as torch saves it.

    Returns:
        The registration that is still needed, of no class if the import made it; None if the
        installed transformers has no such class.
    """
    match = _SAVED.fullmatch(name)
    if match is None:
        return None
    try:
        cls = getattr(import_module(match[1]), match[2], None)
        is_cache = import_module(_EXPORTER).is_cache_class
    except ImportError:
        return None
    if not isinstance(cls, type):
        return None
    return CachesRegistered((cls,) if is_cache(cls) and not is_container(cls) else ())
