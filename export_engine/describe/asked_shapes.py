"""The shapes that a Request asks for, whichever form they were given in."""

from __future__ import annotations

from typing import Any

from export_engine.attempt import Request
from export_engine.shapes import Shapes, ShapesError


def as_shapes(request: Request, asked: Any) -> Shapes | None:
    """Shapes for the call of a Request; None where nothing was asked, or torch rejects it, too."""
    if asked is None or isinstance(asked, Shapes):
        return asked
    try:
        return Shapes.from_torch(asked, request.target, request.args, request.kwargs)
    except ShapesError:  # torch's error says why
        return None
