"""What Sphinx makes of `:::{live} name`, a report in a page, and of `{open-live}`, a link to it."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from docs.site.live import LIVE


class Live(SphinxDirective):
    """A report, inside the page."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"frame": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """An iframe; it is loaded when it comes into sight."""
        (name,) = self.arguments
        address = _address(self.env.docname, name)
        frame = f' name="{self.options["frame"]}"' if "frame" in self.options else ""
        html = (
            f'<iframe class="live"{frame} src="{address}" title="A live view: {name}" '
            'loading="lazy"></iframe>'
            f'<p class="live-note"><a href="{address}">Open this view in a page of its own</a></p>'
        )
        return [nodes.raw("", html, format="html")]


class OpenLive(SphinxRole):
    """A link that opens a report in the frame `gallery` of its page."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The link."""
        address = _address(self.env.docname, self.text)
        html = f'<a href="{address}" target="gallery">{self.text}</a>'
        return [nodes.raw("", html, format="html")], []


def _address(page: str, name: str) -> str:
    """A report as it is linked from a page.

    Raises:
        FileNotFoundError: there is no such report.
    """
    if not (LIVE / f"{name}.html").is_file():
        raise FileNotFoundError(f"{page}: there is no live view {name!r}")
    return f"{'../' * page.count('/')}live/{name}.html"


def setup(app: Sphinx) -> dict[str, Any]:
    """Adds both to Sphinx."""
    app.add_directive("live", Live)
    app.add_role("open-live", OpenLive())
    return {"parallel_read_safe": True}
