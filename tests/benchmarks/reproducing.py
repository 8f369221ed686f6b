"""How many lines the scripts have that `ex.reproduce()` makes of the failing seed cases.

Each is proved in a fresh process to fail with the same code and the same class of exception. With
EVERY=4 in the environment, only one case of four is tried, and the table says so.
"""

from __future__ import annotations

import statistics

from export_engine.reproduce import NotReproduced, reproduce

from ..seed_cases import attempted, seed_cases
from .sampling import sampled
from .table import Row

_SECONDS = 60.0


def run() -> list[Row]:
    """The table's rows: one a case and mode, and what all of them come to."""
    wanted = [(each, strict) for strict in (False, True) for each in seed_cases()]
    failing, every = sampled([(each.name, strict) for each, strict in wanted if each.kind(strict)])
    lines = {}
    for name, strict in failing:
        try:
            lines[name, strict] = reproduce(attempted(name, strict), _SECONDS).lines
        except NotReproduced:
            continue
    rows = [
        Row(
            name,
            "strict" if strict else "non-strict",
            count,
            "lines",
            means="of the script that fails the same in a fresh process",
        )
        for (name, strict), count in lines.items()
    ]
    made = 100 * len(lines) / len(failing)
    of = "failing seed cases" if every == 1 else f"one of {every} failing seed cases"
    return [
        *rows,
        Row(
            of,
            "median",
            statistics.median(lines.values()) if lines else 0,
            "lines",
            most=30,
            means="of the scripts",
        ),
        Row(
            of,
            "reproduced",
            made,
            "%",
            least=100,
            means="have a script that fails with the same code and class of error",
        ),
    ]
