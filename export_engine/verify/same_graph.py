"""Whether two programs have the same graph up to the names of nodes and symbols."""

from __future__ import annotations

import hashlib
import operator
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import sympy
import torch

from export_engine.torch_internals import (
    HigherOrderOperator,
    OpOverload,
    asserts_nothing,
    expression_of,
    is_fake,
    op_schema,
    returns_its_first,
    writes_to_arguments,
)

_SIZES = (torch.SymInt, torch.SymFloat, torch.SymBool, int, float)


class GraphDifference(NamedTuple):
    """The first difference of two graphs."""

    text: str
    node: str
    """The node of the first program; empty where it has none."""


def difference(
    first: torch.export.ExportedProgram, second: torch.export.ExportedProgram
) -> GraphDifference | None:
    """The first difference of two programs; None if they are the same up to names.

    Compared are ops, arguments, shapes, dtypes and the kinds of inputs and outputs, in order.
    """
    specs = [
        [(spec.kind.name, spec.target or "") for spec in side]
        for program in (first, second)
        for side in (program.graph_signature.input_specs, program.graph_signature.output_specs)
    ]
    for one, other in ((specs[0], specs[2]), (specs[1], specs[3])):
        if [kind for kind, _ in one] != [kind for kind, _ in other]:
            return GraphDifference(f"signature: {_kinds(one, other)}", "")
    counts = (_never_negative(first), _never_negative(second))
    return _graphs(first.graph_module, second.graph_module, counts)


def _never_negative(program: torch.export.ExportedProgram) -> frozenset[str]:
    """Symbols that are at least 0, as sizes are."""
    ranges = program.range_constraints.items()
    return frozenset(str(symbol) for symbol, bounds in ranges if bounds.lower >= 0)


def fingerprint(program: torch.export.ExportedProgram) -> str:
    """A short text that two programs share if they are the same, also in the names of their nodes.

    Ops, arguments, shapes, signature, ranges, and the values of constants count; weights do not.
    """
    found = hashlib.sha256()
    signature = program.graph_signature
    for spec in (*signature.input_specs, *signature.output_specs):
        found.update(f"{spec.kind.name} {spec.target}\n".encode())
    ranges = sorted(f"{symbol} {bounds}" for symbol, bounds in program.range_constraints.items())
    found.update("\n".join(ranges).encode())
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            side = _Side(module)
            for node in _calls(module):
                found.update(repr((node.name, *side.shown(node))).encode())
    for name, value in sorted(program.constants.items()):
        found.update(name.encode())
        if isinstance(value, torch.Tensor) and not is_fake(value):
            found.update(_bytes_of(value))
    return found.hexdigest()


def _bytes_of(value: torch.Tensor) -> bytes:
    """The values of a tensor; nothing for one that has none to look at, such as a sparse one."""
    if value.layout is not torch.strided or value.is_meta or value.is_quantized:
        return b""
    flat = value.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes()


def _kinds(specs: list[tuple[str, str]], others: list[tuple[str, str]]) -> str:
    """`constant tensor ×2 instead of ×1`: the kinds that there are more or fewer of."""
    one, other = (
        Counter(kind.lower().replace("_", " ") for kind, _ in side) for side in (specs, others)
    )
    said = [
        f"{kind} ×{other[kind]:,} instead of ×{one[kind]:,}"
        for kind in dict.fromkeys([*one, *other])
        if one[kind] != other[kind]
    ]
    return ", ".join(said) or "the same kinds in a different order"


def _graphs(
    first: torch.fx.GraphModule,
    second: torch.fx.GraphModule,
    never_negative: tuple[frozenset[str], frozenset[str]],
) -> GraphDifference | None:
    sides = (_Side(first, never_negative[0]), _Side(second, never_negative[1]))
    for one, other in zip_longest(_calls(first), _calls(second)):
        if one is None or other is None:
            left, word = (one or other), "lacks" if other is None else "has besides"
            return GraphDifference(f"the other {word} {left.name}", one.name if one else "")
        shown = [side.shown(node) for side, node in zip(sides, (one, other), strict=True)]
        if shown[0] != shown[1] and not _same_when_expanded(sides, (one, other)):
            text = f"{one.name}: {_part(shown[1], shown[0])} instead of {_part(shown[0], shown[1])}"
            return GraphDifference(text[:400], one.name)
        for inner in zip(_nested(first, one), _nested(second, other), strict=False):
            found = _graphs(*inner, never_negative)
            if found is not None:
                return GraphDifference(f"in {one.name}, {found.text}", one.name)
    return None


def _same_when_expanded(
    sides: tuple[_Side, _Side], nodes: tuple[torch.fx.Node, torch.fx.Node]
) -> bool:
    """Whether two nodes differ only in how sizes are written.

    As in `a*(b + c)` and `a*b + a*c`, or in `Min(a, 2*a)` and `a`, where `a` is of a tensor.
    """
    one, other = (side.shown(node, expanded=True) for side, node in zip(sides, nodes, strict=True))
    return one == other


def _part(shown: tuple[str, ...], other: tuple[str, ...]) -> str:
    """What is different of what is shown of a node."""
    return next((one for one, two in zip(shown, other, strict=True) if one != two), shown[0])


def _calls(module: torch.fx.GraphModule) -> Iterator[torch.fx.Node]:
    """Nodes in order; what only names a nested graph is looked at where it is run.

    What nobody reads and does nothing is left out: saving adds a node for each result of an op that
    has several, tracing an assert of `a != b` once more leaves the comparison behind, and one of
    two sizes that torch knows as the same asserts that a size is itself.
    """
    unread = set[torch.fx.Node]()
    for node in reversed(module.graph.nodes):
        if _only_computes(node) and unread.issuperset(node.users):
            unread.add(node)
    for node in module.graph.nodes:
        if node.op != "get_attr" and node not in unread and node.target is not operator.getitem:
            yield from _with_results(node, unread)


