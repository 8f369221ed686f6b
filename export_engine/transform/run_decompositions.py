"""Exported → Exported: a decomposed program, with the origin of each new op."""

from __future__ import annotations

import inspect
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch.export import ExportedProgram

from export_engine.attempt import (
    DecompositionTable,
    Exported,
    Level,
    Origin,
    Replaced,
    find_written_aliases,
    install_setups,
)
from export_engine.capture import quiet
from export_engine.defects import log_internal_error
from export_engine.error_text import error_text
from export_engine.process import sandbox
from export_engine.progress import Progress
from export_engine.torch_internals import count_nodes, operators_listed_once, origins
from export_engine.trace import Recording

_PICK = "<built-in function getitem>"
"""The op that takes one of several results; it comes with any op that has them."""
_ATTENTION = "scaled_dot_product_attention"


class DecomposeError(RuntimeError):
    """torch cannot decompose a program. The message can be shown unchanged."""


def decompose(
    exported: Exported,
    table: DecompositionTable,
    progress: Callable[[Progress], None] | None = None,
) -> Exported:
    """Decomposes a program.

    Args:
        exported: whose program; it is not changed.
        table: what to decompose.
        progress: called for each op that torch visits.

    Raises:
        DecomposeError: torch cannot, and why.
        TableError: the table names an op that torch cannot decompose.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    with operators_listed_once():
        functions = table.to_torch()
    started = time.perf_counter()
    passes = 2  # torch runs the program once to learn what it writes to, once to trace
    total = sum(node.op == "call_function" for node in exported.program.graph.nodes)

    def count(done: int, name: str) -> None:
        if progress:
            progress(Progress(min(done, passes * total), passes * total, name, "op"))

    setups = exported.request.setups if exported.request else ()
    with (
        sandbox(),
        quiet(),
        install_setups(setups),
        count_nodes(count),
        operators_listed_once(),
    ):
        try:
            program = exported.program.run_decompositions(functions)
        except Exception as error:
            raise DecomposeError(_refusal(exported, table, error)) from error
    return replace(
        exported,
        program=program,
        recording=replace(exported.recording, graph=None) if exported.request else Recording(),
        seconds=time.perf_counter() - started,
        level=_level(exported.program, program, table, functions),
        kept=None,
        agreement=None,
    )


def shrink_table(
    program: ExportedProgram, table: DecompositionTable
) -> tuple[DecompositionTable, ExportedProgram] | None:
    """A smaller table than one that failed, and its result; None if none works.

    Attention is what torch cannot decompose on some devices: it stays whole.
    """
    names = {str(node.target) for node in program.graph.nodes}
    whole = table.base == "core" and _ATTENTION not in table.ops
    if not whole or not any(_ATTENTION in name for name in names):
        return None
    kept = replace(table, ops=(*table.ops, _ATTENTION))
    try:
        with sandbox(), quiet(), operators_listed_once():
            return kept, program.run_decompositions(kept.to_torch())
    except Exception as error:  # noqa: BLE001 - then there is nothing to recommend
        log_internal_error(error, "decomposing with attention kept whole")
        return None


def _refusal(exported: Exported, table: DecompositionTable, error: Exception) -> str:
    for written_alias in find_written_aliases(exported.program):
        return f"torch cannot decompose this program: {written_alias.sentence}"
    reason = error_text(error)
    way_out = shrink_table(exported.program, table)
    if way_out is not None:
        kept = way_out[0]
        return f"torch cannot decompose attention here. Keep it as one op: {kept}. torch: {reason}"
    return f"torch cannot decompose this program: {reason}"


def _level(
    before: ExportedProgram,
    after: ExportedProgram,
    table: DecompositionTable,
    functions: dict[Any, Callable[..., Any]],
) -> Level:
    old = {node.name: node for node in before.graph.nodes}
    new = {node.name: node for node in after.graph.nodes}
    entries: dict[str, Origin] = {}
    untied = []
    for node in after.graph.nodes:
        if node.op != "call_function":
            continue
        origin = _origin(node, old, before)
        if origin is None:
            untied.append(node.name)
        else:
            entries[node.name] = origin
    for name in list(untied):
        origin = _of_user(new[name], entries)
        if origin is not None:
            entries[name] = origin
            untied.remove(name)
    return Level(
        table, entries, tuple(untied), tuple(_iter_replacements(old, new, entries, functions))
    )


def _origin(
    node: torch.fx.Node, old: dict[str, torch.fx.Node], before: ExportedProgram
) -> Origin | None:
    """The op of the program before that an op comes from."""
    for name in origins(node):
        if name in old:
            return Origin(name, "provenance")
    same = [
        candidate.name
        for candidate in before.graph.nodes
        if candidate.target == node.target and _reads(candidate) == _reads(node)
    ]
    if not same:  # sizes are recomputed: match them by value
        same = [
            candidate.name
            for candidate in before.graph.nodes
            if candidate.op == "call_function" and _is_same_size(candidate, node)
        ]
    return Origin(same[0], "fallback") if same else None


def _of_user(node: torch.fx.Node, found: dict[str, Origin]) -> Origin | None:
    """A recomputed size belongs to the op that it is computed for."""
    for user in node.users:
        if user.name in found:
            return Origin(found[user.name].node, "fallback")
    return None


def _reads(node: torch.fx.Node) -> str:
    """An op's arguments, its inputs by name."""
    return f"{node.args} {node.kwargs}"


def _is_same_size(one: torch.fx.Node, other: torch.fx.Node) -> bool:
    values = one.meta.get("val"), other.meta.get("val")
    if not all(isinstance(value, torch.SymInt | torch.SymBool) for value in values):
        return False
    return str(values[0]) == str(values[1])


def _iter_replacements(
    old: dict[str, torch.fx.Node],
    new: dict[str, torch.fx.Node],
    found: dict[str, Origin],
    functions: dict[Any, Callable[..., Any]],
) -> Iterator[Replaced]:
    """Per kind of op that was decomposed, the resulting ops."""
    into: dict[str, Counter[str]] = {}
    for name, origin in found.items():
        target = str(old[origin.node].target)
        into.setdefault(target, Counter())[str(new[name].target)] += 1
    counts = Counter(str(node.target) for node in old.values() if node.op == "call_function")
    targets = {str(node.target): node.target for node in old.values()}
    for target, came in into.items():
        if set(came) - {_PICK} == {target}:
            continue
        function = functions.get(targets[target])
        yield Replaced(target, counts[target], dict(came), *_source(function))


def _source(function: Callable[..., Any] | None) -> tuple[str, str, int]:
    """The name, the file and the line of a decomposition that is written in Python."""
    plain = inspect.unwrap(function) if function is not None else None
    code = getattr(plain, "__code__", None)
    if code is None or not code.co_filename.endswith(".py"):
        return "", "", 0
    name = f"{getattr(plain, '__module__', '')}.{getattr(plain, '__qualname__', '')}"
    return name, code.co_filename, code.co_firstlineno
