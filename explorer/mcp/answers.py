"""Answers of tools: short text with the next calls, or the same data as JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from explorer.text.escape import harmless

MOST_CHARACTERS = 6_000
"""For an answer: about 2,000 tokens, by three characters a token."""
_MOST_LINE = 400
"""Characters of a line; a longer one is cut."""


class ToolRefused(Exception):
    """Why a tool cannot be carried out. The message is a sentence for the client."""


class Answer(msgspec.Struct, frozen=True):
    """The result of a tool."""

    text: str
    """Plain text, of any length."""
    facts: dict[str, Any] = {}
    """The same as plain data."""
    next: tuple[str, ...] = ()
    """Calls that go on from here, most useful first."""


def to_text(answer: Answer, first: int = 0) -> str:
    """An answer within the budget, from a line on.

    Args:
        answer: what is said.
        first: the first line, from 0; the text that was cut says which one comes next.
    """
    lines = [_cut(line) for line in harmless(answer.text).splitlines()]
    following = "\n".join(["Next:", *(f"  {call}" for call in answer.next)]) if answer.next else ""
    left = MOST_CHARACTERS - len(following) - 100
    shown: list[str] = []
    first = max(first, 0)
    if lines and first >= len(lines):
        return f"The answer has {len(lines):,} lines, so there is no line {first}."
    for line in lines[first:]:
        left -= len(line) + 1
        if left < 0:
            break
        shown.append(line)
    end = first + len(shown)
    if end < len(lines):
        shown.append(f"… {len(lines) - end:,} more lines: more(first_line={end})")
    return "\n".join([*shown, *([following] if following else [])])


def to_json(answer: Answer) -> str:
    """An answer as JSON within the budget: lists are cut to what fits, and say how much was."""
    facts: Any = {**answer.facts, "next": list(answer.next)}
    for most in (1_000, 100, 30, 10, 3, 1):
        text = json.dumps(_truncate(facts, most), ensure_ascii=True, default=str)
        if len(text) <= MOST_CHARACTERS:
            return text
    return json.dumps({"cut": "The JSON is too long for one answer.", "next": list(answer.next)})


def _truncate(value: Any, most: int) -> Any:
    """Plain data with lists of at most so many items, and texts in proportion."""
    if isinstance(value, dict):
        items = list(value.items())
        kept = {str(name): _truncate(item, most) for name, item in items[:most]}
        return kept if len(items) <= most else {**kept, "…": f"{len(items) - most} more"}
    if isinstance(value, list | tuple):
        kept_items = [_truncate(item, most) for item in value[:most]]
        return kept_items if len(value) <= most else [*kept_items, f"… {len(value) - most} more"]
    if isinstance(value, str):
        text, longest = harmless(value), max(200, most * 5)
        return text if len(text) <= longest else f"{text[:longest]}…"
    return value


def _cut(line: str) -> str:
    return line if len(line) <= _MOST_LINE else f"{line[:_MOST_LINE]}…"
