"""The learner's progress: one JSON file in the user's data folder.

A lesson never fails because of it: an unreadable file counts as empty, and what cannot be written
stays in memory until the kernel ends.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from explorer.session.data_folder import data_folder

_unwritten: dict[str, dict[str, Any]] = {}
"""Progress that could not be written, by file."""


def progress_file() -> Path:
    """The progress file."""
    return data_folder() / "lessons.json"


def get_progress(lesson: str, exercise: str) -> dict[str, int]:
    """The progress of an exercise, all 0 by default.

    `tries`, `hints` seen, `done`, and the fingerprint of the last `answer`.
    """
    result = _read().get(lesson)
    value = result.get(exercise) if isinstance(result, dict) else None
    counts = value if isinstance(value, dict) else {}
    return {key: _count(counts.get(key)) for key in ("tries", "hints", "done", "answer")}


def keep(lesson: str, exercise: str, counts: dict[str, int]) -> None:
    """Saves the progress of one exercise."""
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
    """Deletes the progress of a lesson."""
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
        result = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        return {}
    except ValueError:
        with suppress(OSError):  # keep a broken file: the user may want to look at it
            file.replace(file.with_suffix(".broken.json"))
        return {}
    return result if isinstance(result, dict) else {}


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
