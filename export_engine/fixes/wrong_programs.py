"""Fixes of a program that torch.export gave, and that is not the model: what a search starts with.

Two inputs that are one tensor in the example are one in the program. Where the outputs differ from
eager, or the program rejects a call that eager takes, the other mode may see what this one does
not: a write through `.data`, say, or the end of an autocast.
"""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.attempt import Attempt, Exported, Fix
from export_engine.findings import copies_of_shared_inputs
from export_engine.fixes import other_mode


def of_program(attempt: Attempt) -> Iterator[Fix]:
    """Lossless fixes of an attempt that exported; none where nothing is known to be wrong.

    Args:
        attempt: one with its `agreement`.
    """
    if not isinstance(attempt, Exported) or attempt.request is None:
        return
    copied = copies_of_shared_inputs(attempt)
    if copied is not None:
        yield copied
    if attempt.agreement is not None and attempt.agreement.verdict in ("differs", "refused"):
        yield from other_mode.of_program(attempt)
