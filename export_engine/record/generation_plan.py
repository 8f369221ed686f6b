"""How the programs of a set generate: which is called when, with what, and where its token is.

It is plain data, so that a file of programs can generate where the model's class is not there.
From a file it is a claim: its limits are here, and `archive` checks it.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Token = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
_Tokens = Annotated[list[_Token], msgspec.Meta(max_length=4_096)]
_Place = Annotated[int, msgspec.Meta(ge=0, le=200_000)]
_Offset = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31)]

CONSTANT_VALUES = 1_024
"""The largest number of elements of a tensor that is kept as a constant."""


class Given(msgspec.Struct, frozen=True, tag="given", forbid_unknown_fields=True):
    """An input of `generate()`, unchanged."""

    name: _Name


class Extended(msgspec.Struct, frozen=True, tag="extended", forbid_unknown_fields=True):
    """An input of `generate()` with a value appended per new token: a mask with ones."""

    name: _Name
    fill: Annotated[int, msgspec.Meta(ge=0, le=1)]


class Tokens(msgspec.Struct, frozen=True, tag="tokens", forbid_unknown_fields=True):
    """The tokens so far, or the last one: `[batch, tokens]`."""

    last: bool


class Passed(msgspec.Struct, frozen=True, tag="passed", forbid_unknown_fields=True):
    """An output of a program: of these, the one that ran last."""

    outputs: Annotated[list[tuple[_Name, _Place]], msgspec.Meta(min_length=1, max_length=64)]
    """Names of programs, and places in what they return, flattened."""
    written: bool = False
    """Whether the places are of inputs, which the programs write."""
    skip: Annotated[int, msgspec.Meta(ge=0, le=64)] = 0
    """How much of its second dim is left out at the front, as the class token of an image."""
    flat: bool = False
    """Whether its first two dims are then made one, as the patches of all images."""


class Ones(msgspec.Struct, frozen=True, tag="ones", forbid_unknown_fields=True):
    """A mask of ones, as long as the tokens so far."""

    offset: _Offset


class Positions(msgspec.Struct, frozen=True, tag="positions", forbid_unknown_fields=True):
    """The positions of the tokens so far."""

    last: bool
    """Whether of the last token alone."""
    offset: _Offset
    """The value of the first position."""
    lead: Annotated[int, msgspec.Meta(ge=-2, le=8)]
    """-2: `[tokens]`; -1: `[1, tokens]`; 0: `[batch, tokens]`; n: `[n, batch, tokens]`."""
    mask: _Name = ""
    """The mask by which they are counted, extended by ones; without, they count from 0."""
    padded: _Offset = 1
    """The position where the mask is 0."""


class Constant(msgspec.Struct, frozen=True, tag="constant", forbid_unknown_fields=True):
    """The same small tensor in every call."""

    shape: Annotated[list[_Place], msgspec.Meta(max_length=64)]
    values: Annotated[list[bool | int | float], msgspec.Meta(max_length=CONSTANT_VALUES)]


Source = Given | Extended | Tokens | Passed | Ones | Positions | Constant

DType = Literal[
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"
]


class PlannedInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tensor that a call is given."""

    place: _Place
    """In the call's inputs, flattened."""
    dtype: DType
    source: Source


class PlannedCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call of a program."""

    program: _Name
    inputs: Annotated[list[PlannedInput], msgspec.Meta(max_length=20_000)]


_Calls = Annotated[list[PlannedCall], msgspec.Meta(max_length=64)]


class GenerationPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The calls of a greedy generation."""

    first: _Calls = []
    """Those before the first token: encoder, prefill."""
    later: _Calls = []
    """Those before each later token: decode."""
    logits: Annotated[list[tuple[_Name, _Place]], msgspec.Meta(max_length=64)] = []
    """Where the last program of a round gives the logits: its name, and the place."""
    prompt: _Name = ""
    """The input of `generate()` that the tokens begin with; else they begin with `start`."""
    start: _Tokens = []
    start_left_out: bool = False
    """Whether `generate()` gives the tokens without `start`."""
    end: _Tokens = []
    """Tokens that end a row."""
    pad: _Token = 0
    """The token that fills a row after its end."""
    suppressed: _Tokens = []
    """Tokens that are never chosen."""
    suppressed_first: _Tokens = []
    """Tokens that are not chosen first."""
    why_not: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    """Why the set does not generate on its own, as a sentence."""
