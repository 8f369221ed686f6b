"""Shapes: what is dynamic in a call, as one immutable value.

A Shapes names some leaves of the call's inputs and says, per dim, how its size may vary. Leaves it
does not name are static. Bounds belong to a Dim's name, not to a place where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Static:
    """The size of the example, always. Written `_`."""


@dataclass(frozen=True)
class Auto:
    """torch decides whether the size may vary (`Dim.AUTO`). Written `*`."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Dynamic:
    """The size varies, or the export fails (`Dim.DYNAMIC`). Written `!`."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Pinned:
    """One given size. Written as the number."""

    size: int


@dataclass(frozen=True)
class Named:
    """A Dim, or one derived from it: `scale * name + offset`. The same name is the same Dim."""

    name: str
    scale: int = 1
    offset: int = 0

    @property
    def derived(self) -> bool:
        """Whether it is more than the Dim itself."""
        return self.scale != 1 or self.offset != 0


Spec = Static | Auto | Dynamic | Pinned | Named
Bounds = tuple[int | None, int | None]
"""Least and greatest size, both allowed; None where that side is open."""


@dataclass(frozen=True)
class Shapes:
    """What is dynamic in a call. `str(shapes)` is the short language; `parse` is its inverse."""

    leaves: Mapping[str, tuple[Spec, ...]] = field(default_factory=dict)
    """Per leaf, by its path (`x`, `cache.0.key`), one Spec per dim."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """Per Dim, by name. A Dim without an entry is free."""

    @staticmethod
    def parse(text: str) -> Shapes:
        """The Shapes that a text in the short language stands for.

        Raises:
            ShapesError: the text does not follow the language; the error points at the column.
        """
        from export_engine.shapes.language import parse

        return parse(text)

    @staticmethod
    def from_torch(dynamic_shapes: object, target: object, args: object, kwargs: object) -> Shapes:
        """The Shapes that torch's `dynamic_shapes` of a call stand for.

        Raises:
            ShapesError: they do not fit the call.
        """
        from export_engine.shapes.torch_specs import from_torch

        return from_torch(dynamic_shapes, target, args, kwargs)

    def to_torch(self, target: object, args: object, kwargs: object) -> object:
        """What `torch.export.export` takes as `dynamic_shapes` for a call.

        Raises:
            ShapesError: a name is no input of the call, or a number of dims differs.
        """
        from export_engine.shapes.torch_specs import to_torch

        return to_torch(self, target, args, kwargs)

    def dim_name(self, path: str, position: int) -> str | None:
        """The name of the Dim that a dim of a leaf is, or is derived from; None for other dims."""
        specs = self.leaves.get(path, ())
        spec = specs[position] if position < len(specs) else None
        return spec.name if isinstance(spec, Named) else None

    def names(self) -> list[str]:
        """The Dims' names, in order of first mention."""
        named = [
            each for specs in self.leaves.values() for each in specs if isinstance(each, Named)
        ]
        return list(dict.fromkeys(each.name for each in named))

    def __str__(self) -> str:
        from export_engine.shapes.language import write

        return write(self)

    def __bool__(self) -> bool:
        return bool(self.leaves)

    def __hash__(self) -> int:
        return hash((frozenset(self.leaves.items()), frozenset(self.bounds.items())))


class ShapesError(ValueError):
    """A text or a spec that does not work. `str(error)` can be shown as it is."""

    def __init__(self, message: str, text: str = "", column: int | None = None) -> None:
        """Make one.

        Args:
            message: what is wrong and what to do next.
            text: the text it is wrong in.
            column: where in the text, counted from 0.
        """
        self.message = message
        self.text = text
        self.column = column
        super().__init__(self._shown())

    def _shown(self) -> str:
        if self.column is None:
            return self.message
        start = self.text.rfind("\n", 0, self.column) + 1
        line = self.text[start:].split("\n")[0]
        return f"{self.message}\n    {line}\n    {' ' * (self.column - start)}^"


_PLAIN_PART = re.compile(r"[A-Za-z_]\w*|\d+", re.ASCII)


def join_path(parts: Iterable[object]) -> str:
    """A path of keys and indices as text: `cache.0.key`; a part that is no word is quoted."""
    return ".".join(map(_part, parts))


def _part(part: object) -> str:
    text = str(part)
    if _PLAIN_PART.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
