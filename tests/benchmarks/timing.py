"""How long calls take, and two of them beside each other."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

_DEEPER = 13
"""Frames by which the stack is deeper in each round.

Python keeps frames in chunks of 16 KiB. A loop whose calls cross the end of one gets memory and
frees it each time, and is a fifth slower: at how deep a stack is chance, so several are tried.
"""


def seconds(call: Callable[[], Any], rounds: int = 1, deeper: int = 0) -> tuple[float, Any]:
    """The fastest of some calls, and what the last returned.

    Args:
        call: what is timed.
        rounds: how often.
        deeper: from how many more frames.
    """
    if deeper:
        return seconds(call, rounds, deeper - 1)
    best = float("inf")
    value = None
    for _ in range(rounds):
        gc.collect()
        started = time.perf_counter()
        value = call()
        best = min(best, time.perf_counter() - started)
    return best, value


def in_turn(
    bare: Callable[[], Any], ours: Callable[[], Any], rounds: int
) -> list[tuple[float, float]]:
    """Seconds of both in each round, so that a drifting machine slows both.

    Who goes first alternates, since the second finds the machine warmer and the garbage of the
    first. Each is called once before: first calls import and compile.
    """
    bare(), ours()
    pairs = []
    for number in range(rounds):
        taken = {}
        for call in (ours, bare) if number % 2 else (bare, ours):
            taken[call] = seconds(call, deeper=number * _DEEPER)[0]
        pairs.append((taken[bare], taken[ours]))
    return pairs
