"""Links that explain a failure: ExportDB cases and pages of torch's graph break registry."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.attempt import Kind, Link
from export_engine.torch_internals import exportdb_cases, graph_break, whole_explanations

_EXPORTDB = "https://pytorch.org/docs/main/generated/exportdb/index.html#{anchor}"
_GRAPH_BREAKS = "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb{number}.html"


class Explained(NamedTuple):
    """The case of ExportDB that explains a kind of failure."""

    case: str
    text: str
    """Its topic, in a few words."""


CASES = {
    (Kind.SHAPES_VIOLATED, "range"): Explained(
        "dynamic_shape_if_guard", "A branch on a size bounds the size"
    ),
    (Kind.SHAPES_VIOLATED, "fixed"): Explained(
        "dynamic_shape_constructor", "Sizes read from the input are dynamic"
    ),
    (Kind.SHAPES_VIOLATED, "tied"): Explained(
        "dynamic_shape_round", "A rounded size cannot be a Dim"
    ),
    (Kind.BRANCH_ON_DATA, ""): Explained(
        "cond_predicate", "A branch on data, written with torch.cond"
    ),
    (Kind.BRANCH_ON_UNBACKED, ""): Explained(
        "constrain_as_value_example", "A data-dependent number, with its range"
    ),
    (Kind.ASSERT_ON_DATA, ""): Explained(
        "dynamic_shape_assert", "Which asserts a program can contain"
    ),
    (Kind.OUTPUT_FROM_DATA, ""): Explained(
        "constrain_as_value_example", "A data-dependent number, with its range"
    ),
    (Kind.LOOP_ON_DATA, ""): Explained("dynamic_shape_map", "A loop as one operator"),
    (Kind.OPERATOR_FAILED, ""): Explained("cond_predicate", "How torch.cond is called"),
    (Kind.COND_BRANCHES_DIFFER, ""): Explained("cond_predicate", "Two matching branches"),
    (Kind.COND_MUTATES, ""): Explained("cond_operands", "Operands of a branch"),
    (Kind.COND_ALIASES, ""): Explained("cond_operands", "Operands of a branch"),
    (Kind.COND_SIDE_EFFECT, ""): Explained(
        "cond_branch_nonlocal_variables", "Operands of a branch"
    ),
    (Kind.UNKNOWN_INPUT_TYPE, ""): Explained("pytree_flatten", "How containers are flattened"),
    (Kind.UNKNOWN_OUTPUT_TYPE, ""): Explained("pytree_flatten", "How containers are flattened"),
    (Kind.DATA_WRITE, ""): Explained("model_attr_mutation", "How a module's state may change"),
}
"""Cases per kind of failure and variant. `kinds_explained_by` inverts it."""


def exportdb(kind: Kind, which: str = "") -> tuple[Link, ...]:
    """The link to the case that explains a kind; none where this torch has no such case.

    Args:
        kind: of the failure.
        which: the variant of the kind, `range`.
    """
    explained = CASES.get((kind, which))
    if explained is None or explained.case not in exportdb_cases():
        return ()
    url = _EXPORTDB.format(anchor=explained.case.replace("_", "-"))
    return (Link("exportdb", explained.case, explained.text, url),)


def kinds_explained_by(case: str) -> list[Kind]:
    """The kinds of failure whose diagnosis links to a case."""
    kinds = (kind for (kind, _), explained in CASES.items() if explained.case == case)
    return list(dict.fromkeys(kinds))


def graph_break_page(kind: str) -> tuple[Link, ...]:
    """The link to a graph break's page; none for a kind that is not in torch's registry.

    An entry holds all versions of its text, some with placeholders.
    """
    pair = graph_break(kind)
    if pair is None:
        return ()
    name, versions = pair
    whole = whole_explanations(versions)
    return (Link("graph-break", name, whole[0] if whole else kind, graph_break_url(name)),)


def graph_break_url(name: str) -> str:
    """The address of a graph break's page, `GB0170`."""
    return _GRAPH_BREAKS.format(number=name.removeprefix("GB"))
