"""Which class an object is of, whatever it says."""

from __future__ import annotations

from types import UnionType
from typing import Any


def is_of(value: Any, kinds: type | tuple[type, ...] | UnionType) -> bool:
    """Whether an object is of a class or of one that inherits from it.

    Unlike `isinstance`, it does not ask the object: `__class__` of a mock names the class that it
    stands for, which crashes torch, and that of a proxy without a target raises.
    """
    return issubclass(type(value), kinds)


def package_of(kind: type) -> str:
    """The package in which a class was made; a class made by `type` may have none."""
    return str(kind.__module__).partition(".")[0]
