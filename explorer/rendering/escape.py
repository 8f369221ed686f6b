"""The one place that escapes text for HTML and SVG, and cleans it for a terminal."""

from __future__ import annotations

import html
import re

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064"
    "\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]|(?<![^\x00-\x7f])[\u200c\u200d]"
)
"""Control characters, line separators, bidirectional marks, what is not seen, and unassigned code
points. A joiner joins letters of some scripts and parts of emoji; after ASCII it joins nothing."""
_LOG_COMMAND = re.compile(r"^(\s*:)(?=:)|(##)(?=\[|vso|teamcity)", re.MULTILINE)
"""How CI systems recognize a command in what a step prints: GitHub, Azure, TeamCity."""


def harmless(text: object) -> str:
    """Text without control characters; line ends and tabs stay."""
    return _CONTROL.sub("\ufffd", str(text).replace("\r\n", "\n"))


def logged(text: object) -> str:
    """Text that a CI system only prints: a line that starts with `::error::` is a command to it."""
    return _LOG_COMMAND.sub(lambda found: f"{found.group()} ", str(text))


def marked(text: object, most: int = 400) -> str:
    """Text as content of an element; backticks mark code, line ends are kept."""
    pieces = escaped(text, most).split("`")
    if len(pieces) % 2 == 0:  # an unclosed backtick is kept as text
        return "`".join(pieces).replace("\n", "<br>")
    return "".join(
        f"<code>{piece}</code>" if number % 2 else piece.replace("\n", "<br>")
        for number, piece in enumerate(pieces)
    )


def escaped(text: object, most: int = 400) -> str:
    """Text as content or a quoted attribute of an element; cut where it is longer than `most`."""
    plain = harmless(text)
    if len(plain) > most:
        plain = plain[: most - 1] + "…"
    return html.escape(plain, quote=True)
