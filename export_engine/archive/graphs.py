"""Graphs of an archive as columns: the main graph and the graphs that its operators run."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from export_engine.archive import limits, schema
from export_engine.archive.arguments import Arguments, kind_of, read, value_of
from export_engine.archive.errors import ArchiveError
from export_engine.archive.names import Names
from export_engine.archive.operators import has_default, is_named, parameters, target_of
from export_engine.archive.origins import Origins, Within
from export_engine.archive.strict_decoding import StrictDecoder
from export_engine.archive.symbols import Symbols
from export_engine.archive.values import CustomObject, Symbolic, Value, Values
from export_engine.describe import Strings, Table, ragged
from export_engine.record import HOUSEKEEPING, OPS, Graph, NestedGraph, Target, sequence_text

_OP = {op: number for number, op in enumerate(OPS)}
_GETITEM = "_operator.getitem"
_GRAPH: StrictDecoder[schema.GraphArgument] = StrictDecoder(schema.GraphArgument)
_KEYWORD = 2
"""The kind of an argument that is passed by its name."""
_SYMBOLIC = {"as_sym_int": "int", "as_sym_float": "float", "as_sym_bool": "bool"}
_LISTS = ("as_tensors", "as_sym_ints", "as_sym_floats", "as_sym_bools")


class Inner(NamedTuple):
    """A graph passed to a node."""

    name: str
    graph: schema.Graph
    users: list[tuple[int, str]]
    """The nodes that run it, and the argument that holds it."""


class _Result(NamedTuple):
    """A result of a call."""

    name: str
    """Empty for None, a constant and a list."""
    value: Value
    items: Sequence[_Result] = ()
    """Of a list."""


def _values_of(results: Sequence[_Result]) -> Value:
    return tuple(each.value for each in results)


class Graphs:
    """Reads graphs, the nested ones after the one that runs them."""

    def __init__(self, symbols: Symbols, names: Names, strings: Strings, origins: Origins) -> None:
        self.entries: list[Graph] = []
        self.values = Values(symbols)
        self.targets: Table[str, Target] = Table()
        self.arguments = Arguments()
        self.positions: dict[str, int] = {}
        """Of the nodes of the main graph, by torch's names."""
        self.names = names
        self.strings = strings
        self.origins = origins
        self.nodes = 0

    def add(
        self,
        graph: schema.Graph,
        title: str,
        constants: Mapping[int, str],
        within: Within | None = None,
        depth: int = 0,
    ) -> int:
        """Reads a graph and its nested graphs; returns its number.

        Args:
            graph: the graph.
            title: its title.
            constants: names of the inputs that are constants, by position.
            within: the origin of the node that runs it.
            depth: its nesting depth.
        """
        number = len(self.entries)
        if depth > limits.GRAPH_DEPTH or number >= limits.GRAPHS:
            raise ArchiveError("It nests graphs deeper, or more of them, than torch does.")
        columns = _Columns(self, graph, within or Within())
        columns.read(constants)
        if not self.entries:
            self.positions = columns.positions
        read_graph = columns.graph(title)
        self.entries.append(read_graph)
        for inner in columns.inner.values():
            for node, argument in inner.users:
                below = self.origins.within(read_graph.scope[node], read_graph.stack[node])
                nested = self.add(inner.graph, argument, {}, below, depth + 1)
                holder = columns.positions[inner.name]
                read_graph.nested.append(NestedGraph(node, nested, argument, holder))
        return number

    def target(self, text: str) -> int:
        """The number of a node's target."""
        known = self.targets.find(text)
        if known is None:
            known = self.targets.add(text, target_of(text))
            if not is_named(text):
                self.names.refused.append(repr(text[: limits.TEXT]))
        return known


