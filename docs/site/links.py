"""Links between Markdown files of the repository, as they are from a page of the site."""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = DOCS / "_made"
"""Pages that `make docs` writes; git ignores them."""

MIRRORED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "_made/contributing.md",
    "CHANGELOG.md": "_made/changelog.md",
    "notebooks/TEACHING.md": "_made/teaching.md",
    "ide/vscode/README.md": "_made/vscode.md",
    "notebooks/00_tour.ipynb": "_made/tour.md",
}
"""Files of the repository that are a page, by its name below `docs/`."""
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def site_links(text: str, source: Path, page: Path) -> str:
    """A text with its links as they are from a page of the site.

    A link to a file that is a page goes to the page; any other file can be downloaded there.

    Args:
        text: Markdown.
        source: the file whose text it is: its links are relative to that.
        page: the file that will have the text.
    """

    def moved(link: re.Match[str]) -> str:
        target, hash_, part = link[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return link[0]
        file = (source.parent / target).resolve()
        if file.is_relative_to(ROOT):
            name = MIRRORED.get(file.relative_to(ROOT).as_posix())
            file = DOCS / name if name else file
        return (
            f"{link[1]}{Path(os.path.relpath(file, page.parent)).as_posix()}{hash_}{part}{link[3]}"
        )

    return _LINK.sub(moved, text)
