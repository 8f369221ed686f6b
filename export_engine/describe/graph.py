"""Graphs as columns: the main graph and the graphs that higher-order operators run."""

from __future__ import annotations

import inspect
from array import array
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch.fx import GraphModule, Node

from export_engine.describe.arguments import Arguments
from export_engine.describe.operators import Operators
from export_engine.describe.scopes import Scopes
from export_engine.describe.symbol_names import Symbols
from export_engine.describe.tables import Stacks, Strings, ragged
from export_engine.describe.values import Values
from export_engine.record import OPS, Column, Graph, NestedGraph
from export_engine.source import Stack, parse_stack_trace, without_repeats
from export_engine.torch_internals import HigherOrderOperator
from export_engine.trace import PartialGraph

_OP_NUMBERS = {op: number for number, op in enumerate(OPS)}
_PLACEHOLDER, _GET_ATTR, _CALL_FUNCTION, _CALL_METHOD, _OUTPUT = (
    _OP_NUMBERS[op] for op in ("placeholder", "get_attr", "call_function", "call_method", "output")
)


class Within(NamedTuple):
    """The origin of the node that runs a nested graph. torch records less inside than outside."""

    scope: int
    stack: Stack


OUTERMOST = Within(-1, ())


class Graphs:
    """Describes graph modules, the nested ones after the one that runs them."""

    def __init__(self, symbols: Symbols, scopes: Scopes, strings: Strings, stacks: Stacks) -> None:
        self.values = Values(symbols)
        self.operators = Operators()
        self.scopes = scopes
        self.entries: list[Graph] = []
        self._arguments = Arguments(symbols)
        self._strings = strings
        self._stacks = stacks
        self._stack_numbers: dict[tuple[str, Stack], int] = {}

    def add(
        self,
        graph_of: GraphModule | PartialGraph,
        title: str,
        within: Within = OUTERMOST,
        names: Mapping[str, str] | None = None,
    ) -> int:
        """Describes a graph and its nested graphs; returns its number.

        Args:
            graph_of: a graph with the object whose attributes its nodes name.
            title: its title.
            within: the origin of the node that runs it.
            names: names for nodes with meaningless ones.
        """
        number = len(self.entries)
        nodes = list(graph_of.graph.nodes)
        root = graph_of.root if isinstance(graph_of, PartialGraph) else graph_of
        positions = {node: position for position, node in enumerate(nodes)}
        graph = self._columns(root, nodes, positions, title, within, names or {})
        self.entries.append(graph)
        for node, name, inner, holder in _nested(root, nodes, positions):
            below = Within(graph.scope[node], self._stacks.stack(graph.stack[node]))
            graph.nested.append(NestedGraph(node, self.add(inner, name, below), name, holder))
        return number

    def _columns(
        self,
        root: Any,
        nodes: list[Node],
        positions: dict[Node, int],
        title: str,
        within: Within,
        called: Mapping[str, str],
    ) -> Graph:
        ops, targets, types, scopes, stacks, names, args = (array("i") for _ in range(7))
        inputs: list[list[int]] = []
        for node in nodes:
            meta = node.meta
            op = _OP_NUMBERS[node.op]
            ops.append(op)
            names.append(self._strings.number(called.get(node.name, node.name)))
            targets.append(self._target(root, node, op))
            # Only a loaded program keeps a value on its output node; its inputs are the results.
            # Dynamo names it differently.
            value = meta.get("val", meta.get("example_value"))
            types.append(self.values.number(None if op == _OUTPUT else value))
            modules = meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack")
            scopes.append(self._scope(modules, op, within))
            stacks.append(self._stack(_stack_trace(node), within))
            template, read = self._arguments.template(node)
            if op == _GET_ATTR and not isinstance(attribute(root, str(node.target)), GraphModule):
                template = f"({str(node.target)!r})"
            args.append(self._strings.number(template))
            inputs.append([positions[each] for each in read])
        return Graph(
            title=title,
            name=names,
            op=ops,
            target=targets,
            type=types,
            scope=scopes,
            stack=stacks,
            args=args,
            inputs=ragged(inputs),
            housekeeping=self._housekeeping(ops, targets, types),
            nested=[],
        )

    def _target(self, root: Any, node: Node, op: int) -> int:
        if op == _CALL_FUNCTION:
            return self.operators.number(node.target)
        if op in (_PLACEHOLDER, _OUTPUT, _GET_ATTR):
            return -1
        if op == _CALL_METHOD:
            return self.operators.method(str(node.target))
        module = attribute(root, str(node.target))
        return self.operators.submodule(str(node.target), _contents(module))

    def _scope(self, module_stack: Any, op: int, within: Within) -> int:
        if op in (_PLACEHOLDER, _OUTPUT):
            return -1
        number = self.scopes.number(module_stack)
        return number if number >= 0 else within.scope

    def _stack(self, text: str | None, within: Within) -> int:
        if not text:
            return -1
        known = self._stack_numbers.get((text, within.stack))
        if known is None:
            stack = parse_stack_trace(text)
            if within.stack and stack[:1] != within.stack[:1]:
                stack = without_repeats([*within.stack, *stack])
            known = self._stack_numbers[text, within.stack] = self._stacks.number(stack)
        return known

    def _housekeeping(self, ops: Column, targets: Column, types: Column) -> Column:
        flags = array("i", bytes(4 * len(ops)))
        for position, (op, target) in enumerate(zip(ops, targets, strict=True)):
            if op != _CALL_FUNCTION:
                continue
            produces = self.values.entry(types[position]).kind
            if self.operators.is_housekeeping(target) or (
                self.operators.is_size_arithmetic(target) and produces in ("int", "bool", "float")
            ):
                flags[position] = 1
        return flags


