"""The pytest plugin: `--update-exports` lets `assert_same_export` write its files."""

from __future__ import annotations

import os
from typing import Any

from explorer.testing import UPDATE


def pytest_addoption(parser: Any) -> None:
    """Adds the flag."""
    parser.addoption(
        "--update-exports",
        action="store_true",
        help="write the .pt2 files that assert_same_export compares with",
    )


def pytest_configure(config: Any) -> None:
    """Passes the flag on, to workers of pytest-xdist too, until this run of pytest ends."""
    if config.getoption("--update-exports"):
        before = os.environ.get(UPDATE)
        os.environ[UPDATE] = "1"
        config.add_cleanup(lambda: _set(before))


def _set(value: str | None) -> None:
    if value is None:
        os.environ.pop(UPDATE, None)
    else:
        os.environ[UPDATE] = value
