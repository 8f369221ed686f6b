"""A graph of an archive: its calls, and the nodes that torch makes of them when it loads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.arguments import Arguments, device_text, kind_of, read, value_of
from export_engine.archive.errors import ArchiveError
from export_engine.archive.names import Names, cut
from export_engine.archive.operators import has_default, is_named, parameters, target_of
from export_engine.archive.read_sizes import Sizes
from export_engine.archive.strict_decoding import StrictDecoder
from export_engine.describe import (
    Nested,
    Node,
    NumberValue,
    ObjectValue,
    TensorValue,
    Value,
    print_argument,
)
from export_engine.record import Target

_GETITEM = "_operator.getitem"
_GRAPH: StrictDecoder[schema.GraphArgument] = StrictDecoder(schema.GraphArgument)
_KEYWORD = 2
"""The kind of an argument that is passed by its name."""
_SYMBOLIC = {"as_sym_int": "int", "as_sym_float": "float", "as_sym_bool": "bool"}
_LISTS = ("as_tensors", "as_sym_ints", "as_sym_floats", "as_sym_bools")


_NOWHERE = schema.Metadata()


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
    """The element kind of a list."""


def _values_of(results: Sequence[_Result]) -> Value:
    return tuple(result.value for result in results)


class Shared:
    """Data shared by the graphs of one program."""

    def __init__(self, names: Names, sizes: Sizes) -> None:
        self.names = names
        self.sizes = sizes
        self.arguments = Arguments()
        self.graphs = 0
        self.nodes = 0
        self._tensors: dict[bytes, TensorValue] = {}

    def describe_target(self, text: str) -> Target:
        """The target of a node, by torch's name."""
        if not is_named(text):
            self.names.refused.append(repr(text[: limits.TEXT]))
        return target_of(text)

    def tensor(self, meta: schema.TensorMeta) -> TensorValue:
        """A tensor of that metadata."""
        try:
            key = msgspec.msgpack.encode(meta)
        except OverflowError as error:
            raise ArchiveError("It has a tensor with a number of more than 64 bits.") from error
        tensor_value = self._tensors.get(key)
        if tensor_value is not None:
            return tensor_value
        if max(len(meta.sizes), len(meta.strides)) > limits.RANK:
            raise ArchiveError(f"It has a tensor of more than {limits.RANK} dims.")
        layout = schema.LAYOUTS.get(meta.layout, f"unknown layout {meta.layout}")
        result = self._tensors[key] = TensorValue(
            schema.DTYPES.get(meta.dtype, f"unknown dtype {meta.dtype}"),
            tuple(map(self.sizes.read_dim, meta.sizes)),
            tuple(map(self.sizes.read_dim, meta.strides)) if layout == "strided" else (),
            device_text(meta.device),
            layout,
            meta.requires_grad,
        )
        return result


