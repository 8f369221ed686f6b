"""`ex.reproduce()`: a short script for a PyTorch issue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.results.environment_report import doctor
from explorer.session.session import FixError, Session

if TYPE_CHECKING:
    from export_engine.progress import Progress
    from export_engine.reproduce import Reproduction

SECONDS = 60.0
"""The default time limit for making a script shorter."""


class Reproduced:
    """A script that shows the problem, without the model's weights; `print` it."""

    def __init__(self, found: Reproduction) -> None:
        """Make one.

        Args:
            found: the script and its proof.
        """
        self.script: str = found.script
        """Python to run or to send."""
        self.lines: int = found.lines
        self.code: str = found.code
        """The code of the diagnosis: `EX111`; `wrong answer` of a program that differs."""
        self.heading: str = found.heading
        self.raised: str = found.raised
        """The class of the exception that it raised in a fresh process; empty if torch.export
        accepts it, and gives a program that holds a fake tensor."""
        self.minimal: bool = found.minimal
        """Whether nothing more can go; else the time was up, or it was interrupted."""
        self.trials: int = found.trials
        self.seconds: float = found.seconds
        self.needs: tuple[str, ...] = found.needs
        """Packages that it imports, but for torch and Python's own."""

    @property
    def sentence(self) -> str:
        """The result."""
        needs = f" It needs {', '.join(self.needs)}." if self.needs else ""
        more = "" if self.minimal else " More time may make it shorter."
        shown = f"raise {self.raised}" if self.raised else "export a program with a fake tensor"
        return (
            f"{self.lines} lines {shown} in a fresh process: {self.heading}, as in the "
            f"model.{needs}{more}"
        )

    @property
    def issue(self) -> str:
        """The text of an issue, in the parts that PyTorch's template asks for."""
        ends = (
            f"ends in `{self.raised}`" if self.raised else ("returns a program with a fake tensor")
        )
        return (
            "### 🐛 Describe the bug\n\n"
            f"{self.heading}: `torch.export.export` {ends}.\n\n"
            f"```python\n{self.script}```\n\n"
            f"### Versions\n\n```\n{doctor()!r}\n```\n"
        )

    def save(self, path: str | Path) -> Path:
        """Writes the script into a file. Raises OSError."""
        file = Path(path)
        file.write_text(self.script, encoding="utf-8")
        return file

    def __repr__(self) -> str:
        """The script."""
        return self.script


def reproduce(
    session: Session,
    number: int,
    seconds: float = SECONDS,
    progress: Callable[[Progress], None] | None = None,
) -> Reproduced:
    """A short script that shows the problem of an attempt; see `Exploration.reproduce`.

    Raises:
        FixError: no script shows the same, or a file was opened, which keeps no call.
    """
    from export_engine.attempt import NO_CALL
    from export_engine.reproduce import NotReproduced
    from export_engine.reproduce import reproduce as search

    if session.entries[number].request is None:
        raise FixError(NO_CALL)
    try:
        return Reproduced(search(session.attempt(number, "reproduce"), seconds, progress))
    except NotReproduced as reason:
        raise FixError(str(reason)) from reason
