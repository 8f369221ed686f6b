"""Processes of our own beside this one, with the packages that it finds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def another_python(
    arguments: Sequence[str], folder: str | Path | None = None
) -> subprocess.Popen[str]:
    """Another Python, to be talked with by its input and output; its errors are not heard.

    It is of a session of its own: no Ctrl-C of the user's comes there. Whoever started it ends it.

    Args:
        arguments: of the interpreter.
        folder: where it runs; by default where this process does. Nothing is imported from there.
    """
    text = os.pathsep.join(str(Path(text).absolute()) for text in sys.path)
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": text, "PYTHONSAFEPATH": "1"},
        start_new_session=True,
    )
