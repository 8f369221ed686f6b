"""Failures with a PackedSequence: what an RNN of torch takes for rows of several lengths."""

from __future__ import annotations

import re
import traceback

from torch.nn.utils.rnn import PackedSequence

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind
from export_engine.diagnose.errors import cause, message
from export_engine.diagnose.explanations import exportdb
from export_engine.diagnose.failing_line import chain, failing_place

_ON_CPU = "batch_sizes should always be on CPU"
_PACKING = re.compile(r"\bpack(ed)?_(padded_)?sequence\(|\bpad_packed_sequence\(")


def diagnose_packed_sequence(attempt: Failed) -> Diagnosis | None:
    """Diagnoses rows that are packed by their lengths."""
    packing = _PACKING.search(failing_place(attempt.error).text)
    if packing or any(map(_is_given_one, chain(attempt.error))):
        return _of_rows(attempt)
    return None


def _of_rows(attempt: Failed) -> Diagnosis:
    place = failing_place(attempt.error)
    called = f"`{place.text}`" if place.text else "This line"
    return Diagnosis(
        kind=Kind.LOOP_ON_DATA,
        sentence=rules.LoopOnData.PACKED_SEQUENCE(called=called),
        why=rules.LoopOnData.PACKED_SEQUENCE_WHY(),
        stack=place.stack,
        span=place.span,
        links=exportdb(Kind.LOOP_ON_DATA),
    )


def diagnose_packed_on_gpu(attempt: Failed) -> Diagnosis | None:
    """Diagnoses the same on a GPU, where torch's fake tensor of the rows at each step is on it.

    The real one is on the CPU, and torch refuses another.
    """
    return _of_rows(attempt) if _ON_CPU in message(cause(attempt.error)) else None


def _is_given_one(error: BaseException) -> bool:
    """Whether an error passed through a function of torch's that was given a PackedSequence."""
    return any(
        isinstance(value, PackedSequence)
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") in ("torch.nn.modules.rnn", "torch.nn.utils.rnn")
        for value in frame.f_locals.values()
    )
