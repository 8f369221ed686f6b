"""Attempt → Record: everything a view shows of an exported program or a failure.

Works on any ExportedProgram, also one loaded from a file that lacks stacks, scopes or values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec
import torch

from export_engine.attempt import Attempt, Exported, Failed, GivenGraph, Level
from export_engine.describe.eager_check import describe_check
from export_engine.describe.failure import describe_failure
from export_engine.describe.file_names import FileNames
from export_engine.describe.findings import with_findings
from export_engine.describe.graphs import Graphs
from export_engine.describe.held_tensors import ends_of_held
from export_engine.describe.live_graph import describe_target
from export_engine.describe.live_signature import input_paths
from export_engine.describe.live_source import LiveSource
from export_engine.describe.partial_graph import add_partial, module_paths
from export_engine.describe.passes import describe_passes
from export_engine.describe.shape_contract import describe_contract, shapes_of
from export_engine.describe.signature import describe_signature
from export_engine.describe.symbol_names import Leaf, birth_places, user_names
from export_engine.describe.symbols import Symbols
from export_engine.describe.tables import Stacks, make_ragged
from export_engine.findings import Finding
from export_engine.quantization import with_quantization
from export_engine.record import (
    Check,
    Failure,
    LevelRow,
    Ragged,
    Record,
    ReplacedOp,
    Symbol,
    Timing,
    count_ops,
    sizes_said,
    with_groups,
)
from export_engine.shapes import other_form
from export_engine.torch_internals import Area, LiveProgram, left_out, origins
from export_engine.traced_sizes import call_paths, symbol_names
from export_engine.transform import outside


def describe(attempt: Attempt, also: Sequence[Finding] = ()) -> Record:
    """The Record of an attempt.

    Args:
        attempt: the attempt.
        also: findings of a run of its program, beside those that its text tells.
    """
    if isinstance(attempt, Exported) and attempt.kept is not None:
        return _complete_loaded(attempt, attempt.kept)
    named_by = attempt.request or attempt.named_by
    cells = named_by.cells if named_by else attempt.cells
    program = attempt.program if isinstance(attempt, Exported | GivenGraph) else None
    paths = _paths(program, attempt)
    places = birth_places(attempt.recording.births, paths)
    symbols = Symbols(_names(program, paths, attempt), places, shared=program is None)
    if program is None:
        modules = module_paths(attempt)
    else:
        modules = [call.fqn for call in program.module_call_graph]
    graphs = Graphs(describe_target, symbols, attempt.title, modules, FileNames(cells))
    stacks = graphs.stacks
    source = LiveSource(program, paths, symbols) if program is not None else None
    if source is not None:
        graphs.add(source.graph, "main")
        signature = describe_signature(source, graphs.entries[0], graphs.values)
    else:
        signature = add_partial(graphs, symbols, attempt)
    contract = describe_contract(attempt, source, paths, graphs, signature)
    failure = describe_failure(attempt, stacks) if isinstance(attempt, Failed) else None
    record = Record(
        title=attempt.title,
        outcome="failed" if failure else "exported",
        mode=attempt.mode,  # type: ignore[arg-type]
        verdict=_verdict(attempt, graphs, contract.symbols, failure),
        shapes=_shapes_text(attempt),
        other_form=_other_form(attempt),
        torch_version=str(torch.__version__),
        timing=Timing(attempt.seconds) if attempt.request else None,
        warnings=attempt.warnings,
        left_out=_left_out(attempt),
        printed=attempt.printed,
        **graphs.tables(),
        signature=signature,
        symbols=contract.symbols,
        guards=contract.guards,
        timeline=contract.timeline,
        probe=contract.probe,
        failure=failure,
        fixed_by=list(attempt.request.fixed_by) if attempt.request else [],
        given_up=list(attempt.request.given_up) if attempt.request else [],
        fixed_code=_diffs_of_fixes(attempt, stacks),
        check=_check(attempt),
        level=_level(attempt, graphs),
        origins=_origins(attempt, graphs),
    )
    if isinstance(attempt, GivenGraph):
        record = msgspec.structs.replace(record, overlays=describe_passes(attempt.program.graph))
    record = with_quantization(with_groups(record), ends_of_held(program))
    return with_findings(record, attempt, graphs, also) if isinstance(attempt, Exported) else record


def _paths(program: LiveProgram | None, attempt: Attempt) -> list[str]:
    """Where the caller passes each leaf; of a failure, by its call."""
    if isinstance(attempt, GivenGraph):
        return attempt.program.paths
    if program is not None:
        return input_paths(program, attempt.request)
    return call_paths(attempt.request) if attempt.request else []


def _complete_loaded(attempt: Exported, kept: Record) -> Record:
    """The Record saved in a file, with the loaded program's origin."""
    return msgspec.structs.replace(
        with_quantization(with_groups(kept), ends_of_held(attempt.program)),
        title=attempt.title,
        mode=attempt.mode,
        verdict=kept.verdict.replace(f"exported, {kept.mode}", "loaded", 1),
        warnings=list(dict.fromkeys([*kept.warnings, *attempt.warnings])),
    )


