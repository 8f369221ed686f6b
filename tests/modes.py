"""Slow tests that are tried strict and not: `make test` runs each in one of the two modes.

The cases of a test take turns, so about half of them are strict; the others are of
`make test-thorough`.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence

import pytest

CHOICES = ("both", "one", "other")


def left_out(items: Sequence[pytest.Item], choice: str) -> list[pytest.Item]:
    """The tests that are not to be run.

    Args:
        items: what was collected.
        choice: `both` leaves none out; `one` leaves one of each pair out; `other` leaves out all
            but those.
    """
    tried: defaultdict[str, dict[tuple[object, ...], dict[bool, pytest.Item]]] = defaultdict(dict)
    for item in items:
        call = getattr(item, "callspec", None)
        if call is None or item.get_closest_marker("slow") is None:
            continue
        strict = call.params.get("strict")
        if isinstance(strict, bool):
            case = tuple(id(each) for name, each in call.params.items() if name != "strict")
            tried[item.nodeid.partition("[")[0]].setdefault(case, {})[strict] = item
    out = []
    for name, cases in tried.items():
        for number, pair in enumerate(cases.values(), zlib.crc32(name.encode())):
            out += [pair[bool(number % 2)]] if len(pair) == 2 else []
    if choice == "other":
        others_run = {id(each) for each in out}
        return [each for each in items if id(each) not in others_run]
    return out if choice == "one" else []
