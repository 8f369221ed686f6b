"""A backend is called only with what the program accepts."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.session.session import FixError
from export_engine.run import backend_registry
from export_engine.run.backend import Job, Ready


class Reckless:
    """A backend that calls whatever it is given, and notes that it did."""

    name = "reckless"
    title = "reckless backend"
    calls = 0

    def missing(self, device: str) -> str | None:
        return None

    def prepare(self, job: Job) -> Ready:
        def call() -> Any:
            Reckless.calls += 1
            return torch.zeros(2, 2)

        return Ready(call=call)

    def load(self, job: Job) -> Any:
        return self.prepare(job).call

    def without_values(self) -> str | None:
        return None

    def values(self, job: Job, space: int) -> dict[str, torch.Tensor]:
        Reckless.calls += 1
        return {}


@pytest.fixture(autouse=True)
def reckless(monkeypatch: pytest.MonkeyPatch) -> None:
    Reckless.calls = 0
    monkeypatch.setattr(backend_registry, "BUILT_IN", (*backend_registry.BUILT_IN, Reckless))


class Adds(nn.Module):
    def forward(
        self, x: torch.Tensor, pair: tuple[torch.Tensor, torch.Tensor], scale: float = 2.0
    ) -> torch.Tensor:
        one, other = pair
        return x * scale + one @ other


def row_of(ex: explorer.Exploration, inputs: Any) -> Any:
    (row,) = ex.run(backend="reckless", inputs=inputs).rows
    return row


SQUARE = (torch.ones(2, 3), torch.ones(3, 2))


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ((torch.ones(3, 2), SQUARE), "x.shape[0] is 3, but the program requires x.shape[0] == 2"),
        ((torch.ones(2), SQUARE), "`x` has 1 dims, but the program accepts 2"),
        ((torch.ones(2, 2).double(), SQUARE), "`x` has float64, but the program accepts float32"),
        ((torch.ones(2, 2, dtype=torch.int64), SQUARE), "`x` has int64"),
        (
            (torch.ones(2, 2).to_sparse(), SQUARE),
            "`x` is sparse_coo, but the program accepts strided",
        ),
        ((1.5, SQUARE), "`x` is 1.5, but the program accepts a tensor"),
        ((torch.ones(2, 2), (SQUARE[0],)), "they are 3 values"),
        ({"pair.1": torch.ones(4, 2)}, "pair.1.shape[0] is 4"),
        ({"scale": 3.0}, "`scale` is 3.0, but the program has the constant 2.0"),
    ],
)
def test_what_the_program_does_not_take_reaches_no_backend(inputs: Any, said: str) -> None:
    ex = explorer.explore(Adds(), (torch.ones(2, 2), SQUARE), {"scale": 2.0})

    row = row_of(ex, inputs)

    assert row.outcome == "refused", row
    assert said in row.sentence
    assert Reckless.calls == 0
    assert "✓" not in str(ex.run(backend="reckless", inputs=inputs))
    assert ex.release_report().verdict != "ready"


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (torch.ones(9, 4), "rows (input.shape[0]) is 9, but the program requires rows <= 8"),
        (torch.ones(3, 5), "input.shape[1] is 5, but the program requires input.shape[1] == 4"),
    ],
)
def test_a_range_is_asked_first(x: torch.Tensor, said: str) -> None:
    ex = explorer.explore(
        nn.Linear(4, 2), (torch.ones(4, 4),), dynamic_shapes="input: rows[2..8], _"
    )

    row = row_of(ex, (x,))

    assert row.outcome == "refused", row
    assert said in row.sentence
    assert Reckless.calls == 0


class Halves(nn.Module):
    """A guard of the code, that no range tells."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] % 2 == 0:
            return x.view(2, -1).sum(0)
        return x.sum(0)


class Positive(nn.Module):
    """A condition on values."""

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        count = n.item()
        torch._check(count > 0)
        torch._check(count <= 4)
        return x.narrow(0, 0, count).sum()


def test_a_guard_of_the_code_is_asked_first() -> None:
    ex = explorer.explore(
        Halves(), (torch.ones(4),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)
    )
    assert ex.ok, ex

    row = row_of(ex, (torch.ones(7),))

    assert row.outcome == "refused", row
    assert "x.shape[0] is 7" in row.sentence
    assert Reckless.calls == 0


def test_a_condition_on_values_is_asked_first() -> None:
    ex = explorer.explore(Positive(), (torch.ones(4), torch.tensor(2)))
    assert ex.ok, ex

    row = row_of(ex, (torch.ones(4), torch.tensor(9)))

    assert row.outcome == "failed", row
    assert row.sentence.startswith("The model itself fails with these inputs")
    assert Reckless.calls == 0


def test_values_of_a_backend_are_asked_of_no_other_inputs() -> None:
    ex = explorer.explore(nn.Linear(3, 2), (torch.ones(4, 3),))

    with pytest.raises(FixError, match=r"input\.shape\[0\] is 2|rejects these inputs"):
        ex.compare("reckless", inputs=(torch.ones(2, 3),))
    with pytest.raises(FixError, match=r"rejects these inputs: input\.shape\[0\] is 2"):
        ex.cost().measure(inputs=(torch.ones(2, 3),))
    with pytest.raises(FixError, match=r"rejects these inputs: input\.shape\[0\] is 2"):
        ex.record_values(inputs=(torch.ones(2, 3),))
    with pytest.raises(FixError, match=r"rejects these inputs: input\.shape\[0\] is 2"):
        ex.compare(inputs=(torch.ones(2, 3),))
    with pytest.raises(FixError, match=r"rejects these inputs: .*float64"):
        ex.record_values(inputs=(torch.ones(4, 3, dtype=torch.float64),))

    assert Reckless.calls == 0


def test_inputs_that_it_takes_are_run() -> None:
    ex = explorer.explore(Adds(), (torch.ones(2, 2), SQUARE), {"scale": 2.0})

    row = row_of(ex, (torch.rand(2, 2), SQUARE))

    assert row.outcome == "differs"
    assert Reckless.calls > 0


@pytest.mark.slow
def test_aot_inductor_of_four_rows_is_not_called_with_two() -> None:
    """It does not look: the row was a tick, or off by 0.1."""
    ex = explorer.explore(nn.Linear(3, 2).eval(), (torch.randn(4, 3),))

    runs = ex.run(backend=["aoti", "program"], inputs=(torch.ones(2, 3),))

    assert [row.outcome for row in runs.rows] == ["refused", "refused"]
    assert "input.shape[0] is 2, but the program requires input.shape[0] == 4" in str(runs)
    assert not runs.ok
