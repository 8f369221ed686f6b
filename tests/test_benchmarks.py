"""The benchmarks' table: one row a figure, and a row for each benchmark that came to nothing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from tests.benchmarks import fixing
from tests.benchmarks.__main__ import BENCHMARKS, main
from tests.benchmarks.measuring import measured
from tests.benchmarks.sampling import sampled
from tests.benchmarks.table import Row, as_text
from tests.benchmarks.zoo import Model

FOLDER = Path(__file__).parent / "benchmarks"
NO_BENCHMARKS = {
    "__init__",
    "__main__",
    "experts",
    "grown",
    "large_page",
    "measuring",
    "removed_causes",
    "sampling",
    "table",
    "timing",
}
GOOD = """
from tests.benchmarks.table import Row
def run():
    return [Row("a page", "painting", 12.5, "ms", most=500, means="until it is seen")]
"""
RAISES = "def run():\n    raise ValueError('no\\n  browser')\n"
DIES = "import os\ndef run():\n    os._exit(11)\n"


@pytest.mark.slow
def test_a_benchmark_that_fails_or_dies_is_a_row_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "figures"
    folder.mkdir()
    for name, text in {"__init__": "", "good": GOOD, "raises": RAISES, "dies": DIES}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    rows = measured(["raises", "dies", "missing", "good"], package="figures")

    assert [row.verdict for row in rows] == ["failed", "failed", "failed", "ok"]
    assert [row.subject for row in rows] == ["raises", "dies", "missing", "a page"]
    assert rows[0].means == "ValueError: no browser"
    assert "BrokenProcessPool" in rows[1].means
    assert "No module named 'figures.missing'" in rows[2].means
    assert "in run" in capfd.readouterr().err  # where it failed is said while it runs


def test_a_row_has_its_figure_its_unit_its_budget_and_what_it_means() -> None:
    rows = [
        Row("a page", "painting", 12.5, "ms", most=500, means="until it is seen"),
        Row("a page", "panning", 40, "frames/s", least=50, means="how smooth it is"),
        Row("a model", "ops", 123456.0, "ops", means="how many there are"),
    ]

    head, rule, *lines = as_text(rows).splitlines()

    assert " ".join(head.split()) == "of name figure unit budget what it means"
    assert set(rule) == {"-", " "}
    assert [" ".join(line.split()) for line in lines] == [
        "a page painting 12.5 ms at most 500 ok until it is seen",
        "a page panning 40 frames/s at least 50 over how smooth it is",
        "a model ops 123,456 ops how many there are",
    ]


def test_every_benchmark_is_run_by_make_bench() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*BENCHMARKS} | NO_BENCHMARKS


def test_the_longest_try_a_sample_where_every_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVERY", raising=False)
    assert sampled("abcdefg") == ([*"abcdefg"], 1)
    monkeypatch.setenv("EVERY", "3")
    assert sampled("abcdefg") == (["a", "d", "g"], 3)
    for said in ("0", "-1", "few"):
        monkeypatch.setenv("EVERY", said)
        with pytest.raises(ValueError, match=f"EVERY={said}"):
            sampled("abc")


def test_a_name_that_is_none_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["speed"]) == 2
    assert "no benchmark named speed; there are export_cost, growth" in capsys.readouterr().out


def test_cure_rates_stand_side_by_side() -> None:
    right, why = "dynamic and right", "reason given"
    outcomes = [
        fixing.Outcome("one", "transformers", "fails: UserError", right, 1, 2.0, "", "Dims"),
        fixing.Outcome("one", "transformers", "fails: UserError", why, 1, 2.0, "why", "ShapesSpec"),
        fixing.Outcome("two", "torch", right, right, 0, 1.0, "", "Dims"),
        fixing.Outcome("two", "torch", right, "crashed", 0, 1.0, "oh", "ShapesSpec"),
    ]
    rows = fixing.rows_of(outcomes)
    rates = [(row.name, row.value) for row in rows if row.subject == "cure rate"]
    assert rates == [
        ("plain export: dynamic and right, Dims (of 2)", 1),
        ("plain export: dynamic and right, ShapesSpec (of 2)", 1),
        ("--fix: dynamic and right, Dims (of 2)", 2),
        ("--fix: dynamic and right, ShapesSpec (of 2)", 0),
        ("--fix: the reason, at its line, Dims (of 2)", 0),
        ("--fix: the reason, at its line, ShapesSpec (of 2)", 1),
    ]
    assert [row.name for row in rows if row.means == "oh"] == ["two, ShapesSpec: crashed"]
    old = fixing.rows_of(outcomes[::2])
    assert len([row for row in old if row.subject == "cure rate"]) == 3


class OneHeight(nn.Module):
    """Takes any batch, and images of one height."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[1] != 4:
            raise ValueError("a height of 4")
        return x.sum(1)


class OneBatch(OneHeight):
    """A program that was fixed to the example's batch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._check(x.shape[0] == 2)
        return super().forward(x)


@pytest.mark.parametrize(
    ("made", "verdict"),
    [(OneHeight(), "dynamic and right"), (OneBatch(), "refuses other sizes")],
)
def test_a_model_of_one_height_is_judged_at_other_batches(made: nn.Module, verdict: str) -> None:
    def call(batch: int, height: int) -> Any:
        return (torch.rand(batch, height),), {}

    model = Model("m", "torch", OneHeight, call, {"batch": 2, "height": 4}, "x: batch, height")
    program: Any = SimpleNamespace(module=lambda: made)
    assert fixing._judged(model, OneHeight(), program) == verdict
