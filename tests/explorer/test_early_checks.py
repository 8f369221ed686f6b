"""Mistakes in what is to be done with an export are told before it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer import command_line
from explorer.early_checks import check_ahead


def never() -> None:
    """Stands where a model is made; the command line must not come to it."""
    raise AssertionError("the model was made")


def test_an_unknown_table_is_told_before_the_export(capsys: pytest.CaptureFixture[str]) -> None:
    code = command_line.main([f"{__name__}:never", "--decompose", "cor"])

    assert code == command_line.USAGE
    assert "'cor'" in capsys.readouterr().err


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


def test_an_op_without_a_decomposition_is_named() -> None:
    with pytest.raises(ValueError, match="lineer"):
        check_ahead("core -lineer")


def test_nothing_is_written(tmp_path: Path) -> None:
    check_ahead("core", [tmp_path / "model.pt2", None, ""])

    assert list(tmp_path.iterdir()) == []
