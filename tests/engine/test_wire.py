"""Record ↔ bytes, and the TypeScript types of both ends."""

from __future__ import annotations

import contextlib
import random
from array import array
from pathlib import Path

import pytest
import torch

from export_engine.attempt import Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import Frames, Ragged, Record, encode
from export_engine.record.typescript import generate
from export_engine.record.wire import decode

from ..models import CASES

FRONT_END = Path(__file__).parents[2] / "widgets" / "frontend" / "src"


def small() -> Record:
    column = array("i", [0, 300, -1, 70_000])
    return Record(
        title="<b>é∞\n",
        outcome="exported",
        mode="strict",
        verdict="",
        shapes="",
        torch_version="",
        frames=Frames(column, column[:2], array("i")),
        stacks=Ragged(array("i", [0]), array("i")),
    )


@pytest.mark.parametrize("name", ["tutorial", "branching", "bert2"])
@pytest.mark.slow
def test_a_record_survives_the_wire(name: str) -> None:
    case = CASES[name]()
    record = describe(capture(Request(target=case.model, args=case.args, kwargs=case.kwargs)))
    assert decode(encode(record)) == record


def test_columns_take_the_narrowest_type_that_holds_them() -> None:
    data = encode(small())
    assert decode(data) == small()
    assert b'"type":"i4"' in data
    assert b'"type":"i2"' in data


def test_bytes_that_are_cut_off_or_damaged_are_refused_in_a_sentence() -> None:
    data = encode(small())
    for end in range(len(data)):
        with pytest.raises(ValueError, match="not a Record"):
            decode(data[:end])
    rng = random.Random(0)
    for _ in range(200):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        with contextlib.suppress(ValueError):
            decode(bytes(damaged))


def test_the_front_end_has_the_types_of_this_schema() -> None:
    assert (FRONT_END / "record.gen.ts").read_text() == generate(), "run `make types`"


def test_a_record_holds_no_tensor() -> None:
    with pytest.raises(TypeError, match="plain data, not Tensor"):
        encode(
            Record(
                **{
                    **{f: getattr(small(), f) for f in Record.__struct_fields__},
                    "title": torch.zeros(1),
                }
            )
        )
