"""One pane of an attempt as lines of text: for a terminal, and for a saved notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from explorer.text.attempt_text import format_count, held_rows, input_rows, output_rows
from explorer.text.escape import harmless
from explorer.text.outline import Block, few_blocks
from export_engine.record import OPS, Guard, Record
from export_engine.source import find_last_frame, print_graph, source_line


def pane_text(record: Record, pane: str) -> list[str]:
    """The lines of a pane: graph, signature, source, shapes or code."""
    return [harmless(" ".join(line.splitlines())) for line in _PANES[pane](record)]


def _graph(record: Record) -> list[str]:
    blocks = few_blocks(record)
    return _columns([(block.title, _detail(block), _read(block, blocks)) for block in blocks])


def _detail(block: Block) -> str:
    if block.kind == "scope":
        return ", ".join(filter(None, (block.subtitle, format_count(block.ops, "op"))))
    several = f", {format_count(block.ops, 'op')}" if block.ops > 1 else ""
    return f"{block.type or block.subtitle}{several}"


def _read(block: Block, blocks: list[Block]) -> str:
    names = ", ".join(blocks[source].title for source in block.inputs)
    return f"← {names}" if names else ""


def _signature(record: Record) -> list[str]:
    rows = [*input_rows(record), *held_rows(record), *output_rows(record)]
    return _columns(rows)


def _shapes(record: Record) -> list[str]:
    places = [", ".join(place.text for place in symbol.places) for symbol in record.symbols]
    sizes = [
        (symbol.name, symbol.range, place)
        for symbol, place in zip(record.symbols, places, strict=True)
    ]
    guards = [(guard.text, _place_of(record, guard), "") for guard in record.guards]
    lines = _columns(sizes) or ["All sizes are static."]
    return [*lines, "", "Conditions", *_columns(guards)] if guards else lines


def _source(record: Record) -> list[str]:
    """The lines that made ops, file by file in the order they were met, and the ops."""
    groups: dict[int, dict[int, Counter[str]]] = {}
    for graph in record.graphs:
        for node, stack in enumerate(graph.stack):
            frame = find_last_frame(record, stack)
            if not frame or OPS[graph.op[node]] != "call_function" or graph.housekeeping[node]:
                continue
            ops = groups.setdefault(frame.file, {}).setdefault(frame.line, Counter())
            ops[record.targets[graph.target[node]].label] += 1
    shown: list[str] = []
    for file, lines in groups.items():
        shown += ([""] if shown else []) + [record.files[file].name]
        for line, ops in sorted(lines.items()):
            names = ", ".join(f"{op} ×{n}" if n > 1 else op for op, n in ops.items())
            shown.append(f"  {line:>5}  {source_line(record, file, line):<48}  # {names}")
    return shown


def _code(record: Record) -> list[str]:
    shown: list[str] = []
    for number, graph in enumerate(record.graphs):
        shown += ["", f"# {graph.title}"] if number else []
        shown += print_graph(record, number).lines
    return shown


def _place_of(record: Record, guard: Guard) -> str:
    frame = find_last_frame(record, guard.stack)
    if frame is None:
        return ""
    code = source_line(record, frame.file, frame.line)
    return f"{frame.name}:{frame.line}" + (f"  {code}" if code else "")


def _columns(rows: list[tuple[str, str, str]]) -> list[str]:
    """Rows with aligned columns, except where a cell is too long."""
    widths = [min(max((len(row[n]) for row in rows), default=0), 32) for n in (0, 1)]
    return [
        f"  {first:<{widths[0]}}  {second:<{widths[1]}}  {third}".rstrip()
        for first, second, third in rows
    ]


_PANES: dict[str, Callable[[Record], list[str]]] = {
    "graph": _graph,
    "signature": _signature,
    "source": _source,
    "shapes": _shapes,
    "code": _code,
}
