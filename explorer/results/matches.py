"""Ops of a session's program that match a query, by name: `ex.query()`."""

from __future__ import annotations

from explorer.results.op_names import op_places
from explorer.session.session import Session


class Matches(tuple[str, ...]):
    """Names of ops, as `overlay` and `watch` take them; `print` them, one a line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(self) or "Nothing matches."


def matches(session: Session, number: int, text: str) -> Matches:
    """The ops of an attempt's program that match a query, in order.

    Raises:
        QueryError: the query cannot be read, or asks for what is not there.
    """
    from export_engine.query import query

    record = session.entries[number].record
    names = {place: name for name, place in reversed(op_places(record).items())}
    return Matches(names[pair] for pair in query(record, text) if pair in names)
