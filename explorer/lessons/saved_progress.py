"""What is kept of a learner's progress: one JSON file in the user's own data folder.

A lesson never fails for it: what cannot be read counts as nothing, what cannot be written is kept
in memory until the kernel ends.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from explorer.data_folder import data_folder

_unwritten: dict[str, dict[str, Any]] = {}
"""Per file, what could not be written."""


def progress_file() -> Path:
    """Where progress is kept."""
    return data_folder() / "lessons.json"


def kept(lesson: str, exercise: str) -> dict[str, int]:
    """What is known of an exercise: `tries`, `hints` that were seen, `done`; 0 where nothing is."""
    found = _read().get(lesson)
    known = found.get(exercise) if isinstance(found, dict) else None
    counts = known if isinstance(known, dict) else {}
    return {key: _count(counts.get(key)) for key in ("tries", "hints", "done")}


def keep(lesson: str, exercise: str, counts: dict[str, int]) -> None:
    """Keeps what is known of an exercise; what is kept of others stays."""
    file, everything = progress_file(), _read()
    mine = everything.get(lesson)
    everything[lesson] = {**(mine if isinstance(mine, dict) else {}), exercise: counts}
    try:
        _write(file, everything)
    except OSError:
        _unwritten[str(file)] = everything
    else:
        _unwritten.pop(str(file), None)


def forget(lesson: str) -> None:
    """Forgets what is kept of a lesson."""
    file, everything = progress_file(), _read()
    everything.pop(lesson, None)
    try:
        _write(file, everything)
    except OSError:
        _unwritten[str(file)] = everything


def _read() -> dict[str, Any]:
    file = progress_file()
    if str(file) in _unwritten:
        return _unwritten[str(file)]
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        return {}
    except ValueError:
        with suppress(OSError):  # what a person may want to look at is not overwritten
            file.replace(file.with_suffix(".broken.json"))
        return {}
    return found if isinstance(found, dict) else {}


def _write(file: Path, everything: dict[str, Any]) -> None:
    """Writes the whole file or nothing: another notebook may be reading it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            json.dump(everything, opened, indent=1, sort_keys=True)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
