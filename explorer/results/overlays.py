"""Numbers, texts or colours of the user's own on the nodes of a program."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from explorer.results.op_names import nearest, op_places
from explorer.session.session import Session
from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from export_engine.record import Overlay, Record

Kind = Literal["number", "text", "colour"]
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_MOST_TEXT = 400


def put_overlay(
    session: Session, number: int, name: str, values: Mapping[str, Any], kind: str | None
) -> None:
    """Puts an overlay on an attempt's program; one of the same name is replaced.

    Raises:
        ValueError: there is no such op or kind, or a value is not of the kind.
    """
    entry = session.entries[number]
    others = tuple(each for each in entry.overlays if each.name != name)
    found = _made(entry.record, name, values, kind)
    session.keep(number, overlays=(*others, found) if values else others)


def _made(record: Record, name: str, values: Mapping[str, Any], kind: str | None) -> Overlay:
    from export_engine.record import Overlay

    if not name or not isinstance(name, str):
        raise WrongArgument("An overlay needs a name: .annotate('importance', {'linear': 0.7}).")
    chosen = _kind(values, kind)
    places = op_places(record)
    unknown = [each for each in values if each not in places]
    if unknown:
        near = nearest(str(unknown[0]), places)
        raise WrongArgument(f"There is no op {unknown[0]!r} to lay {name!r} over.{near}")
    told = {each: _value(name, each, value, chosen) for each, value in values.items()}
    return Overlay(
        name=name,
        kind=chosen,
        graphs=[places[each][0] for each in told],
        nodes=[places[each][1] for each in told],
        numbers=[float(each) for each in told.values()] if chosen == "number" else [],
        texts=[] if chosen == "number" else [str(each) for each in told.values()],
    )


def _kind(values: Mapping[str, Any], kind: str | None) -> Kind:
    if kind is not None:
        if kind not in get_args(Kind):
            raise WrongArgument(f"There is no kind {kind!r} of overlay: number, text or colour.")
        return cast("Kind", kind)
    if not all(isinstance(each, str) for each in values.values()):
        return "number"
    coloured = all(_COLOUR.fullmatch(each) for each in values.values())
    return "colour" if coloured else "text"


def _value(name: str, op: str, value: Any, kind: Kind) -> float | str:
    if kind == "number":
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise WrongArgument(f"{name!r} at {op!r} is {value!r:.60}, not a number.") from error
        if not math.isfinite(number):
            raise WrongArgument(f"{name!r} at {op!r} is {number}; give a finite number.")
        return number
    if kind == "colour" and not _COLOUR.fullmatch(str(value)):
        raise WrongArgument(f"{name!r} at {op!r} is {value!r:.60}, not a colour such as '#1a64c4'.")
    return str(value)[:_MOST_TEXT]
