"""Random programs edited at random: how many edits change them, and what is then said."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from torch.export import ExportedProgram

import explorer
from explorer.results.contract_differences import ContractDifferences
from explorer.session.given_program import entry_of
from explorer.testing import assert_same_export
from export_engine.record import ProgramDiff
from tests.claims.random_edits import Choice, copies, edited
from tests.claims.random_programs import Outcome, differs, export, outcome

_NARROWER = ("guard", "bound")
"""Edits after which a program accepts other sizes, though the outputs may be equal."""


@dataclass
class EditCounts:
    """Counts of random edits and of copies, and the wrong claims about them, by seed."""

    edits: int = 0
    changing: int = 0
    """Edits that change outputs, state, or which sizes are accepted."""
    copies: int = 0
    """Comparisons of a program with a copy."""
    seconds: float = 0.0
    called_identical: list[str] = field(default_factory=list)
    """Edits that change the program, and are said not to."""
    called_different: list[str] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)
    """Where `ok` and the differences listed contradict each other."""

    @property
    def wrong(self) -> list[str]:
        """All of that."""
        return [*self.called_identical, *self.called_different, *self.unsaid]


class _Known(NamedTuple):
    """A program, what runs of it give, and the forms that others are compared with."""

    where: str
    program: ExportedProgram
    outputs: Outcome
    shown: explorer.Exploration
    file: Path
    opened: explorer.Exploration
    """As read from its `.pt2` file."""
    kit: explorer.Programs
    """A set of it, twice, that was saved and opened again."""


def _known_programs(seed: int, folder: Path) -> Iterator[_Known]:
    """The program of a seed as traced, and as decomposed."""
    traced = export(seed).program
    for level, program in (("traced", traced), ("decomposed", traced.run_decompositions({}))):
        shown = explorer.view(program)
        file = shown.save(folder / f"{seed}-{level}.pt2")
        kit = explorer.Programs({"a": shown, "b": shown}).save(folder / f"{seed}-{level}-set.pt2")
        yield _Known(
            where=f"seed {seed}, {level}",
            program=program,
            outputs=outcome(program),
            shown=shown,
            file=file,
            opened=explorer.view(file),
            kit=explorer.view(kit),
        )


def count_edits(
    seeds: Iterable[int],
    edits: int,
    folder: Path,
    *,
    faces_of: int = 10,
    into: EditCounts | None = None,
) -> EditCounts:
    """Edits programs at random, and holds what a diff says to what runs give.

    Args:
        seeds: of the programs.
        edits: of each program, at each of its two levels.
        folder: for golden files and sets.
        faces_of: of so many edits one is also held to a golden file and compared in a set.
        into: what is counted already.
    """
    counts, begun = into or EditCounts(), time.monotonic()
    for seed in seeds:
        choice = Choice(seed)
        for known in _known_programs(seed, folder):
            _count_copies(known, choice, counts)
            for number in range(edits):
                made = edited(known.program, choice)
                if made is not None:
                    counts.edits += 1
                    _count_edit(known, *made, counts, faces=number % faces_of == 0)
    counts.seconds += time.monotonic() - begun
    return counts


def _count_copies(known: _Known, choice: Choice, counts: EditCounts) -> None:
    loaded = explorer.view(torch.export.load(known.file))
    made = [(name, explorer.view(twin)) for name, twin in copies(known.program, choice)]
    for name, twin in (*made, ("saved", loaded)):
        for base, before in (("live", known.shown), ("file", known.opened)):
            counts.copies += 1
            if not explorer.diff(before, twin).ok:
                counts.called_different.append(f"{known.where}: a {name} copy, {base}")
    counts.copies += 1
    if not explorer.diff(known.kit, explorer.Programs(dict.fromkeys("ab", loaded))).ok:
        counts.called_different.append(f"{known.where}: a saved set")


def _count_edit(
    known: _Known, edit: str, program: ExportedProgram, counts: EditCounts, faces: bool
) -> None:
    narrower = edit in _NARROWER
    changed = narrower or differs(program, known.outputs)
    counts.changing += changed
    shown = explorer.view(program)
    diffs = {
        "live": explorer.diff(known.shown, shown).diff,
        "file": explorer.diff(known.opened, shown).diff,
    }
    identical = {base: diff.identical for base, diff in diffs.items()}
    if narrower:
        entries = [entry_of(each) for each in (known.program, program)]
        identical["contract"] = ContractDifferences(*entries).ok
    if faces:
        identical["golden file"] = _passes(shown, known.file)
        pair = explorer.diff(known.kit, explorer.Programs({"a": known.shown, "b": shown}))
        identical["set"] = pair.ok
        if not pair["a"].ok or pair["b"].ok != pair.ok:
            counts.unsaid.append(f"{known.where}: {edit} of one program of a set")
    for base, is_identical in identical.items():
        if changed and is_identical:
            counts.called_identical.append(f"{known.where}: {edit}, {base}")
    for base, diff in diffs.items():
        if diff.identical == _says_difference(diff):
            counts.unsaid.append(f"{known.where}: {edit}, {base}")


def _passes(shown: explorer.Exploration, golden: Path) -> bool:
    try:
        assert_same_export(shown, golden)
    except AssertionError:
        return False
    return True


def _says_difference(diff: ProgramDiff) -> bool:
    """Whether a diff names any difference."""
    return bool(diff.others) or any(
        graph.added or graph.removed or any(pair.changes for pair in graph.pairs)
        for graph in diff.graphs
    )
