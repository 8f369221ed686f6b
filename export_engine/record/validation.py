"""Validates a Record from a file: every index in it must be valid.

Records made here are valid; one from a file may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from export_engine.record.graph import OPS, Graph, Ragged
from export_engine.record.record import Record
from export_engine.record.signature import InputEntry, OutputEntry
from export_engine.record.stages import StageGraph, Stages
from export_engine.record.values import BINS, ValuePairs
from export_engine.sizes import OPERATORS, Formula


class BrokenRecord(ValueError):
    """A Record with an invalid index."""


def check_record(record: Record) -> None:
    """Checks every index.

    Raises:
        BrokenRecord: an index is invalid.
    """
    frames = record.frames
    count = len(frames.file)
    _same(count, len(frames.line), len(frames.function))
    _inside(frames.file, len(record.files), least=0)
    _inside(frames.function, len(record.strings), least=0)
    _check_ragged(record.stacks, count)
    _inside((scope.parent for scope in record.scopes), len(record.scopes))
    if any(scope.parent >= number for number, scope in enumerate(record.scopes)):
        raise BrokenRecord("a scope comes before the one it is in")
    for kind in record.types:
        _inside(kind.items, len(record.types), least=0)
    for expression in record.expressions:
        _inside(expression.symbols, len(record.symbols), least=0)
    for number, graph in enumerate(record.graphs):
        _graph(record, graph)
        _inside(
            (nested_graph.graph for nested_graph in graph.nested),
            len(record.graphs),
            least=number + 1,
        )
    _signature(record)
    _inside(_stacks(record), len(record.stacks.starts) - 1)
    _contract(record)
    _verdicts(record)
    _level(record)
    _runs(record)
    _values(record)
    _overlays(record)
    _quantization(record)
    for stages in record.stages:
        _stages(record, stages)


def _graph(record: Record, graph: Graph) -> None:
    nodes = len(graph.name)
    columns = (graph.op, graph.target, graph.type, graph.scope, graph.stack, graph.args)
    _same(nodes, *map(len, columns), len(graph.housekeeping), len(graph.inputs.starts) - 1)
    _inside(graph.name, len(record.strings), least=0)
    _inside(graph.args, len(record.strings), least=0)
    _inside(graph.op, len(OPS), least=0)
    _inside(graph.target, len(record.targets))
    _inside(graph.type, len(record.types))
    _inside(graph.scope, len(record.scopes))
    _inside(graph.stack, len(record.stacks.starts) - 1)
    _check_ragged(graph.inputs, nodes)
    _groups(record, graph)
    _inside((nested_graph.node for nested_graph in graph.nested), nodes, least=0)


def _groups(record: Record, graph: Graph) -> None:
    if len(graph.group) > 0:
        _same(len(graph.name), len(graph.group))
    _inside(graph.group, len(graph.groups))
    for number, group in enumerate(graph.groups):
        _inside([group.parent], number)
        _inside([group.scope, *group.scopes], len(record.scopes))


def _signature(record: Record) -> None:
    nodes = len(record.graphs[0].name) if record.graphs else 0
    inputs, outputs = record.signature.inputs, record.signature.outputs
    entries: list[InputEntry | OutputEntry] = [*inputs, *outputs]
    for entry in entries:
        _inside([entry.node], nodes)
        _inside([entry.type], len(record.types))
    least = 0 if record.failure is None else -1
    for symbol in record.symbols:
        for place in symbol.places:
            _inside([place.entry], len(inputs if place.io == "input" else outputs), least)


def _contract(record: Record) -> None:
    symbols, guards = len(record.symbols), len(record.guards)
    inputs, outputs = len(record.signature.inputs), len(record.signature.outputs)
    for guard in record.guards:
        _inside(guard.symbols, symbols, least=0)
        _inside(guard.inputs, inputs, least=0)
    for symbol in record.symbols:
        _inside((bound.guard for bound in symbol.bounds), guards)
    for event in record.timeline:
        _inside(event.symbols, symbols, least=0)
        _inside([event.guard], guards)
    probe = record.probe
    _inside((size.entry for size in probe.inputs), inputs, least=0)
    _inside((size.symbol for size in probe.inputs), symbols)
    _inside((size.entry for size in probe.outputs), outputs, least=0)
    _inside((rule.guard for rule in probe.rules), guards)
    if any(size.scale < 1 for size in probe.inputs):
        raise BrokenRecord("a size is not a multiple of its symbol")
    formulas = [rule.formula for rule in probe.rules] + [size.formula for size in probe.outputs]
    for formula in formulas:
        _formula(formula, len(probe.inputs))


def _formula(formula: Formula, sizes: int) -> None:
    """Checks that a formula can be evaluated and leaves one value."""
    left = 0
    for token in formula:
        if isinstance(token, str) and token in OPERATORS:
            left -= OPERATORS[token][0] - 1
        else:
            is_known = not isinstance(token, str) or (token[1:].isdigit() and token[0] == "d")
            if not is_known or (isinstance(token, str) and int(token[1:]) >= sizes):
                raise BrokenRecord(f"{token!r} does not belong in a formula")
            left += 1
        if left < 1:
            raise BrokenRecord("a formula lacks a value")
    if formula and left != 1:
        raise BrokenRecord("a formula has a value too many")


def _level(record: Record) -> None:
    nodes = len(record.graphs[0].name) if record.graphs else 0
    if record.origins is not None:
        _same(nodes, len(record.origins.starts) - 1)
        _check_ragged(record.origins, len(record.strings))
    if record.level is None:
        return
    _same(nodes, len(record.level.origins))
    _inside(record.level.origins, len(record.strings))
    _inside([*record.level.fallback, *record.level.untied], nodes, least=0)
    _inside((replaced_op.file for replaced_op in record.level.replaced), len(record.files))


def _runs(record: Record) -> None:
    nodes = len(record.graphs[0].name) if record.graphs else 0
    _inside((run.node for run in record.runs), nodes)
    if record.profile is not None:
        _same(nodes, len(record.profile.microseconds), len(record.profile.bytes))


def _values(record: Record) -> None:
    for graph in record.values.graphs if record.values else []:
        _inside([graph.graph], len(record.graphs), least=0)
        columns = (graph.runs, graph.count, graph.minimum, graph.maximum, graph.mean, graph.std)
        others = (graph.norm, graph.zeros, graph.saturated, graph.nans, graph.infs)
        nodes = len(record.graphs[graph.graph].name)
        _same(nodes, *map(len, columns), *map(len, others))
        _same(nodes * BINS, len(graph.histogram))
    if record.pairs is not None:
        _pairs(record, record.pairs)


def _pairs(record: Record, pairs: ValuePairs) -> None:
    for one in pairs.graphs:
        _inside([one.graph], len(record.graphs), least=0)
        floats = (one.absolute, one.relative, one.cosine, one.sqnr, one.own)
        lengths = map(len, (one.partner, *floats, one.overflow, one.underflow))
        _same(len(record.graphs[one.graph].name), *lengths)
    for place in [*pairs.faults, *([pairs.worst] if pairs.worst else [])]:
        _inside([place.graph], len(record.graphs), least=0)
        _inside([place.node], len(record.graphs[place.graph].name), least=0)


def _quantization(record: Record) -> None:
    if record.quantization is None:
        return
    nodes = len(record.graphs[0].name) if record.graphs else 0
    for layer in record.quantization.layers:
        _inside([layer.node, layer.result, *layer.folded], nodes, least=0)
        _inside((tensor.node for tensor in layer.tensors), nodes)
    _inside((float_op.node for float_op in record.quantization.in_float), nodes, least=0)


def _stages(record: Record, stages: Stages) -> None:
    nodes = len(record.graphs[0].name) if record.graphs else 0
    for graph in stages.graphs:
        count, rows = len(graph.ops), len(graph.text.split("\n"))
        _same(count, len(graph.targets), len(graph.types), len(graph.line))
        _same(count, len(graph.nodes.starts) - 1)
        _check_ragged(graph.nodes, nodes)
        _inside(graph.line, rows + 1, least=0)
        _stage_edges(graph, nodes)
    _inside([stages.backward], len(stages.kernels) + 1)
    ops = len(stages.graphs[-1].ops) if stages.graphs else 0
    lengths = [len(stage_code.text.split("\n")) for stage_code in stages.codes]
    for kernel in stages.kernels:
        _inside(kernel.ops, ops, least=0)
        _inside(kernel.nodes, nodes, least=0)
        _inside(kernel.lines, len(stages.lines), least=0)
        for code, line in ((kernel.code, kernel.call_line), (kernel.body, kernel.body_line)):
            _inside([code], len(lengths))
            if code >= 0:
                _inside([line], lengths[code] + 1, least=1)
    _inside((stage_line.file for stage_line in stages.lines), len(record.files))
    _inside(stages.removed, nodes, least=0)
    for guard in stages.guards:
        _inside([guard.node], nodes, least=0)
        _inside(guard.lines, len(stages.lines), least=0)
    for remark in stages.remarks:
        _inside([remark.kernel], len(stages.kernels), least=0)
        _inside(remark.lines, len(stages.lines), least=0)


def _stage_edges(graph: StageGraph, nodes: int) -> None:
    count = len(graph.inputs)
    _same(count, len(graph.input_types), len(graph.input_nodes))
    _inside(graph.input_nodes, nodes)
    values = count + len(graph.ops)
    _check_ragged(graph.reads, values)
    if len(graph.reads.starts) > 1:
        _same(len(graph.ops), len(graph.reads.starts) - 1)
    _inside(graph.outputs, values, least=0)


def _overlays(record: Record) -> None:
    for overlay in record.overlays:
        values = overlay.numbers if overlay.kind == "number" else overlay.texts
        _same(len(overlay.nodes), len(overlay.graphs), len(values))
        _inside(overlay.graphs, len(record.graphs), least=0)
        for graph, node in zip(overlay.graphs, overlay.nodes, strict=True):
            _inside([node], len(record.graphs[graph].name), least=0)


def _verdicts(record: Record) -> None:
    nodes = len(record.graphs[0].name) if record.graphs else 0
    _inside((finding.node for finding in record.findings), nodes)
    _inside((finding.guard for finding in record.findings), len(record.guards))
    if record.verification:
        _inside((row.node for row in record.verification.rows), nodes)


def _stacks(record: Record) -> Iterable[int]:
    yield from (symbol.stack for symbol in record.symbols)
    yield from (guard.stack for guard in record.guards)
    yield from (event.stack for event in record.timeline)
    yield from (rule.stack for rule in record.probe.rules)
    yield from (finding.stack for finding in record.findings)
    yield from (finding.card.stack for finding in record.findings if finding.card)
    if record.failure:
        yield record.failure.stack
        yield from (related.stack for related in record.failure.related)
        yield from (fix.stack for fix in record.failure.fixes)


def _check_ragged(lists: Ragged, count: int) -> None:
    starts = list(lists.starts)
    if not starts or starts[0] != 0 or starts[-1] != len(lists.items) or starts != sorted(starts):
        raise BrokenRecord("the lists of a table do not fit it")
    _inside(lists.items, count, least=0)


def _same(*counts: int) -> None:
    if len(set(counts)) > 1:
        raise BrokenRecord("columns of one table differ in length")


def _inside(numbers: Iterable[int] | Sequence[int], count: int, least: int = -1) -> None:
    for number in numbers:
        if not least <= number < count:
            raise BrokenRecord(f"{number} is out of range: there are {count}")
