"""Which sizes of a component's inputs vary, and how, from calls at several batches and prompts.

A size is taken for `constant + a·batch + b·prompt + c·step`: its coefficients are read off runs in
which one of them is one larger. So a size that happens to equal another is not mistaken for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from export_engine.shapes import Auto, Bounds, Named, Shapes, Spec

Sizes = Mapping[str, tuple[int, ...]]
"""Per path the sizes of a tensor."""

NAMES = {(1, 0): "prompt", (1, 1): "past", (0, 1): "step"}
"""Names by what a size grows with: the prompt, each step, or both."""


class Line(NamedTuple):
    """How a size varies."""

    batch: int
    prompt: int
    step: int


def lines(
    base: Sequence[Sizes], more_rows: Sizes | None, longer: Sizes | None
) -> dict[str, list[Line | None]]:
    """How each size varies, by path.

    Args:
        base: the shapes in each of the component's calls, in order.
        more_rows: those in its first call of a run with one more row.
        longer: those in its first call of a run whose prompt is one longer.

    Returns:
        Per path a Line per dim; None for a size that is not such a sum.
    """
    groups: dict[str, list[Line | None]] = {}
    for path, sizes in base[0].items():
        rows, long = (other.get(path, sizes) if other else sizes for other in (more_rows, longer))
        steps = [groups[path] for groups in base if path in groups]
        ranks = {len(numbers) for numbers in (rows, long, *steps)}
        if ranks != {len(sizes)}:
            groups[path] = [None] * len(sizes)
            continue
        groups[path] = [
            _line(size, rows[dim], long[dim], [step[dim] for step in steps])
            for dim, size in enumerate(sizes)
        ]
    return groups


def _line(size: int, rows: int, long: int, steps: Sequence[int]) -> Line | None:
    growth = {after - before for before, after in pairwise(steps)}
    if len(growth) > 1:
        return None
    line = Line(rows - size, long - size, next(iter(growth), 0))
    if min(line) < 0 or (line.batch and (line.prompt or line.step)):
        return None  # a product of both, or something that shrinks
    return line


def shapes_of_call(
    sizes: Sizes,
    known: Mapping[str, Sequence[Line | None]],
    batch: int,
    bounds: Mapping[str, Bounds],
    automatic: bool = False,
) -> Shapes | None:
    """The dynamic shapes of a call; None where no size varies.

    Args:
        sizes: the shapes of the example.
        known: how each varies.
        batch: the rows of the example.
        bounds: of names of sizes.
        automatic: leave every size that varies to torch, within what the bounds make of it.
    """
    entries = [
        f"{path}: {', '.join(dims)}"
        for path, dims in _dims(sizes, known, batch).items()
        if any(dim != "_" for dim in dims)
    ]
    leaves = Shapes.parse("; ".join(entries)).leaves
    if automatic:
        leaves = {
            path: tuple(_automatic(dim, bounds) for dim in dims) for path, dims in leaves.items()
        }
    return Shapes(leaves, bounds) if leaves else None


def _automatic(dim: Spec, bounds: Mapping[str, Bounds]) -> Spec:
    """A dim that torch decides about, where it has a name."""
    if not isinstance(dim, Named):
        return dim
    each = bounds.get(dim.name, Bounds())
    low, high = (None if end is None else max(dim.scale * end + dim.offset, 0) for end in each)
    return Auto(low, high)


def equal_dims(
    sizes: Sizes, known: Mapping[str, Sequence[Line | None]], batch: int
) -> list[list[tuple[str, int]]]:
    """Paths and dims whose sizes are one symbol, per symbol that several have.

    Args:
        sizes: the shapes of the example.
        known: how each varies.
        batch: the rows of the example.
    """
    groups: dict[str, list[tuple[str, int]]] = {}
    for path, dims in _dims(sizes, known, batch).items():
        for number, dim in enumerate(dims):
            if dim.isidentifier() and dim != "_":
                groups.setdefault(dim, []).append((path, number))
    return [members for members in groups.values() if len(members) > 1]


def _dims(
    sizes: Sizes, known: Mapping[str, Sequence[Line | None]], batch: int
) -> dict[str, list[str]]:
    """Per path what the short language says of each dim."""
    bases = _bases(sizes, known)
    return {
        path: [
            _dim(size, line, batch, bases)
            for size, line in zip(
                numbers, known.get(path, [Line(0, 0, 0)] * len(numbers)), strict=True
            )
        ]
        for path, numbers in sizes.items()
    }


def _bases(sizes: Sizes, known: Mapping[str, Sequence[Line | None]]) -> dict[tuple[int, int], int]:
    """Per kind of growth, the value of its symbol: the smallest size that grows so."""
    result: dict[tuple[int, int], int] = {}
    for path, numbers in sizes.items():
        for size, line in zip(numbers, known.get(path, ()), strict=False):
            if line is not None and not line.batch and (line.prompt or line.step):
                scale = max(line.prompt, line.step)
                if {line.prompt, line.step} <= {0, scale} and scale == 1:
                    kind = line.prompt, line.step
                    result[kind] = min(size, result.get(kind, size))
    return result


def _dim(
    size: int,
    line: Line | None,
    batch: int,
    bases: Mapping[tuple[int, int], int],
) -> str:
    if line is not None and not any(line):
        return "_"
    if line is None:
        return "*"
    if line.batch:
        return _text(line.batch, "batch", size - line.batch * batch)
    scale = max(line.prompt, line.step)
    kind = line.prompt // scale, line.step // scale
    name, base = NAMES.get(kind), bases.get(kind)
    if name is None or base is None or {line.prompt, line.step} - {0, scale}:
        return "*"
    return _text(scale, name, size - scale * base)


def _text(scale: int, name: str, offset: int) -> str:
    product = f"{scale}*{name}" if scale > 1 else name
    if not offset:
        return product
    return f"{product} {'+' if offset > 0 else '-'} {abs(offset)}"
