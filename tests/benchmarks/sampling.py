"""With EVERY=4 in the environment, the two longest benchmarks try one of four cases, and say so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

_Case = TypeVar("_Case")


def sampled(cases: Sequence[_Case]) -> tuple[list[_Case], int]:
    """The cases to try, from the first on, and of how many each is one.

    Raises:
        ValueError: EVERY is no number from 1 on.
    """
    said = os.environ.get("EVERY", "1")
    if not said.isdecimal() or int(said) < 1:
        raise ValueError(f"EVERY={said}: it says of how many cases one is tried, say EVERY=4")
    return [*cases[:: int(said)]], int(said)
