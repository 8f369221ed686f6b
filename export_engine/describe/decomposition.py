"""A decomposition as the Record has it."""

from __future__ import annotations

from collections import Counter

from export_engine.attempt import Level
from export_engine.describe.tables import Stacks, Strings
from export_engine.record import Graph, LevelRow, ReplacedOp, Target
from export_engine.transform import outside


def describe_level(
    level: Level, graph: Graph, targets: list[Target], strings: Strings, stacks: Stacks
) -> LevelRow:
    """The Record's row for a decomposition.

    Args:
        level: the decomposition.
        graph: the main graph, described.
        targets: the Record's.
        strings: the Record's.
        stacks: the Record's; the files of decompositions are added to its files.
    """
    names = strings.entries
    nodes = [names[number] for number in graph.name]
    origins = [level.origins.get(name) for name in nodes]
    return LevelRow(
        str(level.table),
        [strings.number(origin.node) if origin else -1 for origin in origins],
        [node for node, origin in enumerate(origins) if origin and origin.how == "fallback"],
        [node for node, name in enumerate(nodes) if name in level.untied],
        [
            ReplacedOp(
                replaced.op,
                replaced.count,
                _format_counts(Counter(replaced.into)),
                replaced.function,
                stacks.files.number(replaced.file) if replaced.file else -1,
                replaced.line,
            )
            for replaced in level.replaced
        ],
        _format_counts(outside([graph], targets)),
    )


def _format_counts(counts: Counter[str]) -> list[str]:
    return [f"{_plain(name)} ×{count}" for name, count in counts.most_common()]


def _plain(name: str) -> str:
    """`getitem` for `<built-in function getitem>`."""
    return name.removeprefix("<built-in function ").removesuffix(">")
