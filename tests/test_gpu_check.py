"""`make gpu-check`: without a GPU nothing is run or written, and its record replaces the last."""

from pathlib import Path

import pytest
import torch

from . import gpu_check


def test_without_a_gpu_nothing_is_run_and_no_page_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    page = tmp_path / "gpu.md"
    assert gpu_check.main([str(page)]) == 0
    assert not page.exists()
    assert "no NVIDIA GPU" in capsys.readouterr().out


def test_a_record_replaces_the_one_before_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "gpu.md"
    page.write_text("# On a GPU\n\nby hand\n", encoding="utf-8")
    for number in (1, 2):
        gpu_check.write_into(page, f"{gpu_check.HEADING}\n\nrun {number}\n")
    assert page.read_text(encoding="utf-8") == (
        f"# On a GPU\n\nby hand\n\n{gpu_check.HEADING}\n\nrun 2\n"
    )


@pytest.mark.slow
def test_a_step_that_fails_or_takes_too_long_is_a_row() -> None:
    far = gpu_check.time.monotonic() + 60
    failed = gpu_check.run_step(gpu_check.Step("a", ["-c", "raise SystemExit('no')"], 50), far)
    assert (failed.ok, failed.last) == (False, "no")
    slow = gpu_check.run_step(gpu_check.Step("b", ["-c", "import time; time.sleep(60)"], 5), far)
    assert (slow.ok, slow.last) == (False, "ended after 5 s")
    late = gpu_check.run_step(gpu_check.Step("c", ["-c", ""], 50), gpu_check.time.monotonic())
    assert "left out" in late.last


@pytest.mark.slow
def test_every_model_of_the_check_runs_on_a_cpu() -> None:
    for kind, shape in gpu_check.MODELS:
        torch.export.export(kind().eval(), (torch.randn(shape),))
