"""The pages on codes: what each means, an example, what to do, and why it is so."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from export_engine.codes.numbering import CODES

_PARTS = re.compile(
    r"# (?P<code>EX\d+): (?P<title>[^\n]+)\n\n(?P<means>.+?)\n\n"
    r"## Example\n\n```python\n(?P<example>.+?)```\n\n"
    r"## What to do\n\n(?P<cure>.+?)\n\n## Why\n\n(?P<why>.+?)\n*",
    re.DOTALL,
)


class NoSuchCode(LookupError):
    """There is no such code."""


class CodePage(NamedTuple):
    """What a code means. `print` shows it; in a notebook it is formatted."""

    code: str
    title: str
    means: str
    example: str
    """Python that runs as it is, and ends with the Exploration that has the code in `ex`."""
    cure: str
    why: str
    text: str
    """The whole page, in Markdown."""

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


@cache
def page_on(code: str) -> CodePage:
    """The page on a code.

    Args:
        code: `EX111`, in any case.

    Raises:
        NoSuchCode: says which codes there are.
    """
    wanted = code.strip().upper()
    if wanted not in CODES:
        near = get_close_matches(wanted, CODES, 1)
        hint = f"Did you mean {near[0]}?" if near else f"The codes begin with {min(CODES)}."
        raise NoSuchCode(f"There is no code {code[:40]!r}. {hint}")
    file = files("export_engine.codes") / "pages" / f"{wanted}.md"
    text = file.read_text(encoding="utf-8")
    found = _PARTS.fullmatch(text)
    assert found is not None, f"the page on {wanted} lacks a part"
    return CodePage(**found.groupdict(), text=text)
