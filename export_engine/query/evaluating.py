"""Which nodes of a Record match a query; `widgets/frontend/src/query/evaluate.ts` is its twin."""

from __future__ import annotations

from collections.abc import Callable

from export_engine.query.asked import NUMBERS, TEXTS, Values
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
            return set.intersection(*(_matching(record, each, everything) for each in of))
        case Test():
            return _tested(record, tree) & everything
    return set().union(*(_matching(record, each, everything) for each in tree.of))


def _tested(record: Record, test: Test) -> Nodes:
    name = test.field.name
    if name == "overlay":
        return _overlaid(record, test)
    if test.field.match == "number":
        found = NUMBERS[name](record)
        if found is None:
            lacks = LACKS.get(test.field.needs, "is not known of this program")
            raise QueryError(f"{name} {lacks}", test.column)
        compare, wanted = _COMPARE[test.compare], test.number or 0.0
        return {place for place, values in found for each in values if compare(each, wanted)}
    asked = TEXTS[name](record)
    if test.compare == "!=":
        return {place for place, texts in asked if texts} - _found(asked, test)
    return _found(asked, test)


def _found(asked: Values[str], test: Test) -> Nodes:
    text = test.text
    if test.field.match == "shape":
        fits = sizes_finder(text)
        return {place for place, sizes in asked if fits(list(sizes))}
    if test.field.name == "dtype":
        text = text.removeprefix("torch.")
    find = finder(test.field.match, text, test.compare in ("=", "!="))
    known: dict[str, bool] = {}
    found: Nodes = set()
    for place, texts in asked:
        for each in texts:
            told = known.get(each)
            if told is None:
                told = known[each] = find(each)
            if told:
                found.add(place)
                break
    return found


def _overlaid(record: Record, test: Test) -> Nodes:
    names = [each.name for each in record.overlays]
    if test.overlay and test.overlay not in names:
        there = f"; there are {', '.join(names)}" if names else ": .annotate() adds one"
        raise QueryError(f"There is no overlay {test.overlay}{there}", test.column)
    ordered = test.compare in ("<", "<=", ">", ">=")
    if ordered and all(
        each.kind != "number" for each in record.overlays if each.name == test.overlay
    ):
        raise QueryError(f"The overlay {test.overlay} has no numbers", test.column)
    find = finder("contains", test.text, test.compare in ("=", "!="))
    found: Nodes = set()
    for each in record.overlays:
        if test.overlay not in ("", each.name):
            continue
        places = list(zip(each.graphs, each.nodes, strict=True))
        if each.kind == "number" and test.number is not None:
            compare = _COMPARE[test.compare]
            of = zip(places, each.numbers, strict=True)
            found.update(place for place, number in of if compare(number, test.number))
        elif each.kind != "number" and test.compare in (":", "=", "!="):
            of_texts = zip(places, each.texts, strict=True)
            wanted = test.compare != "!="
            found.update(place for place, text in of_texts if find(text) == wanted)
        if test.compare == ":" and (test.text == "*" or (not test.overlay and find(each.name))):
            found.update(places)
    return found
