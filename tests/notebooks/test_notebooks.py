"""A notebook runs from top to bottom in a fresh kernel, and no cell raises: the first lesson.

`test_tour.py` runs the tour and `test_lessons.py` all lessons, each within one process.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "notebooks" / "01_a_first_export.ipynb"
CELL_SECONDS = 300


@pytest.mark.slow
def test_a_notebook_runs_in_a_fresh_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat  # takes seconds, which each worker would pay
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # nothing of the user's own startup files
    monkeypatch.setenv("EXPORT_EXPLORER_DATA", str(tmp_path))  # nor of a learner's progress
    notebook = nbformat.read(FIRST, as_version=4)

    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()

    assert [cell for cell in notebook.cells if cell.cell_type == "code"]
