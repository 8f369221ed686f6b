"""Builds the site: `python -m docs.site`. A warning of Sphinx's is an error.

With `--keep-views` the live views are those of the last build.
"""

from __future__ import annotations

import shutil
import sys
import time

from sphinx.cmd.build import main as sphinx

from docs.site import live, pages
from docs.site.links import DOCS, MADE

HTML = DOCS / "_build" / "html"


def build(keep_views: bool) -> int:
    """Writes all pages; returns an exit code."""
    start = time.monotonic()
    MADE.mkdir(exist_ok=True)
    if not keep_views:
        live.write()
    pages.write()
    shutil.rmtree(HTML, ignore_errors=True)  # a page that is no longer made would stay
    code = sphinx(["-q", "-W", "--keep-going", "-E", "-b", "html", str(DOCS), str(HTML)])
    if code == 0:
        count = len(list(HTML.rglob("*.html")))
        took = time.monotonic() - start
        sys.stdout.write(f"{HTML / 'index.html'}: {count} pages in {took:.0f} s\n")
    return code


if __name__ == "__main__":
    sys.exit(build("--keep-views" in sys.argv[1:]))
