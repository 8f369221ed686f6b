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
            each.name,
            each.claim,
            each.verdict,
            each.sentence,
            list(each.evidence),
            names.index(each.node) if each.node in names else -1,
            each.lacking,
            each.report,
            code_of("guarantee", each.name),
        )
        for each in verified.guarantees
    ]
    trials = [trial_row(each) for each in verified.trials]
    left = [each for guarantee in verified.guarantees for each in guarantee.left]
    found = Verification(
        verified.verdict, verified.sentence, rows, verified.seconds, trials, left[:_MOST_LEFT]
    )
    return msgspec.structs.replace(record, verification=found)
