"""The progress line: what is known of a failure stays on show while fixes are tried."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kernel_ext import progress as lines


def test_the_diagnosis_shows_at_once_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def first(bundle: dict[str, Any], **_: Any) -> Any:
        shown.append(bundle["text/plain"])
        return SimpleNamespace(display_id="1")

    def later(bundle: dict[str, Any], **_: Any) -> None:
        shown.append(bundle["text/plain"])

    monkeypatch.setattr(lines, "display", first)
    monkeypatch.setattr(lines, "update_display", later)
    line = lines.ProgressLine("model(x)", live=True)
    for what, label in (("failure", "It fails (m.py, line 3)"), ("found", "A fix")):
        line(SimpleNamespace(done=0, total=0, label=label, what=what))  # type: ignore[arg-type]
    line.stop()
    assert [text.splitlines()[:-1] for text in shown] == [
        ["It fails (m.py, line 3)"],
        ["It fails (m.py, line 3)", "Found: A fix"],
    ]
    assert shown[-1].splitlines()[-1].startswith("Looking for fixes for model(x) (")
