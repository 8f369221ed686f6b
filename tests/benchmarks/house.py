"""How long the project's own fast checks take: `make check`, as a contributor runs it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from .table import Row

ROOT = Path(__file__).parents[2]
BUDGET = 60.0
"""Seconds."""
INHERITED = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES")
"""What the make that runs the benchmarks would tell this one."""


def run() -> list[Row]:
    """Seconds of one run; its setup is done before, since benchmarks need it too.

    Raises:
        RuntimeError: a check failed.
    """
    environment = {name: value for name, value in os.environ.items() if name not in INHERITED}
    started = time.perf_counter()
    done = subprocess.run(
        ["make", "check"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(f"make check failed: {(done.stdout + done.stderr)[-400:]}")
    return [
        Row(
            f"the house, {os.cpu_count()} cores",
            "make check",
            seconds,
            "s",
            most=BUDGET,
            means="lint, types and the fast tests: what a contributor waits for between two edits",
        )
    ]
