"""Each reported failure as a call for `export-explorer survey`: `calls:two_paths`.

`python -m tests.benchmarks.reports.calls > reported.toml` writes the survey of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import REPORTED


def survey_text() -> str:
    """The survey of those whose shapes the short language says."""
    folder = str(Path(__file__).resolve().parents[3])
    parts = [f"folder = {json.dumps(folder)}\nseconds = 300\n"]
    for case in REPORTED:
        if isinstance(case.shapes, str | None):
            call = f"{__package__}.calls:{case.name.replace('-', '_')}"
            fields = {"name": case.name, "call": call, "shapes": case.shapes or ""}
            lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
            parts.append("\n".join(["[[model]]", *lines]) + "\n")
    return "\n".join(parts)


def __getattr__(name: str) -> Callable[[], Any]:
    for case in REPORTED:
        if case.name.replace("-", "_") == name:
            return lambda: (case.build(), *case.call(0))
    raise AttributeError(name)


if __name__ == "__main__":
    print(survey_text())
