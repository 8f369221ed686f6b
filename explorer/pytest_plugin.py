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
    """Passes the flag on."""
    if config.getoption("--update-exports"):
        os.environ[UPDATE] = "1"
