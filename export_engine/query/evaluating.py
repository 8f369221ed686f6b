"""Which nodes of a Record match a query; `widgets/frontend/src/query/evaluate.ts` is its twin."""

from __future__ import annotations

from collections.abc import Callable

from export_engine.query.asked import NUMBERS, TEXTS, T, Values
from export_engine.query.fields import LACKS
from export_engine.query.parsing import All, Not, QueryError, Test, Tree, Words, parse
from export_engine.query.texts import finder, sizes_finder
from export_engine.query.words import matching_words
from export_engine.record import OPS, Record

_GET_ATTR = OPS.index("get_attr")
Nodes = set[tuple[int, int]]

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ":": lambda one, other: one == other,
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def query(record: Record, text: str) -> list[tuple[int, int]]:
    """The nodes that match a query, each by its graph and its number, in order.

    Args:
        record: what is asked.
        text: the query; words without a field are searched for as the search box does.

    Raises:
        QueryError: the query cannot be read, or asks for what the Record does not have.
    """
    tree = parse(text)
    everything = {
        (number, node)
        for number, graph in enumerate(record.graphs)
        for node, op in enumerate(graph.op)
        if op != _GET_ATTR
    }
    if isinstance(tree, Words):
        return sorted(matching_words(record, tree.words, alone=True))
    try:
        return sorted(_matching(record, tree, everything))
    except QueryError as error:
        raise QueryError(error.reason, error.column, text) from None


def _matching(record: Record, tree: Tree, everything: Nodes) -> Nodes:
    match tree:
        case Words(words):
            return matching_words(record, words)
        case Not(of):
            return everything - _matching(record, of, everything)
        case All(of):
            return set.intersection(*(_matching(record, item, everything) for item in of))
        case Test():
            return _evaluate_test(record, tree) & everything
    return set().union(*(_matching(record, item, everything) for item in tree.of))


def _evaluate_test(record: Record, test: Test) -> Nodes:
    name = test.field.name
    if name == "overlay":
        return _match_overlay(record, test)
    if test.field.match == "number":
        pairs = _present(NUMBERS[name](record), test)
        compare, wanted = _COMPARE[test.compare], test.number or 0.0
        return {place for place, values in pairs for value in values if compare(value, wanted)}
    asked = _present(TEXTS[name](record), test)
    if test.compare == "!=":
        return {place for place, texts in asked if texts} - _match_text(asked, test)
    return _match_text(asked, test)


def _present(values: Values[T] | None, test: Test) -> Values[T]:
    if values is None:
        lacks = LACKS.get(test.field.needs, "is unknown for this program")
        raise QueryError(f"{test.field.name} {lacks}", test.column)
    return values


def _match_text(asked: Values[str], test: Test) -> Nodes:
    text = test.text
    if test.field.match == "shape":
        fits = sizes_finder(text)
        return {place for place, sizes in asked if fits(list(sizes))}
    if test.field.name == "dtype":
        text = text.removeprefix("torch.")
    find = finder(test.field.match, text, test.compare in ("=", "!="))
    entries: dict[str, bool] = {}
    places: Nodes = set()
    for place, texts in asked:
        for asked_text in texts:
            told = entries.get(asked_text)
            if told is None:
                told = entries[asked_text] = find(asked_text)
            if told:
                places.add(place)
                break
    return places


def _match_overlay(record: Record, test: Test) -> Nodes:
    names = [overlay.name for overlay in record.overlays]
    if test.overlay and test.overlay not in names:
        there = f"; available: {', '.join(names)}" if names else ": .annotate() adds one"
        raise QueryError(f"There is no overlay {test.overlay}{there}", test.column)
    ordered = test.compare in ("<", "<=", ">", ">=")
    if ordered and all(
        overlay.kind != "number" for overlay in record.overlays if overlay.name == test.overlay
    ):
        raise QueryError(f"The overlay {test.overlay} has no numbers", test.column)
    find = finder("contains", test.text, test.compare in ("=", "!="))
    pairs: Nodes = set()
    for overlay in record.overlays:
        if test.overlay not in ("", overlay.name):
            continue
        places = list(zip(overlay.graphs, overlay.nodes, strict=True))
        if overlay.kind == "number" and test.number is not None:
            compare = _COMPARE[test.compare]
            of = zip(places, overlay.numbers, strict=True)
            pairs.update(place for place, number in of if compare(number, test.number))
        elif overlay.kind != "number" and test.compare in (":", "=", "!="):
            of_texts = zip(places, overlay.texts, strict=True)
            wanted = test.compare != "!="
            pairs.update(place for place, text in of_texts if find(text) == wanted)
        if test.compare == ":" and (test.text == "*" or (not test.overlay and find(overlay.name))):
            pairs.update(places)
    return pairs
