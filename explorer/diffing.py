"""Two programs of any kind, an Exploration, an ExportedProgram or a file, compared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from explorer.comparison import Comparison
from explorer.session_entry import Entry
from export_engine.plain_errors import WrongArgument


def diff(before: Any, after: Any) -> Comparison:
    """Compares two programs.

    Args:
        before: an Exploration, an ExportedProgram, or the path of a `.pt2` file.
        after: another.

    Raises:
        ArchiveError: a file is not a program that this torch can read.
        TypeError: something else was given.
        ValueError: an export failed, so that there is no program.
    """
    return Comparison(_entry_of(before), _entry_of(after))


def _entry_of(given: Any) -> Entry:
    """An attempt from anything that holds a program."""
    from explorer.exploration import Exploration
    from explorer.loading import load

    if isinstance(given, str | Path):
        opened = load(given)
        if isinstance(opened, Exploration):
            return opened.session.entry
        raise WrongArgument(
            f"{Path(given).name} holds {len(opened)} programs. Compare one of them: "
            f"explorer.load(path, model={next(iter(opened))!r}), or --model."
        )
    if isinstance(given, Exploration):
        return given.session.entry
    torch = sys.modules.get("torch")  # where it was not imported, nothing of it is given
    if torch is not None and isinstance(given, torch.export.ExportedProgram):
        from export_engine.attempt import Exported
        from export_engine.trace import Recording

        program = Exported(request=None, recording=Recording(), program=given, title="program")
        return Entry("program", program)
    raise TypeError(
        f"A {type(given).__name__} is not a program. Give an Exploration, an ExportedProgram or "
        "the path of a .pt2 file."
    )
