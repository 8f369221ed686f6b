"""Where a file is that a text names: a path, an address, a hub's local cache, standard input."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from export_engine.archive import ArchiveError

_ADDRESS = re.compile(r"(file|hf):", re.IGNORECASE)
_HUB = re.compile(r"hf://([^/@]+/[^/@]+)(?:@([^/]+))?(?:/(.*))?", re.IGNORECASE | re.DOTALL)


def is_address(text: str) -> bool:
    """Whether a text is an address that `find_path` knows, and no path."""
    return _ADDRESS.match(text) is not None


def find_path(place: str | os.PathLike[str]) -> Path:
    """The path of a file or a folder. Nothing is fetched.

    Args:
        place: a path; `file:///folder/model.pt2`; or `hf://owner/name@revision/model.pt2`, a file
            or folder in the local cache of huggingface_hub, with the main revision by default.

    Raises:
        ArchiveError: the address is not one of a file here, or the cache lacks it.
    """
    text = os.fspath(place)
    if not isinstance(place, str) or not is_address(text) or os.path.lexists(text):
        return Path(place)
    return _find_cached(text) if text[:3].lower() == "hf:" else _find_local(text)


def _find_local(text: str) -> Path:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname  # it imports http, email and ssl

    try:
        address = urlsplit(text)
    except ValueError:
        address = None
    if address is None or address.netloc not in ("", "localhost") or not address.path:
        raise ArchiveError(f"{text} is not the address of a file on this machine: file:///path.")
    return Path(url2pathname(address.path))


def _find_cached(text: str) -> Path:
    """A file of a repository in huggingface_hub's cache."""
    read = _HUB.fullmatch(text)
    if read is None:
        raise ArchiveError(f"{text} is not an address such as hf://owner/name/model.pt2.")
    repository, revision, inside = read[1], read[2], read[3] or ""
    if ".." in Path(inside).parts or Path(inside).is_absolute():
        raise ArchiveError(f"{text} leads outside its repository.")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ModuleNotFoundError as error:
        raise ArchiveError(
            f"{text} needs huggingface_hub, which is not installed: pip install huggingface_hub"
        ) from error
    try:
        folder = snapshot_download(repository, revision=revision, local_files_only=True)
    except (LocalEntryNotFoundError, HFValidationError) as error:
        wanted = f"{repository} {revision}" if revision else repository
        raise ArchiveError(
            f"{repository} is not in the local cache, and nothing is downloaded. "
            f"Run: hf download {wanted}"
        ) from error
    return Path(folder, inside)


@contextmanager
def standard_input() -> Iterator[Path]:
    """A file of what standard input holds, while the block runs.

    Raises:
        ArchiveError: it is a terminal.
    """
    if sys.stdin.isatty():
        raise ArchiveError("- reads a file from standard input: export-explorer - < model.pt2")
    with TemporaryDirectory(prefix="export-explorer-") as folder:
        path = Path(folder, "stdin.pt2")
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path
