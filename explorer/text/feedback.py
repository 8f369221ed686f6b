"""Feedback of a few lines, from a lesson or the guide, for notebook and terminal.

All text is escaped; backticks mark code.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from explorer.text.escape import escape_html, escape_with_code, harmless

if TYPE_CHECKING:
    from export_engine.progress import Report

_WIDTH = 88
_MOST = 2000
"""Characters of one piece of text; a diagnosis may quote a lot."""
_BOX = "padding: 4px 0 4px 12px; margin: 6px 0; max-width: 52em; line-height: 1.5"


def _tint(colour: str) -> str:
    """Some of the text's own colour in it: JupyterLab's green alone is too light to read."""
    return f"color-mix(in srgb, {colour} 80%, currentcolor)"


_LOOKS = {
    "right": ("✓", _tint("var(--jp-success-color1, light-dark(#2e7d32, #66bb6a))")),
    "wrong": ("✗", _tint("var(--jp-error-color1, light-dark(#c62828, #ef7070))")),
    "open": ("○", _tint("var(--jp-ui-font-color2, light-dark(#616161, #bdbdbd))")),
    "note": ("→", _tint("var(--jp-brand-color1, light-dark(#1565c0, #64b5f6))")),
}


Kind = Literal["right", "wrong", "open", "note"]


@dataclass(frozen=True)
class Line:
    """A line of a list, with a mark of its own."""

    kind: Kind
    text: str
    link: str = ""
    """The address that the text leads to; empty for none."""


@dataclass(frozen=True)
class Choice:
    """What is left to the reader to decide: a button, where there is a page."""

    title: str
    """`Apply: treat the condition as true`."""
    means: str
    """The fix's cost, or its result."""
    take: Callable[[Report | None], object]
    """Does it, and reports its progress."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer to the learner. `ok` says whether it is right."""

    kind: Kind
    title: str
    reason: str = ""
    lines: Sequence[Line] = ()
    code: str = ""
    after: str = ""
    """What to do next, or the learner's progress."""
    link: str = ""
    """The address that the reason leads to; empty for none."""
    choices: Sequence[Choice] = ()
    """The reader's choices."""

    def with_title(self, title: str) -> Reply:
        """A copy with another title."""
        return replace(self, title=title)

    @property
    def ok(self) -> bool:
        """Whether an answer was checked and is correct."""
        return self.kind == "right"

    def __repr__(self) -> str:
        shown = [f"{_LOOKS[self.kind][0]} {self.title}"]
        shown += _wrap(self.reason)
        shown += [f"    {row}" for row in harmless(self.code).splitlines()]
        shown += [
            row
            for line in self.lines
            for row in _wrap(f"{_LOOKS[line.kind][0]} {line.text} {line.link}".rstrip(), "    ")
        ]
        return "\n".join([*shown, *_wrap(self.after)])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}

    def html(self) -> str:
        """As HTML without scripts; all text is escaped."""
        mark, colour = _LOOKS[self.kind]
        style = f"border-left: 3px solid {colour}; {_BOX}"
        parts = [
            (
                f'<div><b style="color: {colour}">{mark} '
                f"{escape_with_code(self.title, _MOST)}</b></div>"
            )
        ]
        parts += [f"<div>{_link_text(self.reason, self.link)}</div>"] if self.reason else []
        if self.code:
            parts.append(
                '<pre style="margin: 4px 0; padding: 6px 10px; overflow-x: auto; '
                'background: rgba(127, 127, 127, 0.15)">'
                f"{escape_html(self.code, _MOST)}</pre>"
            )
        for line in self.lines:
            sign, tint = _LOOKS[line.kind]
            parts.append(
                f'<div style="padding-left: 1.4em; text-indent: -1.4em">'
                '<span style="color: '
                f'{tint}">{sign}</span>&ensp;{_link_text(line.text, line.link)}</div>'
            )
        if self.after:
            parts.append(f'<div style="opacity: 0.75">{escape_with_code(self.after, _MOST)}</div>')
        return f'<div style="{style}">{"".join(parts)}</div>'


def _link_text(text: str, link: str) -> str:
    """Text as HTML, which leads to an address, if there is one."""
    escaped = escape_with_code(text, _MOST)
    if not link:
        return escaped
    return (
        f'<a href="{escape_html(link, _MOST)}" target="_blank" rel="noopener" '
        f'style="text-decoration: underline">{escaped}</a>'
    )


def _wrap(text: str, indent: str = "  ") -> list[str]:
    lines = harmless(text).splitlines()
    return [
        row
        for line in lines
        for row in textwrap.wrap(
            line, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False
        )
    ]