class FileGraph:
    """A graph of an archive, as the reader sees it."""

    def __init__(
        self,
        shared: Shared,
        graph: schema.Graph,
        constants: Mapping[int, str] = MappingProxyType({}),
        depth: int = 0,
    ) -> None:
        """Make one.

        Args:
            shared: with the program's other graphs.
            graph: the graph.
            constants: names of the inputs that are constants, by position.
            depth: its nesting depth.
        """
        if depth > limits.GRAPH_DEPTH or shared.graphs >= limits.GRAPHS:
            raise ArchiveError("It has too many nested graphs, or they are nested too deeply.")
        shared.graphs += 1
        self.positions: dict[str, int] = {}
        """Values of the nodes that have been read, by torch's names."""
        self._shared = shared
        self._graph = graph
        self._constants = constants
        self._depth = depth
        self._inner: dict[str, Inner] = {}
        self._count = 0
        self._made_up = 0
        """How many names were tried for getitems whose names a file does not tell."""

    def nodes(self) -> Iterator[Node]:
        """Inputs, calls and outputs in their order."""
        for number, group in enumerate(self._graph.inputs):
            yield self._placeholder(number, group)
        for node in self._graph.nodes:
            if len(node.inputs) > limits.ITEMS or len(node.outputs) > limits.ITEMS:
                raise ArchiveError(f"A call has more than {limits.ITEMS:,} arguments or results.")
            yield from self._call(node)
        yield self._output()

    def iter_nested(self) -> Iterator[Nested]:
        """The graphs that its nodes run."""
        for inner in self._inner.values():
            for node, argument in inner.users:
                graph = FileGraph(self._shared, inner.graph, depth=self._depth + 1)
                yield Nested(node, argument, graph, self.positions[inner.name])

    def find_value(self, name: str) -> Value:
        """The value of a node, by torch's name."""
        graph = self._graph
        if name in graph.tensor_values:
            return self._shared.tensor(graph.tensor_values[name])
        for kind, sizes in (
            ("int", graph.sym_int_values),
            ("bool", graph.sym_bool_values),
            ("float", graph.sym_float_values),
        ):
            if name in sizes:
                return NumberValue(kind, self._shared.sizes.read(sizes[name]))  # type: ignore[arg-type]
        return ObjectValue("CustomObjArgument") if name in graph.custom_obj_values else None

    def _placeholder(self, number: int, given: schema.Union) -> Node:
        kind = kind_of(given)
        if kind in ("as_tensor", "as_custom_obj"):
            name = read(given, kind).name
            value = self.find_value(name)
        elif kind in _SYMBOLIC and (named := read(given, kind).as_name) is not None:
            name, value = named, self.find_value(named)
        else:
            name = self._constants.get(number) or f"arg{number}"
            value = value_of(given)
        return self._node("placeholder", name, None, value, "()", [])

    def _call(self, node: schema.Node) -> Iterator[Node]:
        graph_arguments = {
            at: _GRAPH.decode(named_argument.arg["as_graph"])
            for at, named_argument in enumerate(node.inputs)
            if kind_of(named_argument.arg) == "as_graph"
        }
        for graph in graph_arguments.values():
            if graph.name not in self._inner:
                self._inner[graph.name] = Inner(graph.name, graph.graph, [])
                yield self._node("get_attr", graph.name, None, None, "()", [], node.metadata)
        inputs: list[int] = []
        target = target_of(node.target)
        args: list[str] = []
        higher = target.kind == "higher_order"
        for named_argument in node.inputs:
            argument = self._shared.arguments.read(named_argument.arg, self._find)
            text = print_argument(argument, inputs, tuple if higher else list)
            args.append(
                f"{named_argument.name}={text}" if _by_name(named_argument, target) else text
            )
        name, single = _name_of(node), _is_single(node)
        results = list(self._results(node))
        value: Value = results[0].value if single and results else _values_of(results)
        if not results and not higher:
            value = None
        within = _from_inside(node, list(graph_arguments.values()))
        text, origin = f"({', '.join(args)})", _first_known(within, node.metadata)
        position = self._count
        yield self._node("call_function", name, node.target or None, value, text, inputs, origin)
        for at, graph in graph_arguments.items():
            self._runs(position, at, graph.name, target)
        if single:
            for result in results[:1]:
                self.positions.setdefault(result.name, position)
        else:
            origins = [
                within[index] if index < len(within) else node.metadata
                for index in range(len(results))
            ]
            yield from self._getitems(name, position, results, origins)

    def _getitems(
        self, base: str, position: int, results: Sequence[_Result], origins: list[schema.Metadata]
    ) -> Iterator[Node]:
        """A getitem node per used result, as torch makes them; of a list, one per used item."""
        for index, result in enumerate(results):
            unused = f"{base}_unused_{index}"
            name = result.name or self._name_of_list(result.items, unused)
            if not name or name.startswith(unused):
                continue
            args, origin = f"({{0}}, {index})", origins[index]
            at = self._count
            value, inputs = result.value, [position]
            yield self._node("call_function", name, _GETITEM, value, args, inputs, origin)
            yield from self._getitems(name, at, result.items, [origin] * len(result.items))

    def _name_of_list(self, items: Sequence[_Result], unused: str) -> str:
        """The name of the getitem of a list, which torch writes only before an unused item's."""
        used = [item.name for item in items if not item.name.startswith(unused)]
        if not used:
            return ""
        for index, result in enumerate(items):
            name = result.name.removesuffix(f"_unused_{index}")
            if name != result.name:
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
            if not any(name in group for group in taken):
                return name

    def _results(self, node: schema.Node) -> Iterator[_Result]:
        """A call's results; None and lists have no name."""
        for union in node.outputs:
            kind = kind_of(union)
            if kind in _LISTS:
                names = [_name_of_value(value) for value in read(union, kind)]
                items = [_Result(name, self.find_value(name)) for name in names]
                if len(node.outputs) == 1:
                    yield from items
                else:
                    yield _Result("", _values_of(items), items)
            elif kind == "as_none":
                yield _Result("", None)
            elif kind == "as_tensor" or kind in _SYMBOLIC or kind == "as_custom_obj":
                name = _name_of_value(read(union, kind))
                yield _Result(name, self.find_value(name))
            else:
                yield _Result("", value_of(union))

    def _runs(self, position: int, at: int, name: str, target: Target) -> None:
        texts = parameters(target.label) if target.kind == "higher_order" else []
        argument = texts[at] if at < len(texts) else self._shared.names.display(name)
        self._inner[name].users.append((position, argument))

    def _output(self) -> Node:
        inputs: list[int] = []
        if len(self._graph.outputs) > limits.ENTRIES:
            raise ArchiveError(f"A graph has more than {limits.ENTRIES:,} outputs.")
        results = [
            self._shared.arguments.read(output, self._find) for output in self._graph.outputs
        ]
        alone = self._graph.is_single_tensor_return and len(results) == 1
        value = results[0] if alone else results
        text = f"({print_argument(value, inputs, tuple)})"
        return self._node("output", "output", None, None, text, inputs)

    def _node(
        self,
        op: str,
        name: str,
        target: str | None,
        value: Value,
        args: str,
        inputs: list[int],
        metadata: schema.Metadata = _NOWHERE,
    ) -> Node:
        shared = self._shared
        shared.nodes += 1
        if shared.nodes > limits.NODES:
            raise ArchiveError(f"It has more than {limits.NODES:,} nodes.")
        if name in self.positions:
            raise ArchiveError(f"Two of its nodes are called {name[:80]!r}.")
        self.positions[name] = self._count
        self._count += 1
        modules = _short(metadata.nn_module_stack)
        return Node(
            shared.names.display(name),
            op,
            target,
            value,
            _read_modules(modules) if modules else None,
            _short(metadata.stack_trace),
            args,
            inputs,
        )

    def _find(self, name: str) -> int:
        position = self.positions.get(name)
        if position is None:
            raise ArchiveError(f"A node reads {name[:80]!r}, which no earlier node defines.")
        return position


