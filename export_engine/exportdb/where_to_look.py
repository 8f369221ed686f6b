"""Which panes of an exported case are worth a look, and why."""

from __future__ import annotations

from export_engine.record import OutputEntry, Record

_WRITES = ("buffer_mutation", "parameter_mutation", "user_input_mutation")


def lookouts(record: Record) -> list[tuple[str, str]]:
    """Per pane that shows something of note, its name and what that is."""
    if record.failure is not None:
        fixes = len(record.failure.fixes)
        count = f"{fixes} fix{'' if fixes == 1 else 'es'} to apply" if fixes else "no fix is known"
        return [("What went wrong", f"{record.failure.kind}; {count}")]
    pairs = [_ops(record), *_list_nested_graphs(record), *_signature(record), *_shapes(record)]
    return pairs + [("Findings", finding.heading) for finding in record.findings]


def _ops(record: Record) -> tuple[str, str]:
    """The ops that the code became."""
    graph = record.graphs[0]
    labels = [
        record.targets[target].label
        for target, small in zip(graph.target, graph.housekeeping, strict=True)
        if target >= 0 and not small
    ]
    if not labels:
        return "Graph", "no op is left: the outputs are inputs or constants"
    left = len(labels) - _MOST_OPS
    more = f" and {left} more" if left > 0 else ""
    return "Graph", f"the code became these ops: {', '.join(labels[:_MOST_OPS])}{more}"


_MOST_OPS = 10


def _list_nested_graphs(record: Record) -> list[tuple[str, str]]:
    """Operators that hold graphs of their own."""
    graph = record.graphs[0]
    names: dict[int, list[str]] = {}
    for nested_graph in graph.nested:
        names.setdefault(nested_graph.node, []).append(nested_graph.argument)
    return [
        ("Graph", f"{record.targets[graph.target[node]].label} opens: {' and '.join(inside)}")
        for node, inside in names.items()
    ]


def _signature(record: Record) -> list[tuple[str, str]]:
    written = [_name(output) for output in record.signature.outputs if output.kind in _WRITES]
    held = [entry for entry in record.signature.inputs if entry.kind == "constant_tensor"]
    pairs = []
    if written:
        pairs.append(("Signature", f"the call writes to {', '.join(written)}"))
    if held:
        names = ", ".join(entry.target or entry.name for entry in held)
        pairs.append(("Signature", f"baked in as a constant: {names}"))
    return pairs


def _name(entry: OutputEntry) -> str:
    return entry.target or entry.path or entry.name


def _shapes(record: Record) -> list[tuple[str, str]]:
    sizes = ", ".join(f"{symbol.name} in {symbol.range}" for symbol in record.symbols)
    count = len(record.guards)
    guards = f"{count} guard{'' if count == 1 else 's'}" if count else ""
    text = "; ".join(text for text in (sizes, guards) if text)
    return [("Shapes", text)] if text else []
