"""Mistakes in what is to be done with an export are told before it is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import explorer
from explorer.cli import main as command_line
from explorer.text.validate_options import check_ahead
from export_engine.archive import ArchiveError


def never() -> None:
    """Stands where a model is made; the command line must not come to it."""
    raise AssertionError("the model was made")


def test_an_unknown_table_is_told_before_the_export(capsys: pytest.CaptureFixture[str]) -> None:
    code = command_line.main([f"{__name__}:never", "--decompose", "cor"])

    assert code == command_line.USAGE
    assert "'cor'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--run", "--backend", "program,onxn"), "no backend 'onxn'. Available: eager, program,"),
        (("--run", "cdua"), "'cdua' is not a device"),
    ],
)
def test_where_to_run_is_checked_before_the_export(
    options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command_line.main([f"{__name__}:never", *options])

    assert code == command_line.USAGE
    assert said in capsys.readouterr().err


def branches() -> tuple[Callable[[torch.Tensor], torch.Tensor], tuple[torch.Tensor]]:
    """What does not export, and can be mended."""

    def branch(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x - 1

    return branch, (torch.ones(2),)


@pytest.mark.slow
def test_what_a_failed_export_leaves_undone_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.pt2"
    code = command_line.main([f"{__name__}:branches", "--verify", "--save", str(file)])

    said = capsys.readouterr().out
    assert code == command_line.BAD
    assert f"Skipped because the export failed: --verify, --save {file}." in said
    assert "--fix applies fixes that are not lossy" in said
    assert not file.exists()


@pytest.mark.slow
def test_writing_names_the_file_and_the_reason_alone(tmp_path: Path) -> None:
    ex = explorer.explore(torch.nn.Identity(), (torch.ones(2),))
    file = tmp_path / "no" / "file.dot"
    for write in (ex.save, ex.to_html, ex.to_json, ex.save_graph):
        with pytest.raises((OSError, ArchiveError)) as caught:
            write(file)
        assert str(caught.value) == (
            f"{file} cannot be written: No such file or directory: {file.parent}"
        )


@pytest.mark.parametrize("option", ["--save", "--html", "--json"])
def test_a_file_that_cannot_be_written_is_told_before_the_export(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command_line.main([f"{__name__}:never", option, str(tmp_path / "no" / "file")])

    assert code == command_line.USAGE
    assert "cannot be written" in capsys.readouterr().err


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="is a folder"):
        check_ahead(files=[tmp_path])


@pytest.mark.after_check
def test_an_op_without_a_decomposition_is_named() -> None:
    with pytest.raises(ValueError, match="lineer"):
        check_ahead("core -lineer")


@pytest.mark.after_check
def test_nothing_is_written(tmp_path: Path) -> None:
    check_ahead("core", [tmp_path / "model.pt2", None, ""])

    assert list(tmp_path.iterdir()) == []
