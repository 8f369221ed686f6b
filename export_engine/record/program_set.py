"""The part of the schema that is a set of programs: what flows between them, what they share.

A set has a Record per component; this says what is between those. Numbers of entries, nodes and
stacks are those of the component's own Record.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class ComponentRow(msgspec.Struct, frozen=True):
    """One program of the set."""

    name: str
    """`decode`."""
    verdict: str
    outcome: Literal["exported", "failed"]
    ops: int
    bytes: int
    """Bytes of the weights and constants that it holds."""
    role: str = ""
    """When it is called, where that is known: `the first call`, `each later call`."""


class Flow(msgspec.Struct, frozen=True):
    """A tensor that one program gives and another takes."""

    output: int
    """Into the outputs of the source's signature; -1 for an input or a buffer that it writes."""
    input: int
    """Into the inputs of the target's signature."""
    source_node: int
    """The op whose value it is, in the source's main graph."""
    target_node: int
    """The input, in the target's main graph."""
    source_path: str
    target_path: str
    given: str
    """Its type where it is given: `f32[batch, 2, prompt, 8]`."""
    taken: str
    """Its type where it is taken."""
    kind: Literal["cache", "value", "state"]
    """`cache`: it grows or is kept from call to call. `state`: a buffer that the source writes."""
    known_by: Literal["values", "name", "ops", "part"]
    """`values`: what example calls gave was what others took. `name`: the paths match. `ops`: the
    target gives it back in the same place, with more in it. `part`: example calls took what was
    given without the front of its second dim, or with its first two dims as one."""


class Seam(msgspec.Struct, frozen=True):
    """All that flows from one program to another, or to its own next call."""

    source: int
    """Into `ProgramSet.components`."""
    target: int
    flows: list[Flow]
    summary: str
    """`4 cache tensors`, `last_hidden_state`."""


class SymbolMember(msgspec.Struct, frozen=True):
    """A symbol of one program."""

    component: int
    symbol: int
    """Into `Record.symbols`."""
    name: str
    range: str


class SharedSymbol(msgspec.Struct, frozen=True):
    """A size that is one size in several programs."""

    name: str
    """`batch`; where the programs call it differently, all names: `prompt / past`."""
    members: list[SymbolMember]


class WeightRow(msgspec.Struct, frozen=True):
    """A weight that several programs hold."""

    names: list[str]
    """Per holder, its name there."""
    holders: list[int]
    state: Literal["shared", "duplicated", "different"]
    """`shared`: one memory. `duplicated`: equal values in memory of their own. `different`: by its
    name and size it is one weight, and its values differ."""
    bytes: int
    """Of one copy."""


class SetFinding(msgspec.Struct, frozen=True):
    """Something wrong or surprising between programs."""

    kind: str
    """`sizes-apart`: see `rules.Kind`."""
    heading: str
    severity: Literal["wrong", "surprising", "note"]
    sentence: str
    why: str
    component: int = -1
    """The program that `node` and `stack` are of."""
    node: int = -1
    stack: int = -1
    place: str = ""
    """The line in words: `cache.py:12`."""
    seam: int = -1
    code: str = ""
    """Its stable code: `EX401`."""


class GenerationTrial(msgspec.Struct, frozen=True):
    """One greedy generation by the programs, compared with the model's own."""

    sizes: str
    """`batch = 2, prompt = 7`."""
    backend: str
    outcome: Literal["same", "differs", "failed", "unavailable"]
    """`unavailable`: the backend cannot run here, and nothing was run."""
    tokens: int
    """How many tokens were generated per row."""
    sentence: str
    step: int = -1
    """The first step whose token differs."""
    component: int = -1
    """The first program that is off by more than noise on the model's own inputs; where none is,
    the one that gave that token."""
    node: int = -1
    """The op of its main graph at which the error enters, where it was found."""
    first_ms: float = 0.0
    """Milliseconds to the first token."""
    rate: float = 0.0
    """Tokens a second after the first, over all rows."""
    eager_first_ms: float = 0.0
    eager_rate: float = 0.0


class ProgramSet(msgspec.Struct, frozen=True):
    """A set of programs: everything a view shows beside the Records of its components."""

    title: str
    components: list[ComponentRow]
    seams: list[Seam] = []
    symbols: list[SharedSymbol] = []
    weights: list[WeightRow] = []
    shared_bytes: int = 0
    """Bytes that the set does not need twice, since programs share them."""
    duplicated_bytes: int = 0
    """Bytes that the set holds twice and more, of equal weights in memory of their own."""
    findings: list[SetFinding] = []
    trials: list[GenerationTrial] = []
    notes: list[str] = []