class _Columns:
    """The columns of one graph."""

    def __init__(self, graphs: Graphs, graph: schema.Graph, within: Within) -> None:
        self.positions: dict[str, int] = {}
        self.inner: dict[str, Inner] = {}
        self._graphs = graphs
        self._graph = graph
        self._within = within
        self._ops, self._targets, self._types, self._scopes = (array("i") for _ in range(4))
        self._stacks, self._names, self._args = (array("i") for _ in range(3))
        self._inputs: list[list[int]] = []
        self._made_up = 0
        """How many names were tried for getitems whose names a file does not tell."""

    def read(self, constants: Mapping[int, str]) -> None:
        """Reads inputs, calls and outputs in their order."""
        for number, given in enumerate(self._graph.inputs):
            self._placeholder(number, given, constants)
        for node in self._graph.nodes:
            if len(node.inputs) > limits.ITEMS or len(node.outputs) > limits.ITEMS:
                raise ArchiveError("A call has more arguments or results than torch writes.")
            self._call(node)
        self._output()

    def graph(self, title: str) -> Graph:
        """The graph."""
        return Graph(
            title=title,
            name=self._names,
            op=self._ops,
            target=self._targets,
            type=self._types,
            scope=self._scopes,
            stack=self._stacks,
            args=self._args,
            inputs=ragged(self._inputs),
            housekeeping=self._housekeeping(),
            nested=[],
        )

    def _placeholder(self, number: int, given: schema.Union, constants: Mapping[int, str]) -> None:
        kind = kind_of(given)
        if kind in ("as_tensor", "as_custom_obj"):
            name = read(given, kind).name
            value = self._value(name)
        elif kind in _SYMBOLIC and (named := read(given, kind).as_name) is not None:
            name, value = named, self._value(named)
        else:
            name = constants.get(number) or f"arg{number}"
            value = value_of(given)
        self._node("placeholder", name, "", value, "()", [])

    def _call(self, node: schema.Node) -> None:
        given = {
            at: _GRAPH.decode(each.arg["as_graph"])
            for at, each in enumerate(node.inputs)
            if kind_of(each.arg) == "as_graph"
        }
        for graph in given.values():
            self._get_attr(graph, node)
        inputs: list[int] = []
        target = target_of(node.target)
        args: list[str] = []
        higher = target.kind == "higher_order"
        for each in node.inputs:
            text = self._graphs.arguments.text(each.arg, self._find, inputs, higher)
            args.append(f"{each.name}={text}" if _by_name(each, target) else text)
        name, single = _name_of(node), _is_single(node)
        results = list(self._results(node))
        value: Value = results[0].value if single and results else _values_of(results)
        if not results and not higher:
            value = None
        within = _from_inside(node, list(given.values()))
        text, origin = f"({', '.join(args)})", _first_known(within, node.metadata)
        position = self._node("call_function", name, node.target, value, text, inputs, origin)
        for at, graph in given.items():
            self._runs(position, at, graph.name, target)
        if single:
            for result in results[:1]:
                self.positions.setdefault(result.name, position)
        else:
            origins = [
                within[index] if index < len(within) else node.metadata
                for index in range(len(results))
            ]
            self._getitems(name, position, results, origins)

    def _getitems(
        self, base: str, position: int, results: Sequence[_Result], origins: list[schema.Metadata]
    ) -> None:
        """A getitem node per used result, as torch makes them; of a list, one per used item."""
        for index, result in enumerate(results):
            unused = f"{base}_unused_{index}"
            name = result.name or self._name_of_list(result.items, unused)
            if not name or name.startswith(unused):
                continue
            args, origin = f"({{0}}, {index})", origins[index]
            at = self._node("call_function", name, _GETITEM, result.value, args, [position], origin)
            self._getitems(name, at, result.items, [origin] * len(result.items))

    def _name_of_list(self, items: Sequence[_Result], unused: str) -> str:
        """The name of the getitem of a list, which torch writes only before an unused item's."""
        used = [each.name for each in items if not each.name.startswith(unused)]
        if not used:
            return ""
        for index, each in enumerate(items):
            name = each.name.removesuffix(f"_unused_{index}")
            if name != each.name:
                return name
        return self._free_name()

    def _free_name(self) -> str:
        """A name for a getitem that no value of this graph has."""
        graph = self._graph
        values = (graph.tensor_values, graph.sym_int_values, graph.sym_bool_values)
        taken = (self.positions, *values, graph.sym_float_values, graph.custom_obj_values)
        while True:
            name = f"getitem_{self._made_up}" if self._made_up else "getitem"
            self._made_up += 1
            if not any(name in each for each in taken):
                return name

    def _results(self, node: schema.Node) -> Iterator[_Result]:
        """A call's results; None and lists have no name."""
        for union in node.outputs:
            kind = kind_of(union)
            if kind in _LISTS:
                names = [_named(each) for each in read(union, kind)]
                items = [_Result(name, self._value(name)) for name in names]
                if len(node.outputs) == 1:
                    yield from items
                else:
                    yield _Result("", _values_of(items), items)
            elif kind == "as_none":
                yield _Result("", None)
            elif kind == "as_tensor" or kind in _SYMBOLIC or kind == "as_custom_obj":
                name = _named(read(union, kind))
                yield _Result(name, self._value(name))
            else:
                yield _Result("", value_of(union))

    def _get_attr(self, given: schema.GraphArgument, node: schema.Node) -> None:
        if given.name in self.inner:
            return
        self.inner[given.name] = Inner(given.name, given.graph, [])
        self._node("get_attr", given.name, "", None, "()", [], node.metadata)

    def _runs(self, position: int, at: int, name: str, target: Target) -> None:
        known = parameters(target.label) if target.kind == "higher_order" else []
        argument = known[at] if at < len(known) else self._graphs.names.shown(name)
        self.inner[name].users.append((position, argument))

    def _output(self) -> None:
        inputs: list[int] = []
        if len(self._graph.outputs) > limits.ENTRIES:
            raise ArchiveError("A graph has more outputs than torch writes.")
        texts = [
            self._graphs.arguments.text(each, self._find, inputs, as_tuple=True)
            for each in self._graph.outputs
        ]
        alone = self._graph.is_single_tensor_return and len(texts) == 1
        text = f"({texts[0] if alone else sequence_text(texts, as_tuple=True)})"
        self._node("output", "output", "", None, text, inputs)

    def _node(
        self,
        op: str,
        name: str,
        target: str,
        value: Value,
        args: str,
        inputs: list[int],
        metadata: schema.Metadata | None = None,
    ) -> int:
        graphs = self._graphs
        graphs.nodes += 1
        if graphs.nodes > limits.NODES:
            raise ArchiveError(f"It has more than {limits.NODES:,} nodes.")
        position = len(self._ops)
        if name in self.positions:
            raise ArchiveError(f"Two of its nodes are called {name[:80]!r}.")
        self.positions[name] = position
        self._ops.append(_OP[op])
        self._names.append(graphs.strings.number(graphs.names.shown(name)))
        self._targets.append(graphs.target(target) if target else -1)
        self._types.append(graphs.values.number(value))
        outside = op in ("placeholder", "output")
        self._scopes.append(-1 if outside else graphs.origins.scope(metadata, self._within))
        self._stacks.append(graphs.origins.stack(metadata, self._within))
        self._args.append(graphs.strings.number(args))
        self._inputs.append(inputs)
        return position

    def _find(self, name: str) -> int:
        position = self.positions.get(name)
        if position is None:
            raise ArchiveError(f"A node reads {name[:80]!r}, which no node before it is called.")
        return position

    def _value(self, name: str) -> Value:
        graph = self._graph
        if name in graph.tensor_values:
            return graph.tensor_values[name]
        for kind, sizes in (
            ("int", graph.sym_int_values),
            ("bool", graph.sym_bool_values),
            ("float", graph.sym_float_values),
        ):
            if name in sizes:
                return Symbolic(kind, sizes[name])
        return CustomObject() if name in graph.custom_obj_values else None

    def _housekeeping(self) -> array[int]:
        flags = array("i", bytes(4 * len(self._ops)))
        for position, number in enumerate(self._targets):
            if number < 0:
                continue
            target = self._graphs.targets.entries[number]
            produces = self._graphs.values.entry(self._types[position]).kind
            arithmetic = target.kind == "python" and produces in ("int", "bool", "float")
            checks = target.name.endswith("sym_constrain_range_for_size")
            if arithmetic or checks or target.name in HOUSEKEEPING:
                flags[position] = 1
        return flags