def _contents(module: Any) -> str:
    """A module that a node calls, as torch prints it; of classes that are not torch's the name."""
    own = isinstance(module, torch.nn.Module) and not isinstance(module, GraphModule)
    if own and all(type(each).__module__.startswith("torch.nn.") for each in module.modules()):
        return " ".join(repr(module).split())
    return "" if isinstance(module, GraphModule) else f"<{type(module).__name__}>"


def _nested(
    root: Any, nodes: list[Node], positions: dict[Node, int]
) -> list[tuple[int, str, GraphModule, int]]:
    """The nested graphs of this graph: (node, argument name, graph, node that names it)."""
    found: list[tuple[int, str, GraphModule, int]] = []
    for node in nodes:
        if node.op not in ("get_attr", "call_module"):
            continue
        inner = attribute(root, str(node.target))
        if not isinstance(inner, GraphModule):
            continue
        if node.op == "call_module":
            found.append((positions[node], str(node.target), inner, positions[node]))
        else:
            runs = [user for user in node.users if user.op == "call_function"]
            holder = positions[node]
            found.extend(
                (positions[user], _argument_name(user, node), inner, holder) for user in runs
            )
    return found


def _argument_name(user: Node, graph: Node) -> str:
    """The argument name of a graph, `true_fn`; else the graph's own name."""
    names = _parameter_names(user.target)
    if graph in user.args and (position := user.args.index(graph)) < len(names):
        return names[position]
    return str(graph.target)


@lru_cache(maxsize=256)
def _parameter_names(operator: Any) -> list[str]:
    try:
        parameters = inspect.signature(operator.__call__).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]


def attribute(module: Any, path: str) -> Any:
    """The object at a dotted path below a module; None if there is none."""
    for part in path.split("."):
        module = getattr(module, part, None)
    return module


def _stack_trace(node: Node) -> str | None:
    """The recorded origin; for an operator that torch itself wraps around others, its results'.

    torch makes such calls out of `with torch.no_grad()` after tracing, and gives them no line.
    """
    own: str | None = node.meta.get("stack_trace")
    if own or not isinstance(node.target, HigherOrderOperator):
        return own
    return next((text for user in node.users if (text := user.meta.get("stack_trace"))), None)
