"""The weights of two programs with different values, which a comparison of graphs does not see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from explorer.text.escape import harmless

if TYPE_CHECKING:
    from explorer.session.entry import Entry
    from export_engine.archive import HeldWeight
    from export_engine.record import Difference, ProgramDiff

_FEW = 3


def compare_entries(before: Entry, after: Entry) -> ProgramDiff:
    """How a program differs from another one, their weights included.

    Raises:
        ValueError: one of them has no program.
    """
    from msgspec.structs import replace

    return replace(diff_of(before, after), weights=weights_sentence(before, after))


def diff_of(before: Entry, after: Entry) -> ProgramDiff:
    """How a program differs from another one, without a look at parameters and buffers.

    The values of constants, which the code has and no training changes, are part of a program.

    Raises:
        ValueError: one of them has no program.
    """
    from msgspec.structs import replace

    from export_engine.diff import diff_records

    diff = diff_records(before.record, after.record)
    changed = list(_constant_differences(before, after))
    identical = diff.identical and not changed
    return replace(diff, others=[*diff.others, *changed], identical=identical)


def _constant_differences(before: Entry, after: Entry) -> Iterator[Difference]:
    from export_engine.record import Difference

    for name, (kind, mine, theirs) in _common_constants(before, after).items():
        if None not in (mine, theirs) and mine != theirs:
            text = f"constant tensor {kind}"
            yield Difference("input", name, text, f"{text} with different values")


def _common_constants(
    before: Entry, after: Entry
) -> dict[str, tuple[str, bytes | None, bytes | None]]:
    """The constants of one name and type in both: the type, and values that are at hand."""
    types = _constants(before)
    names = [name for name, kind in _constants(after).items() if types.get(name) == kind]
    mine, theirs = (before.stored.constants(), after.stored.constants()) if names else ({}, {})
    return {name: (types[name], mine.get(name), theirs.get(name)) for name in names}


def _constants(entry: Entry) -> dict[str, str]:
    """The constant tensors of a program, each with its type."""
    record = entry.record
    return {
        tensor.target: record.types[tensor.type].text if tensor.type >= 0 else ""
        for tensor in record.signature.inputs
        if tensor.kind == "constant_tensor"
    }


def weights_sentence(before: Entry, after: Entry) -> str:
    """`1 weight has different values: layers.7.bias.`; empty if none has.

    Weights go by their names. Two files are compared by the checksums in them, two programs in
    memory by their bytes; a file and a program in memory are not compared, and the sentence tells
    it.
    """
    mine, theirs = (entry.stored.weights(_names(entry)) for entry in (before, after))
    constants = _common_constants(before, after)  # whose values the diff itself has
    if mine is None or theirs is None or before.stored.in_file != after.stored.in_file:
        told = {name for name, values in constants.items() if None not in values}
        return "Weight values were not compared." if _names(after) - told else ""
    shared = not after.stored.in_file  # the members of two files have the same names
    differing = [
        name
        for name, held in mine.items()
        if name in theirs and name not in constants and not _same(held, theirs[name], shared)
    ]
    if not differing:
        return ""
    what = "1 weight has" if len(differing) == 1 else f"{len(differing):,} weights have"
    more = f" and {len(differing) - _FEW:,} more" if len(differing) > _FEW else ""
    return f"{what} different values: {harmless(', '.join(differing[:_FEW]))}{more}."


def _same(one: HeldWeight, other: HeldWeight, shared: bool) -> bool:
    """Whether two weights hold the same values; those in one place of `shared` memory do."""
    if shared and one.place and one.place == other.place:
        return True
    return one.content() == other.content()


def _names(entry: Entry) -> set[str]:
    """The weights of a program, as its signature names them."""
    inputs = entry.record.signature.inputs
    return {tensor.target for tensor in inputs if tensor.kind != "user_input" and tensor.target}
