"""Which weights of two programs hold other values: a comparison of graphs does not see that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.rendering.escape import harmless

if TYPE_CHECKING:
    from explorer.session_entry import Entry
    from export_engine.archive import HeldWeight
    from export_engine.record import ProgramDiff

_FEW = 3


def compared(before: Entry, after: Entry) -> ProgramDiff:
    """How a program differs from another one, their weights included.

    Raises:
        ValueError: one of them has no program.
    """
    from msgspec.structs import replace

    from export_engine.diff import diff_records

    found = diff_records(before.record, after.record)
    return replace(found, weights=weights_sentence(before, after))


def weights_sentence(before: Entry, after: Entry) -> str:
    """`1 weight holds other values: layers.7.bias.`; empty where none does.

    Weights go by their names. Two files are compared by the checksums in them, two programs in
    memory by their bytes; of a file and a program in memory it is said that they were not, and
    so it is where a program's own are not at hand.
    """
    mine, theirs = _weights(before), _weights(after)
    if mine is None or theirs is None or _of_file(before) != _of_file(after):
        return "The values of weights were not compared." if _names(after) else ""
    shared = not _of_file(after)  # the members of two files have the same names
    differing = [
        name
        for name, held in mine.items()
        if name in theirs and not _same(held, theirs[name], shared)
    ]
    if not differing:
        return ""
    what = "1 weight holds" if len(differing) == 1 else f"{len(differing):,} weights hold"
    more = f" and {len(differing) - _FEW:,} more" if len(differing) > _FEW else ""
    return f"{what} other values: {harmless(', '.join(differing[:_FEW]))}{more}."


def _same(one: HeldWeight, other: HeldWeight, shared: bool) -> bool:
    """Whether two weights hold the same values; those in one place of `shared` memory do."""
    if shared and one.place and one.place == other.place:
        return True
    return one.content() == other.content()


def _of_file(entry: Entry) -> bool:
    from explorer.opened_file import OpenedFile

    return isinstance(entry.attempt, OpenedFile)


def _names(entry: Entry) -> set[str]:
    """The weights of a program, as its signature names them."""
    inputs = entry.record.signature.inputs
    return {each.target for each in inputs if each.kind != "user_input" and each.target}


def _weights(entry: Entry) -> dict[str, HeldWeight] | None:
    """What a program holds, by name; None where it is not at hand."""
    from explorer.opened_file import OpenedFile
    from export_engine.archive import ArchiveError, weights_in

    if isinstance(entry.attempt, OpenedFile):
        try:
            return weights_in(entry.attempt.path, entry.attempt.model)
        except ArchiveError:  # it was moved since it was opened
            return None
    from explorer.dropped_program import DroppedProgram
    from export_engine.attempt import Exported
    from export_engine.programs import weights_of, weights_of_model

    if isinstance(entry.attempt, DroppedProgram):
        # A program that is exported again holds the tensors of its model, not copies.
        held = weights_of_model(entry.attempt.request.target)
        return held if held.keys() >= _names(entry) else None
    return weights_of(entry.attempt.program) if isinstance(entry.attempt, Exported) else None
