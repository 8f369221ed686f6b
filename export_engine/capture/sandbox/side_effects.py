"""The side effects of a model's own code while it is traced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import torch

from export_engine.capture.sandbox.real_type import is_of
from export_engine.torch_internals import Depends, is_fake
from export_engine.trace import Change, Owner

_MISSING = object()
_MOST_ITEMS = 1000
_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)


def find_rebinding(
    owner: Owner, name: str, before: Any, after: Any, where: str, depends: Depends | None = None
) -> Change | None:
    """The change of a name's value; None if old and new are equivalent."""
    if before is after or (type(before) is type(after) and _is_plain(before) and before == after):
        return None
    if before is _MISSING:
        text = f"became {_short(after)}"
    elif after is _MISSING:
        text = f"was deleted; it was {_short(before)}"
    else:
        text = f"changed from {_short(before)} to {_short(after)}"
    counts = _counts(before) or _counts(after)
    source = _source_of(after, depends)
    return Change(
        owner, name, "set", text, is_leak(after), where, counts=counts, follows_from=source
    )


def describe_container_change(
    owner: Owner, name: str, held: Any, now: Any, where: str, depends: Depends | None = None
) -> Change:
    """The change of a container's content."""
    old, new = len(held), len(now)
    verb = "grew" if new > old else "shrank"
    text = f"{verb} from {old} to {new} items" if new != old else "has different items"
    items: Iterable[Any] = now.values() if is_of(now, dict) else now
    leaked = any(is_leak(item) for item in items)
    source = _source_of([item for item in items if not _is_in(item, held)], depends)
    return Change(owner, name, "content", text, leaked, where, follows_from=source)


def _is_in(value: Any, held: Any) -> bool:
    """Whether a container held this very object; `==` would compare tensors."""
    return any(value is item for item in (held.values() if is_of(held, dict) else held))


def _source_of(value: Any, depends: Depends | None) -> Literal["sizes", "inputs", ""]:
    """The inputs of a new value."""
    if value is _MISSING or _is_plain(value):
        return "sizes"
    if is_of(value, torch.Tensor):
        is_found = depends(value) if depends else None
        return "" if is_found is None else "inputs" if is_found else "sizes"
    if is_of(value, torch.SymInt):
        symbols = map(str, value.node.expr.free_symbols)
        return "inputs" if any(symbol.startswith("u") for symbol in symbols) else "sizes"
    if is_of(value, list | tuple | set | dict):
        items = value.values() if is_of(value, dict) else value
        sources = {_source_of(item, depends) for item in list(items)[:_MOST_ITEMS]}
        for worse in ("inputs", ""):
            if worse in sources:
                return worse
        return "sizes"
    return ""


def missing() -> Any:
    """Marks a name without a value."""
    return _MISSING


def is_leak(value: Any) -> bool:
    """Whether a value is from the trace, or holds one that is."""
    if is_fake(value) or is_of(value, torch.fx.Proxy | torch.SymInt | torch.SymFloat):
        return True
    if is_of(value, list | tuple | set):
        return any(is_leak(item) for item in list(value)[:100])
    return is_of(value, dict) and any(is_leak(item) for item in list(value.values())[:100])


def _counts(value: Any) -> bool:
    """Whether a value is a number or a text, or a container of them; a shape is not."""
    if isinstance(value, list | tuple | set | dict) and not isinstance(value, torch.Size):
        items = value.values() if isinstance(value, dict) else value
        return any(map(_counts, list(items)[:100]))
    return isinstance(value, bool | int | float | complex | str | bytes)


def _is_plain(value: Any) -> bool:
    if is_of(value, tuple):
        return all(_is_plain(item) for item in value)
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
