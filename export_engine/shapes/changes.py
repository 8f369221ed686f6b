"""What changed between two Shapes, as sentences a preview shows."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.shapes.language import write_bounds, write_dim
from export_engine.shapes.spec import Named, Shapes, Spec, Static


class Change(NamedTuple):
    """One difference."""

    subject: str
    """A dim of an input, `x dim 0`, or a Dim, `seq`."""
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.before} → {self.after}"


def changes(before: Shapes, after: Shapes) -> list[Change]:
    """Every dim and every bound that differs, inputs first, in order of mention."""
    found = []
    for path in dict.fromkeys([*before.leaves, *after.leaves]):
        old, new = before.leaves.get(path, ()), after.leaves.get(path, ())
        for position in range(max(len(old), len(new))):
            was, now = _at(old, position), _at(new, position)
            if was != now:
                found.append(Change(f"{path} dim {position}", _text(was), _text(now)))
    for name in dict.fromkeys([*before.names(), *after.names()]):
        if name in before.names() and name in after.names():
            was_bounds = before.bounds.get(name, (None, None))
            now_bounds = after.bounds.get(name, (None, None))
            if was_bounds != now_bounds:
                texts = (write_bounds(each) or "any size" for each in (was_bounds, now_bounds))
                found.append(Change(name, *texts))
    return found


def _at(specs: tuple[Spec, ...], position: int) -> Spec:
    return specs[position] if position < len(specs) else Static()


def _text(spec: Spec) -> str:
    match spec:
        case Static():
            return "static"
        case Named():
            return write_dim(spec, {})
    return {"*": "automatic", "!": "dynamic"}.get(write_dim(spec, {}), write_dim(spec, {}))
