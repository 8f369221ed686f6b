"""Finds which sizes of a call could be dynamic by letting torch decide on all of them.

The result is written in the short language and exported once more to confirm it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.exploration import Exploration

if TYPE_CHECKING:
    from export_engine.attempt import Request
    from export_engine.progress import Progress
    from export_engine.record import Record, SizeInput, Symbol

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class FreeSizes:
    """The sizes that may vary."""

    shapes: str
    """In the short language: `x: a, _; y: a, _`. Empty: nothing may."""
    confirmed: bool
    """Whether the call exports with these shapes."""
    fixed: tuple[str, ...]
    """The sizes that stay as in the example, each with why."""


def free_sizes(
    exploration: Exploration, progress: Callable[[Progress], None] | None = None
) -> FreeSizes | None:
    """The sizes that may vary; None if it cannot be determined.

    Args:
        exploration: an export of the call, with sizes fixed.
        progress: called while torch traces.

    Raises:
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.attempt import Exported
    from export_engine.capture import capture
    from export_engine.describe import describe
    from export_engine.shapes import Shapes

    request = exploration.session.entry.request
    record = exploration.record
    if request is None or not record.probe.inputs:
        return None
    tried = capture(request.with_changes(shapes=Shapes.parse(_write_spec(record, "*"))), progress)
    if not isinstance(tried, Exported):
        return None
    result = describe(tried)
    shapes = _name_symbols(result)
    fixed = tuple(
        f"`{size.text}` stays {size.size}{_reason(size)}"
        for size in result.probe.inputs
        if isinstance(size.size, int)
    )
    if not shapes:
        return FreeSizes("", False, fixed)
    confirmed = _confirm(request.with_changes(shapes=Shapes.parse(shapes)), progress)
    return FreeSizes(confirmed or _write_spec(record, "*"), bool(confirmed), fixed)


def _reason(size: SizeInput) -> str:
    """Why torch left no choice, where it decides on the sizes of tensors."""
    if size.dim < 0:
        return ""
    if size.size in (0, 1):
        return ": torch specializes on sizes 0 and 1; use an example of 2 or more"
    return ": the code accepts only this size"


def _confirm(request: Request, progress: Callable[[Progress], None] | None) -> str:
    """The shapes with which it exports: those asked for, or mended; empty if it does not."""
    from export_engine.attempt import Exported
    from export_engine.fixes import autofix

    autofix_report = autofix(request, progress)
    if not isinstance(autofix_report.attempt, Exported) or autofix_report.attempt.request is None:
        return ""
    if any(step.fix.kind != "shapes" for step in autofix_report.kept):
        return ""
    return str(autofix_report.attempt.request.shapes)


def _write_spec(record: Record, word: str) -> str:
    """The same spec for every dim of every tensor."""
    counts: dict[str, int] = {}
    for size in record.probe.inputs:
        if size.dim >= 0:
            path = record.signature.inputs[size.entry].path
            counts[path] = counts.get(path, 0) + 1
    return "; ".join(f"{path}: {', '.join([word] * count)}" for path, count in counts.items())


def _name_symbols(record: Record) -> str:
    """The dynamic sizes of an export with automatic dims, with a letter for each symbol."""
    symbols = dict.fromkeys(size.symbol for size in record.probe.inputs if size.symbol >= 0)
    letters = dict(zip(symbols, _LETTERS, strict=False))
    if not letters:
        return ""
    words: dict[str, list[str]] = {}
    bounded: set[int] = set()
    for size in record.probe.inputs:
        if size.dim >= 0:
            path = record.signature.inputs[size.entry].path
            words.setdefault(path, []).append(_word(record, size, letters, bounded))
    lines = [
        f"{path}: {', '.join(word)}" for path, word in words.items() if any(w != "_" for w in word)
    ]
    return "; ".join(lines)


def _word(record: Record, size: SizeInput, letters: dict[int, str], bounded: set[int]) -> str:
    """`a`, `2*a + 1`, `_`; a symbol's bounds come with its first use."""
    letter = letters.get(size.symbol)
    if letter is None:
        return "_"
    if size.symbol not in bounded:
        bounded.add(size.symbol)
        letter += _bounds(record.symbols[size.symbol])
    scaled = letter if size.scale == 1 else f"{size.scale}*{letter}"
    sign = "+" if size.offset > 0 else "-"
    return scaled if size.offset == 0 else f"{scaled} {sign} {abs(size.offset)}"


def _bounds(symbol: Symbol) -> str:
    """`[4..512]` where the code sets bounds; a lower bound of 0, 1 or 2 is torch's default."""
    low = "" if symbol.lower is None or symbol.lower <= 2 else str(symbol.lower)
    high = "" if symbol.upper is None else str(symbol.upper)
    return f"[{low}..{high}]" if low or high else ""
