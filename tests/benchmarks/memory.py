"""What stays in memory: of a cell that is run again, of a deleted Exploration, of cleared outputs.

Resident memory of this process, after a collection. A cell is run as the magics run it: what it
showed before is not seen any more.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import psutil
import torch
from torch import nn

import explorer
from explorer.display import widget as session_widget

from .table import Row

MEGABYTES = 50
RUNS = 50
FAILING_RUNS = 10
WARM_UP = 3
"""Runs before the first figure: torch imports, compiles and caches a lot at first."""


class Heavy(nn.Module):
    """One weight of so many megabytes, and some ops."""

    def __init__(self, megabytes: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(megabytes << 18))
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x).relu() + self.weight[:4]


class Failing(Heavy):
    """Branches on data."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) if x.sum() > 0 else x


def run() -> list[Row]:
    """Megabytes and objects that stay."""
    name = f"a model of {MEGABYTES} MB"
    return [
        Row(
            name,
            f"memory after {RUNS} runs of its cell",
            grown(Heavy, RUNS, MEGABYTES),
            "MB",
            most=100,
            means="what a notebook grows by, whose cell is run again and again",
        ),
        Row(
            f"{name} that does not export",
            f"memory after {FAILING_RUNS} runs of its cell",
            grown(Failing, FAILING_RUNS, MEGABYTES),
            "MB",
            most=100,
            means="the same of a failure, whose traceback held the model",
        ),
        Row(
            name,
            "models alive after their Explorations",
            sum(alive_after(kind) for kind in (Heavy, Failing)),
            most=0,
            means="`del ex` frees the model, whether or not it exported",
        ),
        Row(
            name,
            "sessions alive after their outputs",
            sessions_after_clearing(3),
            most=0,
            means="an output that is cleared lets go of what it showed",
        ),
    ]


def grown(kind: type[Heavy], runs: int, megabytes: int) -> float:
    """Megabytes that the process has more after `runs` runs of a cell than after the first few."""
    for _ in range(WARM_UP):
        _run_cell(kind, megabytes)
    before = _resident()
    for _ in range(runs):
        _run_cell(kind, megabytes)
    return _resident() - before


def alive_after(kind: type[Heavy]) -> int:
    """How many models are alive after the only Exploration of one was deleted: 0 or 1."""
    model = kind(1)
    known = weakref.ref(model)
    ex = explorer.explore(model, (torch.ones(4, 4),))
    repr(ex)
    del ex, model
    gc.collect()
    return int(known() is not None)


def sessions_after_clearing(count: int) -> int:
    """How many sessions are alive once the outputs that showed them were closed."""
    known = []
    for number in range(count):
        session_widget.begin_cell(f"cell {number}")
        ex = explorer.explore(Heavy(1), (torch.ones(4, 4),))
        known.append(weakref.ref(ex.session))
        shown: Any = _shown(ex)
        shown._handle_custom_msg({"ask": "opened", "view": "1", "page": "page"}, [])
        shown._handle_custom_msg({"ask": "closed", "view": "1", "page": "page"}, [])
        del ex, shown
    gc.collect()
    return sum(each() is not None for each in known)


def _run_cell(kind: type[Heavy], megabytes: int) -> None:
    """A cell that makes a model, exports it and shows the view."""
    session_widget.begin_cell("the cell")
    _shown(explorer.explore(kind(megabytes), (torch.ones(4, 4),)))


def _shown(ex: explorer.Exploration) -> Any:
    """Its widget, as it is displayed."""
    ex._repr_mimebundle_()
    return session_widget._followings[-1].widget


def _resident() -> float:
    """Megabytes."""
    gc.collect()
    return float(psutil.Process().memory_info().rss) / 2**20
