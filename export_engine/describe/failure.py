"""A failed attempt as the Record has it: diagnosis, fixes as cards, and torch's own words."""

from __future__ import annotations

import traceback

from export_engine.attempt import Failed
from export_engine.describe.findings import fix_card
from export_engine.describe.tables import Stacks
from export_engine.diagnose import diagnose, message
from export_engine.record import Failure, Link, Related


def describe_failure(attempt: Failed, stacks: Stacks) -> Failure:
    """The Record's row for a failure."""
    error = attempt.error
    diagnosis = attempt.diagnosis or diagnose(attempt)
    return Failure(
        error=type(error).__name__,
        kind=diagnosis.kind.value,
        known=diagnosis.known,
        sentence=diagnosis.sentence,
        why=" ".join([diagnosis.why, *attempt.refusals]).strip(),
        message=message(error),
        traceback=attempt.traceback or "".join(traceback.format_exception(error)),
        stack=stacks.number(diagnosis.stack),
        span=list(diagnosis.span or ()),
        related=[
            Related(related.text, stacks.number(related.stack)) for related in diagnosis.related
        ],
        links=[Link(link.kind, link.name, link.text, link.url) for link in diagnosis.links],
        fixes=[fix_card(fix, stacks, attempt.request) for fix in attempt.fixes],
        code=diagnosis.kind.code,
    )
