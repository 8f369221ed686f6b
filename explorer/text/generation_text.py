"""Generations by the programs of a set as text: a table per backend, and what is wrong, whole."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from explorer.text.attempt_text import width
from explorer.text.escape import harmless
from explorer.text.run_text import duration
from export_engine.record import GenerationTrial

_MARKS = {"same": "✓", "unavailable": "–"}
_HEAD = ("first token", "eager", "tokens/s", "eager")
_INDENT = 2
"""Characters left free, so that a set can show the lines indented."""
_WIDE = 27
"""Characters of the first column; the table has 66 with the others, as a narrow window shows."""


def generation_lines(trials: Sequence[GenerationTrial]) -> list[str]:
    """A table of each backend's trials; a sentence shared by several is printed once.

    Each time is followed by eager's. A footnote says what the rate counts.
    """
    lines: list[str] = []
    for backend, group in groupby(trials, lambda each: each.backend):
        rows = list(group)
        timed = any(row.rate for row in rows)
        lines.append(_columns(backend, *_HEAD) if timed else backend)
        for sentence, alike in groupby(rows, lambda each: each.sentence):
            lines += _rows(list(alike), sentence)
    if any(trial.rate for trial in trials):
        lines.append("tokens/s: after the first token, over all rows of the batch")
    return lines


def _rows(rows: Sequence[GenerationTrial], sentence: str) -> Iterator[str]:
    for row in rows:
        if row.sizes:
            yield _columns(f"  {_mark(row)} {row.sizes}", *_times(row))
    start = "    " if rows[0].sizes else f"  {_mark(rows[0])} "
    text = f"{sentence[:1].upper()}{sentence[1:]}" if rows[0].sizes else sentence
    yield from textwrap.wrap(
        harmless(text), width() - _INDENT, initial_indent=start, subsequent_indent="    "
    )


def _mark(trial: GenerationTrial) -> str:
    return _MARKS.get(trial.outcome, "✗")


def _times(trial: GenerationTrial) -> tuple[str, ...]:
    if not trial.rate:
        return ()
    return (
        duration(trial.first_ms / 1000),
        duration(trial.eager_first_ms / 1000),
        f"{trial.rate:,.0f}",
        f"{trial.eager_rate:,.0f}",
    )


def _columns(title: str, *cells: str) -> str:
    widths = (12, 9, 10, 8)
    shown = "".join(f"{cell:>{wide}}" for cell, wide in zip(cells, widths, strict=False))
    return f"{harmless(title):<{_WIDE}}{shown}".rstrip()
