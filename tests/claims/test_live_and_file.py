"""A program in memory and the file that torch saves of it have the same Record, in both modes.

The programs are torch's own samples of its ops and higher-order ops, and ours of `saved_programs`.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from export_engine.archive import read
from export_engine.archive.same_program import find_difference
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.shapes import Shapes

from .saved_programs import OWN

MOST_LEFT_OUT = 0.2
"""Of all programs, those that do not export here or that torch cannot save."""


class Called(torch.nn.Module):
    """A module that calls an op."""

    def __init__(self, op: Callable[..., Any]) -> None:
        super().__init__()
        self.op = op

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)


def ops(collection: str) -> Iterator[tuple[str, Request]]:
    """A sample of each op of torch's test collections."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        name = "common_methods_invocations" if collection == "op_db" else collection
        module = pytest.importorskip(
            f"torch.testing._internal.{name}", reason="torch lacks its samples of ops"
        )
    for op in {each.name: each for each in getattr(module, collection)}.values():
        try:
            sample = next(iter(op.sample_inputs("cpu", torch.float32, requires_grad=False)))
        except Exception:  # noqa: BLE001 - torch has no sample for this machine
            continue
        args = (sample.input, *sample.args)
        yield op.name, Request(target=Called(op.op), args=args, kwargs=sample.kwargs)


def own() -> Iterator[tuple[str, Request]]:
    """Ours."""
    for each in OWN:
        args, kwargs = each.call()
        shapes = Shapes.parse(each.shapes) if isinstance(each.shapes, str) else each.shapes
        yield (
            each.name,
            Request(target=each.target(), args=args, kwargs=kwargs, dynamic_shapes=shapes),
        )


COLLECTIONS: dict[str, Callable[[], Iterator[tuple[str, Request]]]] = {
    "own": own,
    "hop_db": lambda: ops("hop_db"),
    "op_db": lambda: ops("op_db"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("collection", "every"), [("own", 1), ("hop_db", 1), ("op_db", 4)])
def test_a_file_has_the_record_of_its_program(
    collection: str, every: int, strict: bool, tmp_path: Path
) -> None:
    counts: Counter[str] = Counter()
    for name, request in [*COLLECTIONS[collection]()][::every]:
        found = _difference(request.with_changes(strict=strict), tmp_path / "x.pt2")
        counts["left out" if found is None else "same" if not found else "differs"] += 1
        assert not found, f"{name}: {found}"
    assert counts["same"] > 0
    assert counts["left out"] <= max(12, MOST_LEFT_OUT * counts.total()), counts


def _difference(request: Request, file: Path) -> str | None:
    """What differs, empty if nothing does; None where there is nothing to compare."""
    attempt = capture(request)
    if not isinstance(attempt, Exported):
        return None
    try:
        torch.export.save(attempt.program, file)
    except Exception:  # noqa: BLE001 - torch says what it cannot save in many ways
        return None
    nameless: dict[str, Any] = {"request": request.with_changes(shapes=None)}  # as in the file
    return find_difference(read(file).record, describe(dataclasses.replace(attempt, **nameless)))
