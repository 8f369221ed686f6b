"""The user's own numbers, strings or colours on the nodes of a program: `ex.annotate()`."""

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
    others = tuple(kept for kept in entry.overlays if kept.name != name)
    overlay = _make_overlay(entry.record, name, values, kind)
    session.keep(number, overlays=(*others, overlay) if values else others)


def _make_overlay(
    record: Record, name: str, values: Mapping[str, Any], kind: str | None
) -> Overlay:
    from export_engine.record import Overlay

    if not name or not isinstance(name, str):
        raise WrongArgument("An overlay needs a name: .annotate('importance', {'linear': 0.7}).")
    chosen = _kind(values, kind)
    places = op_places(record)
    unknown = [value for value in values if value not in places]
    if unknown:
        near = nearest(str(unknown[0]), places)
        raise WrongArgument(f"There is no op {unknown[0]!r} to annotate with {name!r}.{near}")
    told = {text: _value(name, text, value, chosen) for text, value in values.items()}
    return Overlay(
        name=name,
        kind=chosen,
        graphs=[places[text][0] for text in told],
        nodes=[places[text][1] for text in told],
        numbers=[float(item) for item in told.values()] if chosen == "number" else [],
        texts=[] if chosen == "number" else [str(item) for item in told.values()],
    )


def _kind(values: Mapping[str, Any], kind: str | None) -> Kind:
    if kind is not None:
        if kind not in get_args(Kind):
            raise WrongArgument(f"{kind!r} is not a kind of overlay. Pass number, text or colour.")
        return cast("Kind", kind)
    if not all(isinstance(value, str) for value in values.values()):
        return "number"
    coloured = all(_COLOUR.fullmatch(value) for value in values.values())
    return "colour" if coloured else "text"


def _value(name: str, op: str, value: Any, kind: Kind) -> float | str:
    if kind == "number":
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise WrongArgument(f"{name!r} at {op!r} is {value!r:.60}, not a number.") from error
        if not math.isfinite(number):
            raise WrongArgument(f"{name!r} at {op!r} is {number}; pass a finite number.")
        return number
    if kind == "colour" and not _COLOUR.fullmatch(str(value)):
        raise WrongArgument(f"{name!r} at {op!r} is {value!r:.60}, not a colour such as '#1a64c4'.")
    return str(value)[:_MOST_TEXT]
