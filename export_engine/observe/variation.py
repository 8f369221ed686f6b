"""Seen calls → groups of one build each, and per group the Shapes that hold of all its calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from export_engine.observe.seen_calls import Call, Part, Seen, SeenCalls
from export_engine.shapes import Dynamic, Named, Shapes, Spec, Static

_FEWEST = 3
"""Different pairs of sizes that make a relation such as `2*seq` more than chance."""
_MOST_SCALE = 64
_SHOWN = 6


class Column(NamedTuple):
    """A size or int of every call of a group."""

    path: str
    position: int
    """The position of the dim; -1 for an int."""
    values: tuple[int, ...]
    whole: bool
    """Whether its tensor holds whole numbers, as ids are."""
    dims: int

    def __str__(self) -> str:
        return self.path if self.position < 0 else f"{self.path}.shape[{self.position}]"

    @property
    def varies(self) -> bool:
        """Whether it is not the same in every call."""
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Group:
    """Calls of one build: the same leaves of the same kinds, with sizes that may vary."""

    build: tuple[Part, ...]
    calls: tuple[tuple[Call, Seen], ...]

    @property
    def times(self) -> int:
        """How many calls there were."""
        return sum(seen.times for _, seen in self.calls)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Every size and int."""
        return tuple(_columns(self.build, [call.sizes for call, _ in self.calls]))

    @cached_property
    def dims(self) -> dict[str, list[Column]]:
        """The sizes that vary, those that are always equal under one name."""
        equal: dict[tuple[int, ...], list[Column]] = {}
        for column in self.columns:
            if column.varies and column.position >= 0:
                equal.setdefault(column.values, []).append(column)
        taken = {part[0] for part in self.build}
        return {_name(columns, taken): columns for columns in equal.values()}

    @cached_property
    def relations(self) -> dict[str, Named]:
        """The dims that are always `scale * other + offset` of one before, enough times seen."""
        lines: dict[str, Named] = {}
        free: list[str] = []
        for name, columns in self.dims.items():
            related = (_line(other, self.dims[other][0], columns[0]) for other in free)
            line = next((item for item in related if item is not None), None)
            if line is None:
                free.append(name)
            else:
                lines[name] = line
        return lines

    @cached_property
    def shapes(self) -> Shapes:
        """What is dynamic."""
        specs: dict[tuple[str, int], Spec] = {}
        for name, columns in self.dims.items():
            spec = self.relations.get(name, Named(name))
            specs |= {(column.path, column.position): spec for column in columns}
        specs |= {(c.path, 0): Dynamic() for c in self.columns if c.position < 0 and c.varies}
        leaves: dict[str, list[Spec]] = {}
        for column in self.columns:
            at = (column.path, max(column.position, 0))
            leaves.setdefault(column.path, []).append(specs.get(at, Static()))
        dynamic = {path: leaf for path, leaf in leaves.items() if set(leaf) != {Static()}}
        return Shapes({path: tuple(group) for path, group in dynamic.items()})

    def sentences(self) -> list[str]:
        """Sentences on sizes that vary, sizes that are equal, and inputs that are None."""
        texts = []
        for name, columns in self.dims.items():
            places = _join_texts(map(str, columns))
            verb = "vary together" if len(columns) > 1 else "varies"
            low, high = min(columns[0].values), max(columns[0].values)
            line = self.relations.get(name)
            what = name if line is None else _formula(line)
            texts.append(f"{places}: {verb} from {low} to {high}, {what}")
        sizes = {columns[0].values: name for name, columns in self.dims.items()}
        for column in self.columns:
            if column.position < 0 and column.varies:
                same = sizes.get(column.values)
                equal = f", always equal to {same}" if same else ""
                low, high = min(column.values), max(column.values)
                texts.append(f"{column}: an int from {low} to {high}{equal}")
        nothing = [part[0] for part in self.build if part[1] == "None"]
        if nothing:
            texts.append(f"{_join_texts(nothing)}: always None")
        return texts or ["no size varies"]


def groups_of(seen: SeenCalls) -> list[Group]:
    """The groups, that of the most calls first."""
    builds: dict[tuple[Part, ...], list[tuple[Call, Seen]]] = {}
    for call, item in seen.seen.items():
        builds.setdefault(call.build, []).append((call, item))
    groups = [Group(build, tuple(calls)) for build, calls in builds.items()]
    return sorted(groups, key=lambda group: -group.times)


def difference(group: Group, other: Group) -> str:
    """How the calls of a group differ from those of another in what they pass: a clause."""
    ours, theirs = ({part[0]: part[1:] for part in either.build} for either in (group, other))
    changed = [path for path in ours | theirs if ours.get(path) != theirs.get(path)]
    return "; ".join(f"{path} is {_what(ours.get(path))}" for path in changed[:_SHOWN])


def _what(part: tuple[str, ...] | None) -> str:
    if part is None:
        return "not passed"
    kind, *more = part
    return more[0] if more else "an int" if kind == "int" else kind


def _columns(
    build: Sequence[Part], calls: Sequence[tuple[tuple[int, ...], ...]]
) -> Iterable[Column]:
    for number, (path, kind, *more) in enumerate(build):
        rows = [sizes[number] for sizes in calls]
        whole = bool(more) and more[0].startswith(("a int", "a uint", "a bool"))
        for position in range(len(rows[0])):
            values = tuple(row[position] for row in rows)
            at = -1 if kind == "int" else position
            yield Column(path, at, values, whole, len(rows[0]))


def _name(columns: Sequence[Column], taken: set[str]) -> str:
    """A name for sizes that are equal, as a user would call them; added to those taken."""
    positions = {column.position for column in columns}
    first = columns[0]
    wished = f"{first.path.rpartition('.')[2]}_{first.position}"
    if positions == {0}:
        wished = "batch"
    elif positions == {1} and any(column.whole for column in columns):
        wished = "seq"
    elif first.dims == 4 and positions in ({2}, {3}):
        wished = "height" if positions == {2} else "width"
    name = wished if wished.isidentifier() else f"dim_{first.position}"
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _line(name: str, base: Column, other: Column) -> Named | None:
    """`other` as a multiple of `base` plus a number; None if it is not, or may be by chance."""
    pairs = sorted(set(zip(base.values, other.values, strict=True)))
    if len(pairs) < _FEWEST or len({size for size, _ in pairs}) != len(pairs):
        return None
    (low, first), *_, (high, last) = pairs
    scale, rest = divmod(last - first, high - low)
    if rest or not 1 <= scale <= _MOST_SCALE:
        return None
    offset = first - scale * low
    if any(size != scale * at + offset for at, size in pairs):
        return None
    return Named(name, scale, offset)


def _formula(line: Named) -> str:
    head = line.name if line.scale == 1 else f"{line.scale}*{line.name}"
    sign = "+" if line.offset > 0 else "-"
    return f"{head} {sign} {abs(line.offset)}" if line.offset else head


def _join_texts(texts: Iterable[str]) -> str:
    every = list(texts)
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more
