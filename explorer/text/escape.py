"""The one place that escapes text for HTML and SVG, and cleans it for a terminal."""

from __future__ import annotations

import html
import re

from export_engine.plain_errors import harmless

__all__ = ["escape_html", "escape_log", "escape_with_code", "harmless", "xml_text"]

_LOG_COMMAND = re.compile(r"^(\s*:)(?=:)|(##)(?=\[|vso|teamcity)", re.MULTILINE)
"""How CI systems recognize a command in what a step prints: GitHub, Azure, TeamCity."""


def escape_log(text: object) -> str:
    """Text that a CI system only prints: a line that starts with `::error::` is a command to it."""
    return _LOG_COMMAND.sub(lambda found: f"{found.group()} ", str(text))


def escape_with_code(text: object, most: int = 400) -> str:
    """Text as content of an element; backticks mark code, line ends are kept."""
    pieces = escape_html(text, most).split("`")
    if len(pieces) % 2 == 0:  # an unclosed backtick is kept as text
        return "`".join(pieces).replace("\n", "<br>")
    return "".join(
        f"<code>{piece}</code>" if number % 2 else piece.replace("\n", "<br>")
        for number, piece in enumerate(pieces)
    )


def escape_html(text: object, most: int = 400) -> str:
    """Text as content or a quoted attribute of an element; cut where it is longer than `most`."""
    plain = harmless(text)
    if len(plain) > most:
        plain = plain[: most - 1] + "…"
    return html.escape(plain, quote=True)


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Text without the characters that XML does not have."""
    return _NOT_IN_XML.sub("�", text)
