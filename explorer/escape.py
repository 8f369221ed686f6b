"""The one place where text becomes HTML or SVG."""

from __future__ import annotations

import html
import re

_CONTROL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: object, most: int = 400) -> str:
    """Text as content or a quoted attribute of an element; cut where it is longer than `most`."""
    plain = _CONTROL.sub("\ufffd", str(text))
    if len(plain) > most:
        plain = plain[: most - 1] + "…"
    return html.escape(plain, quote=True)
