"""The difference of two programs as plain data: what a view, a terminal and a test read of it."""

from __future__ import annotations

from typing import Literal

import msgspec

Why = Literal["input", "provenance", "structure", "neighbours", "weights", "sequence"]
"""Why two nodes are matched:

the same entry of the signature; by provenance, and the same op; the same op on the same values; the
same place between matched nodes; the same weights; the same op in the same module, in order.
"""


class Change(msgspec.Struct, frozen=True):
    """One difference of two matched nodes."""

    what: Literal["op", "arguments", "inputs", "type", "scope", "order"]
    before: str
    after: str
    follows: bool = False
    """Whether it only follows from another change: a type that differs because an input's does."""


class Pair(msgspec.Struct, frozen=True):
    """Two matched nodes, one of each program."""

    before: int
    after: int
    why: Why
    changes: list[Change] = []


class Became(msgspec.Struct, frozen=True):
    """An op and the ops that torch decomposed it into, or the other way round."""

    before: list[int]
    after: list[int]


class GraphDiff(msgspec.Struct, frozen=True):
    """The difference of two graphs: the main ones, or those that two nodes run."""

    before: int
    """Into the first Record's graphs."""
    after: int
    title: str
    pairs: list[Pair]
    """In the order of the first graph."""
    removed: list[int]
    added: list[int]
    became: list[Became] = []
    """The known replacements of removed ops by added ones: a decomposition."""


class Difference(msgspec.Struct, frozen=True):
    """A difference outside of the graphs: of the signature, a range, a guard, rejected sizes."""

    kind: Literal["input", "output", "symbol", "guard", "graph", "sizes"]
    name: str
    before: str
    """Empty: it is new."""
    after: str
    """Empty: it is gone."""


class TextDiff(msgspec.Struct, frozen=True):
    """A text that differs."""

    kind: Literal["source", "code"]
    """A file, or a graph as torch prints it."""
    name: str
    diff: str
    """Unified."""


class RenamedScope(msgspec.Struct, frozen=True):
    """A module's path that became another one, and what moved with it and is otherwise the same."""

    before: str
    """`layers.57.attn`; `layers.*.attn` where it became another in the same way at each index."""
    after: str
    modules: int
    """How many paths that is."""
    pairs: list[list[int]]
    """Per graph of the ProgramDiff, numbers into its pairs."""
    others: list[int]
    """Numbers into the ProgramDiff's `others`: a parameter, buffer or constant is two of these."""


class LoneScope(msgspec.Struct, frozen=True):
    """A module that only one of the programs calls."""

    kind: Literal["added", "removed"]
    path: str
    cls: str
    """The class's name."""
    graph: int
    """Into the ProgramDiff's graphs."""
    nodes: list[int]
    """Nodes of the graph in the program that has them, in order."""
    others: list[int]
    """Numbers into the ProgramDiff's `others`: its parameters, buffers and constants."""


class ProgramDiff(msgspec.Struct, frozen=True):
    """How a program differs from another, up to the names of nodes and symbols."""

    before: str
    """Title of the first."""
    after: str
    graphs: list[GraphDiff]
    others: list[Difference]
    symbols: list[list[str]]
    """Symbols that are the same under two names, as pairs of names."""
    renamed: list[RenamedScope] = []
    """Changes that are one and the same: told once, they need not be told one by one."""
    modules: list[LoneScope] = []
    """Nodes added or removed with a whole module, listed once as `renamed`."""
    identical: bool = False
    """Whether it is proven that both are the same program, up to the names of nodes and symbols."""
    weights: str = ""
    """A sentence on weights that hold other values, which graphs do not show; empty without one."""
