"""The notebooks in `notebooks/` run from top to bottom in a fresh kernel, and no cell raises.

Of the lessons the first one does; `test_lessons.py` runs all of them, within one process.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from explorer.lessons import COURSE

ROOT = Path(__file__).parents[2]
NOTEBOOKS = [
    path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if path.stem[3:] not in COURSE[1:]
]
CELL_SECONDS = 300


def test_the_tour_and_the_first_lesson_are_run() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["00_tour", "01_a_first_export"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # nothing of the user's own startup files
    monkeypatch.setenv("EXPORT_EXPLORER_DATA", str(tmp_path))  # nor of a learner's progress
    notebook = nbformat.read(path, as_version=4)

    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()

    assert [cell for cell in notebook.cells if cell.cell_type == "code"]
