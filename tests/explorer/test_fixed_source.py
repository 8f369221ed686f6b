"""The changed code of a model in a file: in the view, in a shared page, in a saved program."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

import explorer
from explorer.display.report import encode_page
from export_engine.source import SourceMissing, source_text

MODEL = """import torch

def either(x):
    if x.sum() > 0:
        return x.sin()
    return x.cos()
"""


@pytest.fixture
def either(tmp_path: Path) -> Any:
    """A function of a file, which no notebook's cell holds."""
    file = tmp_path / "models_of_mine.py"
    file.write_text(MODEL, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.either


@pytest.mark.slow
def test_the_fixed_code_of_a_file_is_shown_shared_and_saved(either: Any, tmp_path: Path) -> None:
    ex = explorer.explore(either, (torch.ones(3),))
    ex.autofix()
    fixed = next(n for n, file in enumerate(ex.record.files) if "(fixed)" in file.name)

    assert "torch.where" in source_text(ex.record, fixed)
    held = msgspec.json.decode(encode_page(ex.session))
    words = [word for line in held["sources"][-1][fixed] for _, word in line]
    assert "where" in words
    ex.save(tmp_path / "model.pt2")
    again = explorer.load(tmp_path / "model.pt2").record
    assert any("torch.where" in file.text for file in again.files)


@pytest.mark.slow
def test_a_mark_opens_no_other_file(either: Any, tmp_path: Path) -> None:
    ex = explorer.explore(either, (torch.ones(3),))
    secret = tmp_path / "secret.txt (fixed 00000000)"
    secret.write_text("secret", encoding="utf-8")
    files = [msgspec.structs.replace(ex.record.files[0], path=str(secret))]
    record = msgspec.structs.replace(ex.record, files=files)

    with pytest.raises(SourceMissing, match="not a Python file"):
        source_text(record, 0)
