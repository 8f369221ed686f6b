"""The guarantees as the Record has them."""

from __future__ import annotations

import msgspec

from export_engine.describe import trial_row
from export_engine.record import GuaranteeRow, Record, Verification
from export_engine.rules import code_of
from export_engine.verify.guarantee import Verified

_MOST_LEFT = 32


def with_verification(record: Record, verified: Verified) -> Record:
    """A Record of a program with its guarantees, checked."""
    graph = record.graphs[0] if record.graphs else None
    names = [record.strings[name] for name in graph.name] if graph else []
    rows = [
        GuaranteeRow(
            guarantee.name,
            guarantee.claim,
            guarantee.verdict,
            guarantee.sentence,
            list(guarantee.evidence),
            names.index(guarantee.node) if guarantee.node in names else -1,
            guarantee.lacking,
            guarantee.report,
            code_of("guarantee", guarantee.name),
        )
        for guarantee in verified.guarantees
    ]
    trials = [trial_row(trial) for trial in verified.trials]
    left = [text for guarantee in verified.guarantees for text in guarantee.left]
    verification = Verification(
        verified.verdict, verified.sentence, rows, verified.seconds, trials, left[:_MOST_LEFT]
    )
    return msgspec.structs.replace(record, verification=verification)
