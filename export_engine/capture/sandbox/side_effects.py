"""The side effects of a model's own code while it is traced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from export_engine.capture.sandbox.own_class import is_of
from export_engine.torch_internals import is_fake
from export_engine.trace import Change, Owner

_MISSING = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)


def rebound(owner: Owner, name: str, before: Any, after: Any, where: str) -> Change | None:
    """The change of a name's value; None if old and new are equivalent."""
    if before is after or (type(before) is type(after) and _is_plain(before) and before == after):
        return None
    if before is _MISSING:
        said = f"became {_short(after)}"
    elif after is _MISSING:
        said = f"was {_short(before)}, is gone"
    else:
        said = f"was {_short(before)}, became {_short(after)}"
    counts = _counts(before) or _counts(after)
    return Change(owner, name, "set", said, is_leak(after), where, counts=counts)


def refilled(owner: Owner, name: str, held: Any, now: Any, where: str) -> Change:
    """The change of a container's content."""
    old, new = len(held), len(now)
    verb = "grew" if new > old else "shrank"
    said = f"{verb} from {old} to {new} items" if new != old else "holds different items"
    items: Iterable[Any] = now.values() if is_of(now, dict) else now
    return Change(owner, name, "content", said, any(is_leak(each) for each in items), where)


def missing() -> Any:
    """Marks a name without a value."""
    return _MISSING


def is_leak(value: Any) -> bool:
    """Whether a value is from the trace, or holds one that is."""
    if is_fake(value) or is_of(value, torch.fx.Proxy | torch.SymInt | torch.SymFloat):
        return True
    if is_of(value, list | tuple | set):
        return any(is_leak(each) for each in list(value)[:100])
    return is_of(value, dict) and any(is_leak(each) for each in list(value.values())[:100])


def _counts(value: Any) -> bool:
    """Whether a value is a number or a text, or a container of them; a shape is not."""
    if isinstance(value, list | tuple | set | dict) and not isinstance(value, torch.Size):
        items = value.values() if isinstance(value, dict) else value
        return any(map(_counts, list(items)[:100]))
    return isinstance(value, bool | int | float | complex | str | bytes)


def _is_plain(value: Any) -> bool:
    if is_of(value, tuple):
        return all(_is_plain(each) for each in value)
    return is_of(value, _PLAIN)


def _short(value: Any) -> str:
    if is_of(value, torch.Tensor):
        return "a tensor"
    if is_of(value, torch.SymInt | torch.SymFloat):
        return "a symbolic size"
    if _is_plain(value):
        text = repr(value)
        return text if len(text) <= 40 else f"{text[:37]}..."
    if is_of(value, list | tuple | dict | set):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"
