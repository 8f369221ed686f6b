"""How right a diff is, and how its cost grows: known edits, origins of core ops, long programs.

The edits and the truth about them are those of the tests (`tests/known_edits.py`). Long programs
are Llamas as traced beside the same decomposed, the largest of 20,000 ops.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from export_engine.attempt import DecompositionTable, Exported
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.diff import diff_records
from export_engine.record import Record
from export_engine.transform import decompose

from ..known_edits import EDITS, PLACELESS, PLACES, PROGRAMS, Edit, Score, scored
from ..models import CASES, llama
from .export_cost import request_of
from .table import Row
from .timing import seconds

LAYERS = (32, 170)
"""Of Llama; as Core ATen they are programs of about 4,000 and 20,000 ops."""
LEAST = 0.99
TIED = {
    "bert2": "core",
    "gpt2_12": "core -scaled_dot_product_attention",  # torch 2.13 cannot take that one apart
    "llama32": "core",
}


def run() -> list[Row]:
    """The table's rows."""
    return [*_edits(), *_origins(), *_growth()]


def _edits() -> Iterable[Row]:
    """Precision and recall of the ops that a diff calls changed, new or gone."""
    changing = [edit for edit in EDITS if not edit.same]
    total = _sum(_scores(changing))
    of = f"{total.wanted} changed ops of {len(PROGRAMS)} programs"
    yield Row(
        of,
        "precision of a diff",
        total.right / max(total.said, 1),
        "share",
        least=LEAST,
        means="of the ops that it says differ, those that were edited",
    )
    yield Row(
        of,
        "recall of a diff",
        total.right / max(total.wanted, 1),
        "share",
        least=LEAST,
        means="of the ops that were edited, those that it says differ",
    )
    same = list(_scores(edit for edit in EDITS if edit.same))
    yield Row(
        f"{len(same)} renames and reorders",
        "with no difference said",
        sum(score.said == 0 for score in same) / len(same),
        "share",
        least=1,
        means="names, and the order of independent ops, are no difference",
    )


def _scores(edits: Iterable[Edit]) -> Iterable[Score]:
    for edit in edits:
        for name in PROGRAMS:
            for place in range(PLACES):
                found = scored(name, edit, place) if (name, edit.name) not in PLACELESS else None
                if found is not None:
                    yield found[0]


def _sum(scores: Iterable[Score]) -> Score:
    return Score(*(sum(column) for column in zip(*scores, strict=True)))


def _origins() -> Iterable[Row]:
    """Ops of decomposed programs that know no op they come from."""
    for name, table in TIED.items():
        attempt = capture(request_of(CASES[name]()))
        assert isinstance(attempt, Exported)
        made = decompose(attempt, DecompositionTable.parse(table))
        assert made.level is not None
        origins = made.level.origins.values()
        surely = sum(origin.how == "provenance" for origin in origins)
        of = f"{name}, {table}, {len(origins):,} ops"
        yield Row(
            of,
            "core ops without an origin",
            len(made.level.untied),
            "ops",
            most=0,
            means="ops of the decomposed program that lead back to no op as traced",
        )
        yield Row(
            of,
            "origins by torch's own provenance",
            surely / max(len(origins), 1),
            "share",
            means="the others are found by stack, scope and order",
        )


def _growth() -> Iterable[Row]:
    """Seconds of a diff, by ops; each program as traced beside itself decomposed."""
    ops, spent = [], []
    for layers in LAYERS:
        levels = _levels(layers)
        taken, _ = seconds(lambda levels=levels: diff_records(*levels), rounds=5)
        ops.append(len(levels[1].graphs[0].name))
        spent.append(taken)
    for index, budget in ((0, 1.0), (-1, 6.0)):
        yield Row(
            f"llama, {LAYERS[index]} layers, {ops[index]:,} ops",
            "diff beside Core ATen",
            spent[index],
            "s",
            most=budget,
            means="how long Compare takes in the kernel",
        )
    x, y = [[math.log(value) for value in column] for column in (ops, spent)]
    yield Row(
        f"llama, {LAYERS[0]} to {LAYERS[-1]} layers",
        "growth of a diff",
        statistics.linear_regression(x, y).slope,
        "exponent",
        means="near 1: twice the ops take twice the time",
    )


def _levels(layers: int) -> tuple[Record, Record]:
    attempt = capture(request_of(llama(layers)))
    assert isinstance(attempt, Exported)
    return describe(attempt), describe(decompose(attempt, DecompositionTable.parse("core")))