def _named(value: schema.Named | schema.SymArgument) -> str:
    if isinstance(value, schema.Named):
        return value.name
    return value.as_name or ""


def _by_name(argument: schema.NamedArgument, target: Target) -> bool:
    """Whether an argument is passed by keyword; before torch 2.6 only the schema says so."""
    if not argument.name:
        return False
    if argument.kind is None:
        return has_default(target, argument.name)
    return argument.kind == _KEYWORD


def _from_inside(node: schema.Node, given: list[schema.GraphArgument]) -> list[schema.Metadata]:
    """Where the results of a call without a line come from: the ops that make them in its graph.

    torch makes such calls out of `with torch.no_grad()` after tracing, and gives them no line.
    """
    if node.metadata.stack_trace or len(given) != 1:
        return []
    made = {_name_of(each): each.metadata for each in given[0].graph.nodes}
    results = [
        made.get(read(union, "as_tensor").name) if "as_tensor" in union else None
        for union in given[0].graph.outputs
    ]
    return [each or node.metadata for each in results]


def _first_known(within: list[schema.Metadata], own: schema.Metadata) -> schema.Metadata:
    """A call's own origin, with the line of the first of its results that has one."""
    stack = next((each.stack_trace for each in within if each.stack_trace), own.stack_trace)
    return schema.Metadata(stack, own.nn_module_stack)


def _is_single(node: schema.Node) -> bool:
    """Whether a call returns one value, not a tuple of one."""
    if len(node.outputs) != 1 or kind_of(node.outputs[0]) in _LISTS:
        return False
    higher = node.target.startswith("torch.ops.higher_order")
    plain = kind_of(node.outputs[0]) != "as_none"
    return not (higher and plain and node.is_hop_single_tensor_return is False)


def _name_of(node: schema.Node) -> str:
    """A call's name; before torch 2.8 that of its only result, else a made-up one."""
    if node.name:
        return node.name
    first = node.outputs[0] if node.outputs else {}
    for kind in ("as_tensor", *_SYMBOLIC):
        if kind in first and len(node.outputs) == 1:
            return _named(read(first, kind))
    made = _first_name(node)
    return f"{node.target.rpartition('.')[0].rpartition('.')[2] or 'call'}_of_{made}"


def _first_name(node: schema.Node) -> str:
    for union in node.outputs:
        kind = kind_of(union)
        if kind in _LISTS and (several := read(union, kind)):
            return _named(several[0])
        if kind == "as_tensor" or kind in _SYMBOLIC:
            return _named(read(union, kind))
    return "nothing"