def _left_out(attempt: Attempt) -> list[str]:
    """Features that this torch lacks for this attempt, by its capabilities and by tracing."""
    areas: list[Area] = ["export", "run", "load"]
    if attempt.mode == "strict":
        areas.append("strict")
    return list(dict.fromkeys([*left_out(*areas), *attempt.recording.left_out]))


def _diffs_of_fixes(attempt: Attempt, stacks: Stacks) -> list[str]:
    edits = attempt.request.edits if attempt.request else ()
    return [edit.diff(stacks.files.name_of(edit.file)) for edit in edits]


def _level(attempt: Attempt, graphs: Graphs) -> LevelRow | None:
    if not isinstance(attempt, Exported) or attempt.level is None:
        return None
    return _describe_level(attempt.level, graphs)


def _origins(attempt: Attempt, graphs: Graphs) -> Ragged | None:
    """Where the nodes of a given program come from, which is an edge program or the like."""
    if not isinstance(attempt, Exported) or attempt.request is not None:
        return None
    if attempt.program.dialect == "TRAINING":
        return None
    chains = (dict.fromkeys(origins(node)[::-1]) for node in attempt.program.graph.nodes)
    return make_ragged([[graphs.strings.number(name) for name in chain] for chain in chains])


def _check(attempt: Attempt) -> Check | None:
    agreement = attempt.agreement if isinstance(attempt, Exported) else None
    return describe_check(agreement) if agreement is not None else None


def _names(program: LiveProgram | None, paths: list[str], attempt: Attempt) -> dict[str, str]:
    """The user's names of torch's symbols."""
    if program is None:
        return symbol_names(attempt)
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    user_inputs = program.graph_signature.user_inputs
    leaves = [
        Leaf(path, values.get(name) if isinstance(name, str) else name)
        for path, name in zip(paths, user_inputs, strict=False)
    ]
    named_by = attempt.request or attempt.named_by
    return user_names(leaves, named_by.shapes if named_by else None)


def _shapes_text(attempt: Attempt) -> str:
    shapes = shapes_of(attempt)
    return str(shapes) if shapes is not None else ""


def _other_form(attempt: Attempt) -> Literal["", "Dims", "ShapesSpec"]:
    exported = isinstance(attempt, Exported) and attempt.level is None
    shapes = shapes_of(attempt) if exported else None
    return (other_form(shapes) or "") if shapes is not None else ""


def _verdict(
    attempt: Attempt, graphs: Graphs, symbols: list[Symbol], failure: Failure | None
) -> str:
    """The one-line verdict: `exported, non-strict, 1,187 ops, batch in [2, ∞)`."""
    if failure is not None:
        return f"not exported, {attempt.mode}: {failure.kind[:1].lower()}{failure.kind[1:]}"
    ops = sum(count_ops(graph.op) for graph in graphs.entries)
    outcome = f"exported, {attempt.mode}" if attempt.request else attempt.given or "loaded"
    if isinstance(attempt, Exported) and attempt.level is not None:
        outcome = f"{outcome}, decomposed ({attempt.level.table})"
    return f"{outcome}, {ops:,} {'op' if ops == 1 else 'ops'}{sizes_said(symbols)}"


def _describe_level(level: Level, graphs: Graphs) -> LevelRow:
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
