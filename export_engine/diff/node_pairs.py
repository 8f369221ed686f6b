"""Two graphs → their difference: changed pairs of nodes, and unmatched nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from export_engine.diff.argument_changes import find_changed_arguments
from export_engine.diff.calls import fill
from export_engine.diff.forced_pairs import find_left_out
from export_engine.diff.matching import Matching, Nodes
from export_engine.diff.provenance import Group, provenance
from export_engine.diff.side import Side
from export_engine.record import Became, Change, GraphDiff, Pair


def diff_graphs(
    before: Side,
    after: Side,
    one: int,
    other: int,
    title: str,
    proven: Mapping[int, int] | None = None,
) -> GraphDiff:
    """The difference of a graph of each side.

    Args:
        before: the first program.
        after: the second.
        one: a graph of the first, by number.
        other: a graph of the second.
        title: what to call them.
        proven: per node of the first, the same one of the second, where that is proven of all.
    """
    mine = Nodes(before, before.record.graphs[one])
    theirs = Nodes(after, after.record.graphs[other])
    groups = provenance(before, after) if one == other == 0 else []
    matching = Matching(mine, theirs, groups, proven)
    changes = _Changes(mine, theirs, matching, proven is not None)
    pairs = [
        Pair(node, matching.partner[node], matching.why[node], changes.of(node))
        for node in sorted(matching.partner)
    ]
    idle = find_left_out(before.record, one), find_left_out(after.record, other)
    removed = [n for n in range(len(mine)) if n not in matching.partner and n not in idle[0]]
    added = [n for n in range(len(theirs)) if n not in matching.origin and n not in idle[1]]
    became = _became(groups, set(removed), set(added))
    return GraphDiff(one, other, title, pairs, removed, added, became)


def _became(known: list[Group], removed: set[int], added: set[int]) -> list[Became]:
    """The known replacements that are differences."""
    left = (
        Became([old for old in before if old in removed], [new for new in after if new in added])
        for before, after in known
    )
    return [became for became in left if became.before and became.after]


class _Changes:
    """Differences of the two nodes of each pair."""

    def __init__(self, before: Nodes, after: Nodes, matching: Matching, is_proven: bool) -> None:
        self._before = before
        self._after = after
        self._matching = matching
        self._is_proven = is_proven
        self._types: set[int] = set()
        """Nodes of the first graph whose value has a different type."""

    def of(self, node: int) -> list[Change]:
        """The changes of a node; called in order, so that consequences are known as such."""
        return list(self._of(node, self._matching.partner[node]))

    def _of(self, one: int, other: int) -> Iterator[Change]:
        if self._before.scopes[one] != self._after.scopes[other]:
            yield Change("scope", self._before.scopes[one], self._after.scopes[other])
        if not self._is_proven:
            yield from self._of_calls(one, other)

    def _of_calls(self, one: int, other: int) -> Iterator[Change]:
        mine, theirs = self._before.labels[one], self._after.labels[other]
        if (mine.op, mine.target) != (theirs.op, theirs.target):
            yield Change("op", mine.target or mine.op, theirs.target or theirs.op)
        if mine.arguments != theirs.arguments and mine.op not in ("output", "placeholder"):
            follows = self._is_consequence(one)
            shown = _name_inputs(self._before, one), _name_inputs(self._after, other)
            if mine.target == theirs.target:
                texts = mine.arguments, theirs.arguments
                shown = find_changed_arguments(*texts, self._before.schema(one), shown)
            yield Change("arguments", *shown, follows)
        yield from self._inputs(one, other)
        if mine.type != theirs.type:
            own = not self._is_consequence(one) and mine.target == theirs.target
            self._types.add(one)
            yield Change("type", mine.type, theirs.type, not own)

    def _inputs(self, one: int, other: int) -> Iterator[Change]:
        """Inputs that exist in both programs and have changed."""
        mine, theirs = self._before.inputs[one], self._after.inputs[other]
        if len(mine) != len(theirs):
            if self._is_explained(mine, theirs):
                return
            yield Change(
                "inputs",
                _join_input_names(self._before, mine),
                _join_input_names(self._after, theirs),
            )
            return
        partner, origin = self._matching.partner, self._matching.origin
        if any(
            source in partner and now in origin and partner[source] != now
            for source, now in zip(mine, theirs, strict=True)
        ):
            yield Change(
                "inputs",
                _join_input_names(self._before, mine),
                _join_input_names(self._after, theirs),
            )

    def _is_explained(self, mine: list[int], theirs: list[int]) -> bool:
        """Whether inputs more or fewer are ops that were added or removed."""
        partner, origin = self._matching.partner, self._matching.origin
        kept = [partner[source] for source in mine if source in partner]
        return kept == [now for now in theirs if now in origin]

    def _is_consequence(self, one: int) -> bool:
        """Whether some input's type differs already, or is that of another op."""
        partner, origin = self._matching.partner, self._matching.origin
        theirs = self._after.inputs[partner[one]]
        lost = any(source not in partner for source in self._before.inputs[one])
        new = any(source not in origin for source in theirs)
        return lost or new or any(source in self._types for source in self._before.inputs[one])


def _name_inputs(nodes: Nodes, node: int) -> str:
    """The arguments of a call, with its inputs by name."""
    side, graph = nodes.side, nodes.graph
    inputs = nodes.inputs[node]
    text = side.text(side.record.strings[graph.args[node]])
    return fill(text, [side.name(graph, each) for each in inputs])


def _join_input_names(nodes: Nodes, inputs: list[int]) -> str:
    return ", ".join(nodes.side.name(nodes.graph, node) for node in inputs)
