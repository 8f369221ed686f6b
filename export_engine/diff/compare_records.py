"""Two Records → their difference, up to the names of nodes and symbols.

Nodes are matched in order of trust: entries of the signature; what torch made from what; the same
op on the same values (hashes of everything above and below a node); weights; neighbours that are
the same; at last the same op in the same module, in order. What is matched is compared, what is not
was added or removed. Whether the programs are identical is proven, and not for matching to say.
Nothing here needs torch: two files, two attempts or two levels of decomposition compare alike.
"""

from __future__ import annotations

from export_engine.diff.lone_scopes import lone_scopes
from export_engine.diff.node_pairs import diff_graphs
from export_engine.diff.outside_graphs import other_differences
from export_engine.diff.proof import prove_identical, with_mismatch
from export_engine.diff.renamed_scopes import find_renamed_scopes
from export_engine.diff.side import Side, align_symbols, common_names
from export_engine.record import Difference, GraphDiff, ProgramDiff, Record

__all__ = ["diff_records"]


def diff_records(before: Record, after: Record) -> ProgramDiff:
    """The difference of two programs.

    Args:
        before: a Record of a program.
        after: another's.

    Raises:
        ValueError: one of them has no graph, since its export failed.
    """
    for record in (before, after):
        if not record.graphs or record.failure is not None:
            raise ValueError(f"{record.title} has no program to compare: its export failed.")
    proof = prove_identical(before, after)
    renamed = align_symbols(before, after, proof.symbols if proof.holds else {})
    sides = Side(before, {}), Side(after, common_names(before, after, renamed))
    graphs: list[GraphDiff] = []
    lost: list[Difference] = []
    waiting = [(0, 0, "main")]
    while waiting:
        one, other, title = waiting.pop(0)
        proven = proof.pairs[one, other] if proof.holds else None
        diff = diff_graphs(sides[0], sides[1], one, other, title, proven)
        graphs.append(diff)
        if proof.holds:
            inner = proof.nested[one, other]
            waiting += [(*item[:2], f"{title}.{item.argument}") for item in inner]
            continue
        nested, odd = _match_nested_graphs(before, after, diff)
        waiting += nested
        lost += odd
    others = [*other_differences(sides[0], sides[1], graphs[0]), *lost]
    same = not others and not any(map(_differs, graphs))
    if same and proof.mismatch is not None:
        graphs = with_mismatch(graphs, proof.mismatch)
        if not any(map(_differs, graphs)):
            one, other = proof.mismatch.graphs  # which matching did not pair
            titles = before.graphs[one].title, after.graphs[other].title
            others.append(Difference("graph", titles[0], *titles))
    return ProgramDiff(
        before.title,
        after.title,
        graphs,
        others,
        [[old, new] for old, new in renamed if old != new],
        find_renamed_scopes(before, after, graphs, others),
        lone_scopes(before, after, graphs, others),
        same and proof.holds,
    )


def _differs(graph: GraphDiff) -> bool:
    return bool(graph.added or graph.removed or any(pair.changes for pair in graph.pairs))


def _match_nested_graphs(
    before: Record, after: Record, found: GraphDiff
) -> tuple[list[tuple[int, int, str]], list[Difference]]:
    """The graphs that pairs of nodes run, by the names of the arguments; those without a pair."""
    ones = {
        (nested_graph.node, nested_graph.argument): nested_graph.graph
        for nested_graph in before.graphs[found.before].nested
    }
    others = {
        (nested_graph.node, nested_graph.argument): nested_graph.graph
        for nested_graph in after.graphs[found.after].nested
    }
    pairs = {pair.before: pair.after for pair in found.pairs}
    both, lost = [], []
    for (node, argument), graph in ones.items():
        partner = others.pop((pairs.get(node, -1), argument), None)
        if partner is not None:
            both.append((graph, partner, f"{found.title}.{argument}"))
        elif node in pairs:
            lost.append(Difference("graph", argument, before.graphs[graph].title, ""))
    for (node, argument), graph in others.items():
        if node in pairs.values():
            lost.append(Difference("graph", argument, "", after.graphs[graph].title))
    return both, lost
