"""The size rules of a program in an archive, and the sizes of its outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from export_engine.archive import limits, schema
from export_engine.archive.arguments import read
from export_engine.archive.call_sizes import CallSizes
from export_engine.archive.errors import ArchiveError
from export_engine.archive.expressions import Expression, number
from export_engine.archive.signature import result_names, user_inputs
from export_engine.archive.symbols import Symbols
from export_engine.describe import contract_rules, follows
from export_engine.record import (
    OutputSize,
    Probe,
    Rule,
    Signature,
    Size,
    Symbol,
    canonical,
    sizes_in,
)

_INTEGER = re.compile("-?[0-9]{1,19}")
"""A number of 64 bits."""
_ASSERT = "torch.ops.aten._assert_scalar.default"


def read_sizes(
    module: schema.GraphModule, signature: Signature, symbols: Symbols, sizes: CallSizes
) -> None:
    """Numbers the sizes of the user inputs."""
    names = iter(user_inputs(module.signature))
    for entry, given in enumerate(signature.inputs):
        if given.kind != "user_input":
            continue
        for dim, size in _sizes(module.graph, next(names, ""), given.constant):
            value = symbols.read(size)
            plain = isinstance(value, int) and not isinstance(value, bool)
            if plain or isinstance(value, Expression):
                sizes.add(entry, dim, given.path, value)  # type: ignore[arg-type]
    sizes.solve()


def read_probe(
    program: schema.ExportedProgram,
    described: Sequence[Symbol],
    symbols: Symbols,
    sizes: CallSizes,
    checked: bool,
) -> Probe:
    """The rules.

    Args:
        program: the program.
        described: its symbols.
        symbols: the same, to name sizes by.
        sizes: of its user inputs.
        checked: whether it has example inputs; without them, torch checks no guards.
    """
    if len(program.guards_code) > limits.GUARDS:
        raise ArchiveError(f"It has more than {limits.GUARDS:,} guards.")
    asked = [*_guarded(program, sizes, checked), *_asserted(program, symbols, sizes)]
    rules = contract_rules(sizes, described, asked)
    known = {canonical(rule.formula) for rule in rules if rule.formula}
    for rule in asked:
        same = canonical(rule.formula)
        if same not in known and not follows(rule, sizes.inputs, described):
            known |= {same} if same else set()
            rules.append(rule)
    return Probe(sizes.inputs, rules, list(_results(program, symbols, sizes)))


def _guarded(program: schema.ExportedProgram, sizes: CallSizes, checked: bool) -> Iterator[Rule]:
    for code in program.guards_code:
        formula, text = sizes.of_guard(code)
        yield Rule("guard", text[: limits.FORMULA_CHARACTERS], formula, enforced=checked)


def _asserted(
    program: schema.ExportedProgram, symbols: Symbols, sizes: CallSizes
) -> Iterator[Rule]:
    """The conditions on sizes that the program asserts."""
    graph = program.graph_module.graph
    for node in graph.nodes:
        first = node.inputs[0].arg if node.target == _ASSERT and node.inputs else {}
        name = read(first, "as_sym_bool").as_name if "as_sym_bool" in first else None
        condition = graph.sym_bool_values.get(name or "")
        if condition is None or condition.as_expr is None:
            continue
        expression = symbols.read(condition)
        formula = sizes.of_symbols(expression) if isinstance(expression, Expression) else []
        broken_by_some = sizes_in(formula) and formula[1:] != [0, ">="]
        if isinstance(expression, Expression) and broken_by_some:
            yield Rule("guard", symbols.condition(expression), formula)


def _results(
    program: schema.ExportedProgram, symbols: Symbols, sizes: CallSizes
) -> Iterator[OutputSize]:
    module = program.graph_module
    for entry, name in result_names(module.signature):
        for dim, size in _sizes(module.graph, name, None):
            value = symbols.read(size)
            shown: Size = symbols.size(size)
            if isinstance(value, int):
                yield OutputSize(entry, dim, shown, sizes.of_symbols(number(value)))
            elif isinstance(value, Expression):
                yield OutputSize(entry, dim, shown, sizes.of_symbols(value))


def _sizes(
    graph: schema.Graph, name: str, constant: str | None
) -> Iterator[tuple[int, schema.Size]]:
    """The sizes of a value by their dims, or the number that it is."""
    meta = graph.tensor_values.get(name)
    if meta is not None:
        yield from enumerate(meta.sizes)
    elif name in graph.sym_int_values:
        yield -1, graph.sym_int_values[name]
    elif constant is not None and _INTEGER.fullmatch(constant):
        yield -1, schema.Size(as_int=int(constant))
