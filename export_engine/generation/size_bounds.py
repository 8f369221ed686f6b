"""Bounds that a user gives for the sizes that a cut names: batch, prompt, past, step.

A backend that plans memory before it runs, as ExecuTorch does, needs an upper bound of each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from export_engine.shapes import Bounds, Named, Shapes, ShapesError

_LEAF = "sizes: "
"""The prefix of dims in the short language."""
_LARGEST = 2**31
"""More rows or tokens than a call has."""


def bounds_of(text: str) -> dict[str, Bounds]:
    """The bounds in a text such as `batch[..4], prompt[..64], past[..128]`.

    Raises:
        ShapesError: the text does not follow the short language; the error points at the column.
    """
    if not text.strip():
        return {}
    try:
        shapes = Shapes.parse(_LEAF + text)
    except ShapesError as error:
        column = None if error.column is None else max(error.column - len(_LEAF), 0)
        raise ShapesError(error.message, text, column) from None
    without = [name for name in shapes.dims() if name not in shapes.bounds]
    if without or not shapes.bounds or list(shapes.leaves) != [_LEAF.rstrip(": ")]:
        raise ShapesError(
            f"{text!r} is not a list of bounds. Write names with bounds: batch[..4], prompt[..64]."
        )
    return dict(shapes.bounds)


def check_names(bounds: Collection[str], shapes: Collection[Shapes | None]) -> None:
    """Checks that each name is one of a size that varies.

    Args:
        bounds: the names that bounds are given for.
        shapes: of the calls that are to be exported.

    Raises:
        ShapesError: a name is not.
    """
    entries = dict.fromkeys(name for shape in shapes if shape for name in shape.dims())
    for name in bounds:
        if name not in entries:
            raise ShapesError(
                f"There is no dynamic size {name}. The dynamic sizes are {', '.join(entries)}."
                if entries
                else f"There is no dynamic size {name}: every size is static."
            )


def with_ends(shapes: Shapes | None) -> Shapes | None:
    """The shapes with an upper bound for each size of which there are multiples; None without one.

    Where a multiple of a size has no end, torch may compute one beyond its largest integer, and
    fail by that (`tgt_bound=… not a subset of src_bound=…`).
    """
    if shapes is None:
        return None
    dims = [dim for leaf in shapes.leaves.values() for dim in leaf]
    names = {dim.name for dim in dims if isinstance(dim, Named) and dim.scale > 1}
    open_ = {name: shapes.bounds.get(name, Bounds()) for name in sorted(names)}
    ends = {
        name: Bounds(bounds.low, _LARGEST) for name, bounds in open_.items() if bounds.high is None
    }
    return Shapes(shapes.leaves, {**shapes.bounds, **ends}) if ends else None


def clip(size: int, bounds: Bounds) -> int:
    """A size, or the nearest within bounds."""
    low, high = bounds
    return max(size if high is None else min(size, high), low or 0)


def longest_prompt(bounds: Mapping[str, Bounds], tokens: int) -> Bounds:
    """The bounds of a prompt after which so many tokens can be generated."""
    low, high = bounds.get("prompt", Bounds())
    past = bounds.get("past", Bounds()).high
    if past is not None:  # the last call is given all tokens but the last two
        fits = max(past - tokens + 2, low or 1)
        high = fits if high is None else min(high, fits)
    return Bounds(low, high)
