"""The built front end in `widgets/static`."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"


class FrontEndMissing(RuntimeError):
    """The front end was not built, or anywidget is missing. The message says what to do."""


@lru_cache(maxsize=1)
def bundle() -> bytes:
    """The bundle: one ES module, UTF-8. Raises FrontEndMissing."""
    return _read("explorer.js")


@lru_cache(maxsize=1)
def layout() -> bytes:
    """The layout worker, which the bundle works without: one ES module. Raises FrontEndMissing."""
    return _read("layout.js")


def bundle_file() -> Path:
    """The file with the bundle. Raises FrontEndMissing."""
    bundle()
    return STATIC / "explorer.js"


@lru_cache(maxsize=1)
def notices() -> str:
    """The licences of the packages within the bundle. Raises FrontEndMissing."""
    return _read("LICENSES.txt").decode()


@lru_cache(maxsize=1)
def bundle_hash() -> str:
    """The hash of the bundle, which identifies its version on a page. Raises FrontEndMissing."""
    return hashlib.sha256(bundle() + layout()).hexdigest()[:16]


@lru_cache(maxsize=1)
def loader() -> str:
    """The module that an anywidget loads first; it asks for the bundle. Raises FrontEndMissing."""
    return _read("loader.js").decode()


def _read(name: str) -> bytes:
    path = STATIC / name
    if not path.is_file():
        raise FrontEndMissing(
            "The widget's front end is not built. In a clone, run `make frontend`; "
            "an installed wheel has it."
        )
    return path.read_bytes()
