"""A guard on sizes that travels with a program, in the user's terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from export_engine.record.comparisons import number_last
from export_engine.record.contract import SizeInput


def guard_text(code: str, shown: Mapping[str, SizeInput]) -> str:
    """`L['x'].size()[0] <= 9` as `batch <= 9`.

    A size goes by the name that it was given; two of one name go by their places, `x.shape[0]`.

    Args:
        code: the guard's own.
        shown: the size that each piece of it stands for.
    """
    text = " ".join(code.split())
    names = guard_names(shown)
    for source in sorted(shown, key=len, reverse=True):
        text = text.replace(source, names[source])
    return number_last(text)


def guard_names(shown: Mapping[str, SizeInput]) -> dict[str, str]:
    """The name or the place of each size of a guard."""
    named = {source: size_name(size) for source, size in shown.items()}
    often = Counter(name for name, _ in {(named[key], size.text) for key, size in shown.items()})
    return {
        source: name if often[name] == 1 else shown[source].text for source, name in named.items()
    }


def size_name(size: SizeInput) -> str:
    """The name that a size was given, `batch`; where it has none of its own, its place."""
    is_symbol = size.symbol >= 0 and (size.scale, size.offset) == (1, 0)
    return str(size.size) if is_symbol else size.text
