"""For tests: assert that an export did not change.

    from explorer.testing import assert_same_export

    def test_the_export_is_stable():
        assert_same_export(explorer.explore(model, (x,)), "tests/golden.pt2")

Run once with `pytest --update-exports` to write the file, and again after each intended change.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from explorer.opening.diffing import diff

UPDATE = "EXPORT_EXPLORER_UPDATE"
"""The environment variable that `--update-exports` sets."""


def assert_same_export(program: Any, golden: str | Path, *, update: bool | None = None) -> None:
    """Asserts that a program equals a file's program, up to names of nodes and symbols.

    Args:
        program: an Exploration or an ExportedProgram.
        golden: the `.pt2` file.
        update: write the file instead; by default, if pytest has the option `--update-exports`.

    Raises:
        AssertionError: it differs (the message says how), or there is no such file.
        TypeError: `program` is not a program.
    """
    file = Path(golden)
    if os.environ.get(UPDATE) == "1" if update is None else update:
        _write(program, file)
        return
    if not file.exists():
        raise AssertionError(f"There is no {file}. Write it with pytest --update-exports.")
    comparison = diff(file, program)
    if not comparison.ok:
        raise AssertionError(
            f"{comparison}\n\nIf this is intended, update {file} with pytest --update-exports."
        )


def _write(program: Any, file: Path) -> None:
    from explorer.exploration import Exploration

    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(program, Exploration):
        program.save(file, kind=".pt2")
        return
    import torch

    torch.export.save(program, file)