def _short(text: str | None) -> str | None:
    return text if text and len(text) <= limits.STACK_TEXT else None


def _name_of_value(value: schema.Named | schema.SymArgument) -> str:
    if isinstance(value, schema.Named):
        return value.name
    return value.as_name or ""


def _by_name(argument: schema.NamedArgument, target: Target) -> bool:
    """Whether an argument is passed by keyword; before torch 2.6 only the schema tells."""
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
    metadatas = {_name_of(node): node.metadata for node in given[0].graph.nodes}
    results = [
        metadatas.get(read(union, "as_tensor").name) if "as_tensor" in union else None
        for union in given[0].graph.outputs
    ]
    return [result or node.metadata for result in results]


def _first_known(within: list[schema.Metadata], own: schema.Metadata) -> schema.Metadata:
    """A call's own origin, with the line of the first of its results that has one."""
    stack = next(
        (metadata.stack_trace for metadata in within if metadata.stack_trace), own.stack_trace
    )
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
            return _name_of_value(read(first, kind))
    text = _first_name(node)
    return f"{node.target.rpartition('.')[0].rpartition('.')[2] or 'call'}_of_{text}"


def _first_name(node: schema.Node) -> str:
    for union in node.outputs:
        kind = kind_of(union)
        if kind in _LISTS and (several := read(union, kind)):
            return _name_of_value(several[0])
        if kind == "as_tensor" or kind in _SYMBOLIC:
            return _name_of_value(read(union, kind))
    return "nothing"


@lru_cache(maxsize=4096)
def _read_modules(text: str) -> dict[str, tuple[str, str]]:
    """`key,path,class;key,path,class` as torch's nn_module_stack; anything else is left out.

    A name may have a `;` of its own, so an item with fewer than three parts goes on after it.
    """
    result: dict[str, tuple[str, str]] = {}
    begun = ""
    for item in text.split(";")[: limits.SCOPES]:
        parts = _parts(begun + item)
        begun = f"{begun}{item};" if len(parts) < 3 and len(begun) <= limits.TEXT else ""
        if len(parts) == 3:
            result[cut(parts[0])] = cut(parts[1]), cut(parts[2])
    return result


def _parts(item: str) -> list[str]:
    """A text split at top-level commas."""
    if "[" not in item and "(" not in item:
        return item.split(",")
    parts, start, depth = [], 0, 0
    for end, sign in enumerate(item):
        if sign in "[(":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(item[start:end])
            start = end + 1
    return [*parts, item[start:]]
