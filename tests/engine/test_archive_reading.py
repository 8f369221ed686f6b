"""Reading a `.pt2` as data."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from export_engine.archive import ArchiveError, read
from export_engine.archive.operator_table import table

from ..models import branching, exported


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reading") / "branching.pt2"
    torch.export.save(exported(branching()).program, path)
    return path


def test_a_saved_program_is_read_without_making_one(saved: Path) -> None:
    found = read(saved)
    record = found.record
    assert (found.models, found.model, found.notes) == (("model",), "model", ())
    assert (record.title, record.mode, record.outcome) == ("branching.pt2", "loaded", "exported")
    assert record.torch_version == torch.__version__
    assert [graph.title for graph in record.graphs] == ["main", "true_fn", "false_fn"]
    assert [each.path for each in record.signature.inputs if each.kind == "user_input"] == ["x"]
    assert any(file.name == "models.py" for file in record.files)


def test_a_model_that_is_not_there_is_named(saved: Path) -> None:
    with pytest.raises(ArchiveError, match="has no program 'decoder'"):
        read(saved, "decoder")


def test_the_table_of_operators_is_that_of_torch() -> None:
    """After an update of torch: python -m export_engine.archive.operator_table."""
    written = Path("export_engine/archive/operators.txt")
    assert written.read_text(encoding="utf-8") == table()
