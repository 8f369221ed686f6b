"""torch's graphs, gaps and guards in the user's terms."""

from __future__ import annotations

import re
from pathlib import Path

from export_engine.diagnose import explanation, hints
from export_engine.record import CodePlace, CompiledGraph, Gap, Recompile
from export_engine.source import Location, is_shown
from export_engine.torch_internals import graph_break
from export_engine.trace import Seen, SeenBreak, SeenCall, SeenGraph, SeenRecompile
from export_engine.vs_compile.code_places import Places

_MISMATCH = re.compile(
    r"tensor '(?P<name>.*?)' size mismatch at index (?P<dim>\d+)\. expected (?P<size>\d+)"
)
_LINE = re.compile(r"  # (?P<code>.*?)  # (?P<file>\S+):(?P<line>\d+) in (?P<function>\w+)")
_LOCAL = re.compile(r"L\['(\w+)'\]")
_SIZE = re.compile(r"\.size\(\)\[(\d+)\]")
_STORED = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")
_SYMBOL = re.compile(r"\b[a-z]+\d+\b")
_PLACE = re.compile(r"[\w.]+\.shape\[\d+\]")
_POSITION = re.compile(r"\bargs\[\d+\]|\bkwargs\['\w+'\]")
_STACKED = re.compile(r"___stack\d+")
_LONGEST = 200
_MOST_LINES = 200


def name_source(seen: Seen, source: str) -> str:
    """`L['x'].size()[0]` as `x.shape[0]`, or as the Dim of that size."""
    text = _STORED.sub(r".\1", _LOCAL.sub(r"\1", source))
    text = _POSITION.sub(lambda found: seen.names.get(found[0], found[0]), text)
    text = _SIZE.sub(r".shape[\1]", text)
    return _PLACE.sub(lambda found: seen.dims.get(found[0], found[0]), text)


def graph(seen: Seen, given: SeenGraph, places: Places) -> CompiledGraph:
    """A graph, with its sizes under the names of the user's inputs."""
    names = {symbol: _name_size(seen, source) for symbol, (source, _, _) in given.sizes.items()}
    inputs = [
        f"{_value(seen, source)}: {_SYMBOL.sub(lambda found: names.get(found[0], found[0]), text)}"
        for source, text in given.inputs
        if source.startswith("L['") and not _STORED.search(source)
    ]
    start = seen.frames.get(given.frame)
    return CompiledGraph(
        place=places.of(start) if start and is_shown(start.file) else None,
        inputs=inputs,
        sizes=[
            f"{names[symbol]} in {_range(low, high)}"
            for symbol, (_, low, high) in given.sizes.items()
        ],
        ops=given.ops,
        code=_short(given.code),
        ended_by=_index(seen, given.ended_by),
    )


def _short(code: str) -> str:
    """The graph's code, the first lines of a long one."""
    lines = [line.partition(";  ")[0] for line in code.splitlines()]
    left = len(lines) - _MOST_LINES
    return "\n".join([*lines[:_MOST_LINES], *([f"# and {left:,} more lines"] if left > 0 else [])])


def gap(given: SeenBreak, places: Places) -> Gap:
    """A gap, with what torch says of it."""
    pair = graph_break(given.kind)
    return Gap(
        reason=given.kind,
        explanation=explanation(given.message),
        hints=hints(given.message),
        page=pair[0] if pair else "",
        places=[places.of(location) for location in given.stack],
    )


def recompiles(seen: Seen, call: SeenCall, places: Places) -> list[Recompile]:
    """The guards that a call did not meet, each once."""
    result: list[Recompile] = []
    for recompile in call.recompiles:
        new_recompile = Recompile(
            _graph_of(seen, recompile.frame),
            _guard(seen, recompile.said),
            _place(seen, recompile, places),
        )
        if new_recompile not in result:
            result.append(new_recompile)
    return result


def _guard(seen: Seen, said: str) -> str:
    condition = said.partition("  # ")[0].strip()
    mismatch = _MISMATCH.search(condition)
    if mismatch:
        size = f"{mismatch['name']}.size()[{mismatch['dim']}]"
        return f"{name_source(seen, size)} == {mismatch['size']}"
    text = name_source(seen, condition)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _place(seen: Seen, given: SeenRecompile, places: Places) -> CodePlace | None:
    """The line that torch names; it tells the end of the file's name alone."""
    line = _LINE.search(given.said)
    if line is None or Path(given.file).name != Path(line["file"]).name:
        return None
    return places.of(Location(given.file, int(line["line"]), line["function"]))


def _graph_of(seen: Seen, frame: str) -> int:
    numbers = [at for at, seen_graph in enumerate(seen.graphs) if seen_graph.frame == frame]
    return numbers[0] + 1 if numbers else 0


def _index(seen: Seen, given: SeenBreak | None) -> int:
    return next((at for at, seen_break in enumerate(seen.breaks) if seen_break is given), -1)


def _value(seen: Seen, source: str) -> str:
    """The name of a graph's input; after a gap, the rest of an expression has no name."""
    return _STACKED.sub("(a value of the gap's line)", name_source(seen, source))


def _name_size(seen: Seen, source: str) -> str:
    return _STACKED.sub("value", name_source(seen, source))


def _range(low: int | None, high: int | None) -> str:
    return f"[{low if low is not None else 0}, {high}]" if high is not None else f"[{low}, ∞)"
