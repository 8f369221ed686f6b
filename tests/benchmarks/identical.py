"""Whether programs that a diff calls identical are: 5,000 random edits, held to runs.

Each program is compared in memory, with its `.pt2` file, and at random as a golden file and in a
set; as traced and as decomposed. With SEEDS=13000 in the environment, the programs are those of
seeds from there on.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path

from ..claims.edit_counts import EditCounts, count_edits
from .sampling import sampled
from .table import Row

EDITS = 5000
_OF_A_PROGRAM = 50


def run() -> list[Row]:
    """The table's rows."""
    first = int(os.environ.get("SEEDS", "0"))
    wanted, _ = sampled(range(EDITS))
    counts = EditCounts()
    for seed in itertools.count(first):
        if counts.edits >= len(wanted):
            break
        with tempfile.TemporaryDirectory() as folder:
            count_edits([seed], _OF_A_PROGRAM, Path(folder), into=counts)
    programs = f"{seed - first} random programs, from seed {first}"
    said = "; ".join(counts.wrong[:5]) or "none"
    return [
        Row(
            f"{counts.edits:,} random edits of {programs}",
            "called identical though they change outputs, state or sizes",
            len(counts.called_identical),
            "edits",
            most=0,
            means=f"of {counts.changing:,} that do; {said}",
        ),
        Row(
            f"{counts.copies:,} comparisons with copies of {programs}",
            "renamed, reordered and saved copies called different",
            len(counts.called_different),
            "comparisons",
            most=0,
            means=f"{'; '.join(counts.called_different[:5]) or 'none'}",
        ),
        Row(
            f"{counts.edits:,} random edits of {programs}",
            "seconds",
            counts.seconds,
            "s",
            most=900,
            means="of one process",
        ),
    ]
