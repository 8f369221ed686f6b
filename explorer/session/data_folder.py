"""The folder for the user's data: lesson progress, signatures of files."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

FOLDER = "EXPORT_EXPLORER_DATA"
"""The environment variable that overrides the folder."""


def data_folder() -> Path:
    """Below the user's data folder, or the folder that `FOLDER` names. It may not exist yet."""
    text = os.environ.get(FOLDER)
    return Path(text) if text else Path(platformdirs.user_data_dir("export-explorer", False))
