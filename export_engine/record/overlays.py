"""Numbers, texts or colours that a user laid over the nodes of a program."""

from __future__ import annotations

from typing import Literal

import msgspec


class Overlay(msgspec.Struct, frozen=True, kw_only=True):
    """One entry per node that has something; `numbers` or `texts` has its value."""

    name: str
    kind: Literal["number", "text", "colour"]
    """`number`: coloured by it. `text`: shown unchanged. `colour`: `#rrggbb`, of the whole box."""
    graphs: list[int]
    nodes: list[int]
    numbers: list[float] = []
    texts: list[str] = []