def _with_results(node: torch.fx.Node, unread: set[torch.fx.Node]) -> Iterator[torch.fx.Node]:
    """A node, then those that take its results, in their order: saving puts them there."""
    yield node
    results = [
        user for user in node.users if user.target is operator.getitem and user not in unread
    ]
    for each in sorted(results, key=lambda user: str(user.args[1:])):
        yield from _with_results(each, unread)


def _only_computes(node: torch.fx.Node) -> bool:
    """Whether a node takes a result of another, computes a size or a condition, or cannot fail."""
    if node.target is operator.getitem or asserts_nothing(node):
        return True
    if node.op != "call_function" or isinstance(node.target, OpOverload | HigherOrderOperator):
        return False
    return isinstance(node.meta.get("val"), _SIZES)


def _nested(module: torch.fx.GraphModule, node: torch.fx.Node) -> Iterator[torch.fx.GraphModule]:
    for each in node.all_input_nodes:
        inner = getattr(module, str(each.target), None) if each.op == "get_attr" else None
        if isinstance(inner, torch.fx.GraphModule):
            yield inner


class _Side:
    """A graph whose nodes and symbols are numbered in order of first use."""

    def __init__(
        self, module: torch.fx.GraphModule, never_negative: frozenset[str] = frozenset()
    ) -> None:
        self._never_negative = never_negative
        self._nodes = {node: number for number, node in enumerate(_calls(module))}
        self._symbols: dict[str, str] = {}

    def shown(self, node: torch.fx.Node, *, expanded: bool = False) -> tuple[str, ...]:
        """What a node is, without names. A loaded program keeps a value on its output node.

        Args:
            node: of this graph.
            expanded: whether sizes are brought into one form, which takes long.
        """
        target = "" if node.op in ("placeholder", "output") else _named(node.target)
        value = "" if node.op == "output" else self._value(node.meta.get("val"), expanded)
        return (node.op, target, self._text(_arguments(node)), value)

    def _text(self, value: Any) -> str:
        if isinstance(value, torch.fx.Node):
            number = self._nodes.get(_written(value))
            return f"%{number}" if number is not None else "graph"
        if isinstance(value, list | tuple):
            return f"[{', '.join(self._text(each) for each in value)}]"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{key}: {self._text(each)}' for key, each in value.items())}}}"
        if isinstance(value, str) and "assertion failed" in value:
            return "message"  # which names nodes and symbols
        return repr(value)

    def _value(self, value: Any, expanded: bool) -> str:
        if isinstance(value, torch.Tensor):
            sizes = ", ".join(self._size(size, expanded) for size in value.shape)
            return f"{value.dtype}[{sizes}]"
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            written = self._expression(value, expanded)
            if not written.free_symbols:  # saved, it is a number
                return type(value).__name__.removeprefix("Sym").lower()
            return str(written)
        if isinstance(value, list | tuple):
            return f"({', '.join(self._value(each, expanded) for each in value)})"
        return type(value).__name__ if value is not None else ""

    def _size(self, size: Any, expanded: bool) -> str:
        return str(size if isinstance(size, int) else self._expression(size, expanded))

    def _expression(self, size: Any, expanded: bool) -> sympy.Basic:
        """Of a size, with its symbols numbered."""
        expression = expression_of(size)
        names: dict[Any, sympy.Symbol] = {}
        for symbol in sorted(
            expression.free_symbols, key=lambda each: str(expression).find(str(each))
        ):
            name = self._symbols.setdefault(str(symbol), f"n{len(self._symbols)}")
            known = str(symbol) in self._never_negative or None
            names[symbol] = sympy.Symbol(name, integer=True, nonnegative=known)
        named = expression.subs(names) if names else expression
        return _expanded(named) if expanded else named


def _expanded(expression: sympy.Basic) -> sympy.Basic:
    """Products multiplied out, and the least or largest of sizes decided where sympy can.

    Torch's own Min and Max stay as they were traced, and are decided once a program is loaded.
    """
    decided = expression.replace(
        lambda part: type(part).__name__ in ("Min", "Max"),
        lambda part: getattr(sympy, type(part).__name__)(*part.args),
    )
    return decided.expand() if decided.free_symbols else decided


def _named(target: Any) -> str:
    """An op's name; of a function of Python's or torch's without its address."""
    function = isinstance(target, FunctionType | BuiltinFunctionType)
    return f"{target.__module__}.{target.__qualname__}" if function else str(target)


def _written(node: torch.fx.Node) -> torch.fx.Node:
    """What an op in place gives back is what it wrote to: torch writes either."""
    while isinstance(node.target, OpOverload) and writes_to_arguments(node.target):
        target = node.args[0] if node.args else None
        if not returns_its_first(node.target) or not isinstance(target, torch.fx.Node):
            break
        node = target
    return node


def _arguments(node: torch.fx.Node) -> dict[str, Any]:
    """Arguments by name, without those that are at their defaults; by position where none is known.

    torch writes the same call in several ways.
    """
    schema = op_schema(node.target)
    if schema is None:
        return {str(number): each for number, each in enumerate(node.args)} | node.kwargs
    named = dict(zip((each.name for each in schema.arguments), node.args, strict=False))
    named |= node.kwargs
    defaults = {each.name: each.default_value for each in schema.arguments}
    return {
        name: value
        for name, value in sorted(named.items())
        if isinstance(value, torch.fx.Node) or value != defaults.get(name)
    }
