"""What the tour says of its cells is what they show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from export_engine.attempt import Kind
from tests.kernel_ext.cells import own_shell, run

TOUR = Path(__file__).parents[2] / "notebooks" / "00_tour.ipynb"


class Shown(dict[str, str]):
    """What each cell showed, by its source; and what names stood for at the end."""

    names: dict[str, Any]
    exports: dict[str, Any]
    """`_export` after each cell."""


@pytest.fixture(scope="module")
def tour() -> Iterator[Shown]:
    cells = json.loads(TOUR.read_text(encoding="utf-8"))["cells"]
    shown = Shown()
    with own_shell() as shell:
        shown.names, shown.exports = shell.user_ns, {}
        for cell in cells:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                result, shown[source] = run(shell, source)
                assert result.success, source
                shown.exports[source] = shell.user_ns.get("_export")
        yield shown


def after(shown: Shown, line: str) -> Any:
    """The result of the one cell that begins so."""
    (source,) = [each for each in shown.exports if each.startswith(line)]
    return shown.exports[source]


@pytest.mark.slow
def test_the_first_export_has_three_ops_and_its_weights_are_inputs(tour: Shown) -> None:
    record = after(tour, "%export model(x, y)").record
    assert record.verdict == "exported, non-strict, 3 ops"
    held = [entry.target for entry in record.signature.inputs if entry.kind == "parameter"]
    assert held == ["lin.weight", "lin.bias"]


@pytest.mark.slow
def test_sizes_branches_and_modes_are_as_told(tour: Shown) -> None:
    assert "batch in [2, 64]" in tour.names["dynamic"].record.verdict
    gate = after(tour, '%export -d "x: batch, _" gate(rows)').record
    assert len(gate.graphs) == 3  # the program's own, and one a branch
    both = after(tour, "%export --both checked(x)").attempts
    assert len({attempt.mode for attempt in both}) == 2
    assert len([attempt for attempt in both if hasattr(attempt, "program")]) == 1


@pytest.mark.slow
def test_failures_are_explained_and_mended_as_told(tour: Shown) -> None:
    limited = tour.names["limited"]
    assert not limited.ok
    assert any(not fix.lossy for fix in limited.fixes)
    assert tour.names["decided"].ok
    assert "torch.where" in next(iter(tour.names["decided"].session.fixed_source.values()))


@pytest.mark.slow
def test_what_is_wrong_with_a_success_is_found(tour: Shown) -> None:
    found = {finding.kind: finding for finding in tour.names["signed"].findings}
    assert {Kind.BAKED_VALUE, Kind.TRAINING_MODE} <= {*found}
    assert all(finding.stack for finding in found.values())
    refused = tour.names["signed"].accepts(**{"x.shape[0]": 17})
    assert refused.verdict == "refused"
    assert refused.broken
    assert "guarantees hold" in next(text for each, text in tour.items() if "--verify" in each)
    assert tour.names["gated"].accepts(batch=100).verdict == "accepted"
