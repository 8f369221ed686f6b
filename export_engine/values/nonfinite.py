"""Where a NaN or an infinity comes from: ops that make one out of finite inputs, and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

import torch

from export_engine.record import OPS, OpValues, Record, Values, floats
from export_engine.source import find_last_frame

_CALL = OPS.index("call_function")
_ON_PURPOSE = re.compile(r"-?\binf(inity)?\b", re.IGNORECASE)
"""A literal infinity among the arguments: a mask's."""


class NonFinite(NamedTuple):
    """An op that makes what is not finite."""

    graph: int
    node: int
    name: str
    kind: Literal["NaN", "inf"]
    elements: int
    """How many."""
    where: str
    """The user's line, `net.py:12`; empty where tracing recorded none."""
    inputs: tuple[str, ...]
    """Its inputs with their ranges: `x: -0.3 to 2.1`."""

    @property
    def sentence(self) -> str:
        """One line."""
        at = f" at {self.where}" if self.where else ""
        text = f" of {'; '.join(self.inputs)}" if self.inputs else ""
        return f"{self.name}{at} produces {self.elements:,} {self.kind}{text}."


def nonfinite_ops(record: Record, values: Values) -> list[NonFinite]:
    """Ops that make NaN out of inputs without NaN, or an infinity out of finite inputs; in order.

    An infinity that the code itself fills in, as a mask does, is none of them.
    """
    non_finites: list[NonFinite] = []
    inside = {graph.graph: graph for graph in values.graphs}
    for number, graph_values in sorted(inside.items()):
        graph = record.graphs[number]
        nodes = {(one.node) for one in graph.nested if one.graph in inside}
        for node, runs in enumerate(graph_values.runs):
            if not runs or graph.op[node] != _CALL:
                continue
            sources = _sources(graph.inputs.starts, graph.inputs.items, node)
            if any(source in nodes for source in sources):
                continue  # what a branch makes is told there
            kind = _find_kind(record, graph_values, graph.args[node], node, sources)
            if kind:
                non_finites.append(_describe_nonfinite(record, graph_values, node, kind, sources))
    return non_finites


def _sources(starts: object, items: object, node: int) -> list[int]:
    return list(items[starts[node] : starts[node + 1]])  # type: ignore[index]


def _find_kind(
    record: Record, each: OpValues, args: int, node: int, sources: list[int]
) -> Literal["NaN", "inf", ""]:
    if each.nans[node] and not any(each.nans[source] for source in sources):
        return "NaN"
    wrong = any(each.nans[source] or each.infs[source] for source in sources)
    if each.infs[node] and not wrong and not _ON_PURPOSE.search(record.strings[args]):
        return "inf"
    return ""


def _describe_nonfinite(
    record: Record, each: OpValues, node: int, kind: Literal["NaN", "inf"], sources: list[int]
) -> NonFinite:
    graph = record.graphs[each.graph]
    least, most = floats(each.minimum), floats(each.maximum)
    told = [
        f"{record.strings[graph.name[source]]}: {least[source]:.4g} to {most[source]:.4g}"
        + (", with infinities" if each.infs[source] else "")
        for source in dict.fromkeys(sources)
        if each.runs[source]
    ]
    frame = find_last_frame(record, graph.stack[node])
    within = f"{graph.title}." if each.graph else ""
    return NonFinite(
        each.graph,
        node,
        within + record.strings[graph.name[node]],
        kind,
        each.nans[node] if kind == "NaN" else each.infs[node],
        f"{frame.name}:{frame.line}" if frame else "",
        tuple(told),
    )


def explain_nonfinite(
    record: Record, found: NonFinite, tensor: Callable[[str], torch.Tensor]
) -> str:
    """The first such element, and what its inputs have there.

    Args:
        record: the program.
        found: one of `nonfinite_ops`.
        tensor: fetches what an op gave, by its name.
    """
    graph = record.graphs[found.graph]
    value = tensor(found.name)
    odd = torch.isnan(value) if found.kind == "NaN" else torch.isinf(value)
    lines = [found.sentence]
    if not bool(odd.any()):
        return lines[0]
    at = tuple(int(item) for item in odd.nonzero()[0])
    place = ", ".join(map(str, at))
    lines.append(f"  {found.name}[{place}] = {float(value[at]):g}")
    within = f"{graph.title}." if found.graph else ""
    starts, items = graph.inputs.starts, graph.inputs.items
    for source in dict.fromkeys(items[starts[found.node] : starts[found.node + 1]]):
        name = within + record.strings[graph.name[source]]
        given = _there(name, value, tensor)
        if given is not None:
            lines.append(f"  {name}[{place}] = {float(given[at]):.8g}")
    return "\n".join(lines)


def _there(
    name: str, value: torch.Tensor, tensor: Callable[[str], torch.Tensor]
) -> torch.Tensor | None:
    """An input that has an element for each of the op's, as it is broadcast; else None."""
    try:
        given = tensor(name)
        return given.broadcast_to(value.shape) if not given.is_complex() else None
    except RuntimeError:  # not of these sizes, or no tensor
        return None
