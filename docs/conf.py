"""Sphinx's configuration; `python -m docs.site` builds the site."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from docs.site.links import site_links  # noqa: E402 - the path comes first

project = "Export Explorer"
copyright = "The Export Explorer authors"  # noqa: A001 - Sphinx's name for it
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.site.live_directive",
]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["_build", "_made/readme.md", "_made/files"]
html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["live.css"]
html_favicon = "_static/favicon.svg"
html_extra_path = ["_made/files"]
html_copy_source = False
html_show_sphinx = False
html_domain_indices = False
html_use_index = False
default_role = "code"  # docstrings have Markdown's backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_inherit_docstrings = False
napoleon_numpy_docstring = False
highlight_language = "text"


def setup(app):
    """Links out of `docs/` go to the pages that are made of those files."""

    def read(_, name, texts):
        page = Path(app.srcdir) / f"{name}.md"
        if not name.startswith("_made/"):
            texts[0] = site_links(texts[0], page, page)

    def code(_, kind, name, value, options, lines):
        """An indented block after an empty line is code in our docstrings, as in Markdown."""
        if lines[0].startswith("Alias for field number"):  # Python's own words, of a NamedTuple
            lines.clear()
        for at in range(len(lines) - 1, 1, -1):
            here, before, text = lines[at], lines[at - 1], lines[at - 2]
            indent = len(here) - len(here.lstrip())
            if here.strip() and not before.strip() and text.strip() and indent - _indent(text) >= 4:
                lines[at:at] = [f"{' ' * _indent(text)}.. code-block:: python", ""]

    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", code, priority=100)


def _indent(line):
    return len(line) - len(line.lstrip())
