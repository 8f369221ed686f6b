"""The fix that is always there: sizes that are made static, at those of the example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from export_engine.attempt import Fix
from export_engine.shapes import Shapes
from export_engine.source import Stack


def make_static(
    before: Shapes,
    about: Iterable[tuple[str, int]],
    names: Sequence[str],
    *,
    why: str,
    gives_up: str,
    stack: Stack = (),
) -> Fix:
    """Makes sizes static.

    Args:
        before: the shapes.
        about: the places of the sizes: paths, and positions in them.
        names: of the sizes; one may be there several times.
        why: what that is good for.
        gives_up: what the program then does not do.
        stack: the line that checks for it, if there is one.
    """
    shapes = before.static(set(about))
    return Fix(
        kind="shapes",
        title=f"Keep {', '.join(dict.fromkeys(names))} at the size of the example",
        why=why,
        lossy=True,
        gives_up=gives_up,
        change=lambda request: request.with_changes(shapes=shapes),
        before=str(before),
        after=str(shapes),
        stack=stack,
    )
