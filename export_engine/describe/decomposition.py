"""A decomposition as the Record has it."""

from __future__ import annotations

from collections import Counter

from export_engine.attempt import Level
from export_engine.describe.graphs import Graphs
from export_engine.record import LevelRow, ReplacedOp
from export_engine.transform import outside


def describe_level(level: Level, graphs: Graphs) -> LevelRow:
    """The Record's row for a decomposition.

    Args:
        level: the decomposition.
        graphs: the program, described; the files of decompositions are added to its files.
    """
    graph, strings, files = graphs.entries[0], graphs.strings, graphs.stacks.files
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
                files.number(replaced.file) if replaced.file else -1,
                replaced.line,
            )
            for replaced in level.replaced
        ],
        _format_counts(outside([graph], graphs.targets.entries)),
    )


def _format_counts(counts: Counter[str]) -> list[str]:
    return [f"{_plain(name)} ×{count}" for name, count in counts.most_common()]


def _plain(name: str) -> str:
    """`getitem` for `<built-in function getitem>`."""
    return name.removeprefix("<built-in function ").removesuffix(">")
