"""A `.pt2` file of several programs → a Record and the weights of each. torch is not imported."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from export_engine.archive import limits
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import check
from export_engine.archive.parts import SET, parts_of
from export_engine.archive.plan_reading import read_plan
from export_engine.archive.reading import ReadArchive, read
from export_engine.archive.weights import HeldWeight, constant_values, held_weights
from export_engine.archive.zip_members import Members, read_members
from export_engine.record import GenerationPlan, GenerationTrial


class KeptSet(msgspec.Struct, frozen=True):
    """What `save_set` keeps of a set beside its programs. From a file it is an unchecked claim."""

    order: list[str] = []
    """The programs in the order in which they are called."""
    roles: dict[str, str] = {}
    links: list[tuple[str, str, str, str]] = []
    """Connections between programs: source, path of the output, target, path of the input."""
    trials: list[GenerationTrial] = []


class ReadProgram(NamedTuple):
    """One program of a file."""

    archive: ReadArchive
    weights: dict[str, HeldWeight]


class ReadSet(NamedTuple):
    """All programs of a file, in the order in which they are called where that is known."""

    programs: dict[str, ReadProgram]
    kept: KeptSet
    plan: GenerationPlan
    """How they generate; with `why_not` where that is not known."""


def program_names(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The programs in a file.

    Raises:
        ArchiveError: there is no such file, or it is not a zip file.
    """
    with read_members(Path(path)) as members:
        return tuple(parts_of(members).programs)


def weights_in(path: str | os.PathLike[str], model: str) -> dict[str, HeldWeight]:
    """The weights of one program of a file, by name.

    Raises:
        ArchiveError: there is no such file, or it is not a zip file.
    """
    file = Path(path)
    with read_members(file) as members:
        return held_weights(members, model, f"{file.name}, ")


def constants_in(path: str | os.PathLike[str], model: str) -> dict[str, bytes]:
    """The values of the constant tensors of one program of a file, by name, row by row.

    Those that are pickled, or too large to be compared, are left out.

    Raises:
        ArchiveError: there is no such file, or it is not a zip file, or it is damaged.
    """
    file = Path(path)
    with read_members(file) as members:
        return constant_values(members, model, f"{file.name}, ")


def read_set(path: str | os.PathLike[str]) -> ReadSet:
    """Reads all programs of a file as data: nothing in it is run.

    Raises:
        ArchiveError: as `read` raises it; or the file has more programs than are read.
    """
    file = Path(path)
    with read_members(file) as members:
        names = list(parts_of(members).programs)
        if len(names) > limits.PROGRAMS:
            raise ArchiveError(
                f"{file.name} has {len(names):,} programs; at most {limits.PROGRAMS} are read. "
                "explorer.load(path, model=…) and --model open one of them."
            )
        kept = _read_saved_set(members, file.name)
        plan = read_plan(members, names, file.name)
        weights = {name: held_weights(members, name, f"{file.name}, ") for name in names}
    order = [*dict.fromkeys(name for name in kept.order if name in names)]
    order += [name for name in names if name not in order]
    read_programs = {name: ReadProgram(read(file, name), weights[name]) for name in order}
    return ReadSet(read_programs, kept, plan)


def _read_saved_set(members: Members, title: str) -> KeptSet:
    """The stored part of the set; nothing if it cannot be read."""
    if SET not in members:
        return KeptSet()
    try:
        data = members.read(SET, limits.CONFIG_BYTES)
        check(data, f"{title}, {SET}")
        return msgspec.json.decode(data, type=KeptSet)
    except (ValueError, RecursionError):  # an ArchiveError and msgspec's errors are ValueErrors
        return KeptSet()
