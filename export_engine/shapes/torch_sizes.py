"""torch's expressions of sizes, as expressions and relations of the language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from export_engine.shapes.errors import ShapesError
from export_engine.shapes.expressions import KINDS, Relation, combine, name_size
from export_engine.sizes import Expression, order_terms, print_size

_SIGNS = {kind: sign for sign, kind in KINDS.items()} | {"PythonMod": "%", "CleanDiv": "//"}
_COMPARED = {
    "Equality": "==",
    "Unequality": "!=",
    "LessThan": "<=",
    "GreaterThan": ">=",
    "StrictLessThan": "<",
    "StrictGreaterThan": ">",
}


def read_relations(given: Expression, names: Mapping[str, Expression]) -> Iterator[Relation]:
    """A condition as relations, all of which hold.

    Args:
        given: a comparison, or several joined by `and`.
        names: what to call each of its symbols, by torch's name of it.

    Raises:
        ShapesError: it is something else, or has a symbol without a name.
    """
    if given.kind == "And":
        for part in given.args:
            yield from read_relations(part, names)
    elif given.kind in _COMPARED:
        left, right = (expression_of_sizes(part, names) for part in given.args)
        yield Relation(_COMPARED[given.kind], left, right)
    elif not (given.is_number and given.value == 1):
        raise ShapesError(f"the assumption {print_size(given, {})} is not a comparison of sizes")


def expression_of_sizes(given: Expression, names: Mapping[str, Expression]) -> Expression:
    """An expression of torch's symbols as one of named sizes, written as one would.

    Raises:
        ShapesError: it has an operator that the language lacks, or a symbol without a name.
    """
    if given.is_symbol:
        result = names.get(given.name)
        if result is None:
            text = given.name.partition("#")[0]
            raise ShapesError(
                f"no dim or int is {text} itself, so torch cannot solve for it; add one"
            )
        return result
    if given.is_number and isinstance(given.value, int):
        return given
    parts, sign = given.args, _SIGNS.get(given.kind, "")
    if given.kind in ("Pow", "PowByNatural") and _is_count(parts[1]):
        parts, sign = parts[:1] * int(parts[1].value), "*"
    if given.kind == "Identity":
        return expression_of_sizes(parts[0], names)
    if not sign:
        operators = " ".join(["+", "-", *list(KINDS)[1:]])
        raise ShapesError(f"the size {print_size(given, {})} cannot be written with {operators}")
    if sign == "+":
        parts = order_terms(parts)
    first, *others = [expression_of_sizes(part, names) for part in parts]
    for other in others:
        first = combine(sign, first, other)
    return first


def _is_count(exponent: Expression) -> bool:
    return exponent.is_number and isinstance(exponent.value, int) and exponent.value > 0


def plain_name(name: str) -> str:
    """A text as a name that the language takes."""
    text = re.sub(r"\W", "_", name)
    if not text.isidentifier():
        text = f"_{text}"
    try:
        name_size(text)
    except ShapesError:
        text = f"{text}_"
    return text
