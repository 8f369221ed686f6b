"""The cost of a program: of each op, of modules and lines, and of the whole at given sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from export_engine.cost.amount import Amount, SizeReader, largest, scale, value_of
from export_engine.cost.live_memory import Held, Owner, memory_of, owners_of, peak_of
from export_engine.cost.op_call import OpCall, width_of
from export_engine.cost.op_cost import NOTHING, Basis, Cost, cost_of_op
from export_engine.plain_errors import WrongArgument
from export_engine.record import OPS, Graph, Record

_FEWEST = 20
"""Tensors of less than a 20th of the peak are not named."""
_UNBOUNDED = 2**62
"""torch writes "no bound" as a number about as large as an index can be."""
_CALLS = frozenset(OPS.index(text) for text in ("call_function", "call_module", "call_method"))


class OpCost(NamedTuple):
    """An op of the main graph, with what it costs."""

    node: int
    name: str
    """The node's."""
    op: str
    """`aten.linear.default`."""
    cost: Cost


@dataclass(frozen=True)
class Loop:
    """An op that runs a graph a data-dependent number of times: its cost is of one iteration."""

    node: int
    name: str
    """The node's."""
    flops: Amount | None
    """Of one iteration; None where an op in it is not known."""
    moved: Amount | None
    """Bytes that one iteration reads and writes."""


@dataclass(frozen=True)
class Peak:
    """The most memory that is alive at one op, beside inputs and weights."""

    bytes: int
    """With what the op at the peak allocates inside."""
    node: int
    """The op at which it is; -1 where no op makes anything."""
    alive: tuple[tuple[int, int], ...]
    """The ops that made what is alive then, with its bytes, the largest first."""
    waiting: tuple[Held, ...] = ()
    """Of these, what the op at the peak does not read, the longest alive first."""


@dataclass(frozen=True)
class CostAt:
    """A program's cost at given sizes, in numbers."""

    sizes: Mapping[str, int]
    flops: int
    """Of all ops that are counted; see `unknown`."""
    torch_flops: int
    """The part that `torch.utils.flop_counter` also counts: matrices, convolutions, attention."""
    read: int
    """Bytes."""
    written: int
    """Bytes."""
    parameters: int
    """Elements of all parameters."""
    weights: int
    """Bytes of parameters, buffers and constants."""
    inputs: int
    """Bytes of the user's inputs."""
    peak: Peak
    per_op: tuple[tuple[int, int, int], ...]
    """Per entry of `ProgramCost.ops`: FLOPs, bytes read, bytes written; 0 where not known."""

    @property
    def bytes(self) -> int:
        """Bytes that are read and written."""
        return self.read + self.written

    @property
    def peak_bytes(self) -> int:
        """The most bytes that are alive at once, beside inputs and weights."""
        return self.peak.bytes

    @property
    def total_bytes(self) -> int:
        """Weights, inputs and the peak: what a run needs at least."""
        return self.weights + self.inputs + self.peak.bytes

    @property
    def intensity(self) -> float:
        """FLOPs for each byte moved."""
        return self.flops / self.bytes if self.bytes else 0.0


class ProgramCost:
    """A program's cost as formulas of its sizes."""

    def __init__(self, record: Record) -> None:
        """Make one; `cost_of` does.

        Args:
            record: of a program.
        """
        self._record = record
        self._sizes = SizeReader(record)
        self._calls = [self._calls_of(graph) for graph in record.graphs]
        self.symbols: tuple[str, ...] = tuple(symbol.name for symbol in record.symbols)
        """Names of the sizes, in the order of the Record."""
        self.ops: tuple[OpCost, ...] = tuple(self.ops_in(0)) if record.graphs else ()

    @property
    def flops(self) -> Amount:
        """FLOPs of all ops that are counted."""
        return self._sum(lambda cost: cost.flops)

    @property
    def read(self) -> Amount:
        """Bytes that ops read."""
        return self._sum(lambda cost: cost.read)

    @property
    def written(self) -> Amount:
        """Bytes that ops write."""
        return self._sum(lambda cost: cost.written)

    @property
    def unknown(self) -> dict[str, int]:
        """The ops whose FLOPs are not known, with how often each is called."""
        names: dict[str, int] = {}
        for op in self.ops:
            if op.cost.flops is None:
                names[op.op] = names.get(op.op, 0) + 1
        return names

    @cached_property
    def parameters(self) -> int:
        """How many elements all parameters have."""
        return sum(
            self._elements(entry.type)
            for entry in self._record.signature.inputs
            if entry.kind == "parameter"
        )

    @cached_property
    def weights(self) -> int:
        """Bytes of parameters, buffers and constants."""
        return sum(
            entry.bytes for entry in self._record.signature.inputs if entry.kind != "user_input"
        )

    @cached_property
    def inputs(self) -> Amount:
        """Bytes of the user's inputs; one whose size is not known adds nothing."""
        total = NOTHING
        for entry in self._record.signature.inputs:
            kind = self._record.types[entry.type]
            width = width_of(kind.dtype) if kind.kind == "tensor" else None
            count = self._sizes.product(kind.shape)
            if entry.kind == "user_input" and width and count is not None:
                total = total + count * width
        return total

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The loops with a data-dependent number of iterations."""
        return tuple(self._loops())

    @cached_property
    def owners(self) -> dict[int, frozenset[Owner]]:
        """Per node of the main graph, the results of ops whose memory its value is in."""
        return owners_of(self._record.graphs[0], self._calls[0]) if self._record.graphs else {}

    @cached_property
    def held(self) -> list[Held]:
        """Tensors that ops of the main graph create, and how long each is alive."""
        if not self._record.graphs:
            return []
        return memory_of(self._record.graphs[0], self._calls[0])

    def ops_in(self, graph: int) -> Iterator[OpCost]:
        """The ops of one of the graphs, by its number; the main one is 0."""
        names = self._record.graphs[graph].name
        for node, call in enumerate(self._calls[graph]):
            if call is not None:
                name = self._record.strings[names[node]]
                yield OpCost(node, name, call.target.name, self._cost(graph, node))

    def at(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> CostAt:
        """The cost at given sizes; a size that is not given is that of the example.

        Raises:
            WrongArgument: there is no such size, it is not an int, or one that has no example is
                not given.
            ArithmeticError: an expression of sizes has no value at these.
        """
        chosen = self.choose_sizes({**(sizes or {}), **named})
        values = [chosen[name] for name in self.symbols]
        count = len(self.ops)
        columns: list[Amount] = []
        for pick in (_flops, _read, _bytes_out):
            columns += [pick(op.cost) or NOTHING for op in self.ops]
        numbers = value_of(columns, values)
        flops, read, written = (numbers[at * count : (at + 1) * count] for at in range(3))
        by_torch = sum(
            number for number, op in zip(flops, self.ops, strict=True) if _is_torchs(op.cost)
        )
        return CostAt(
            chosen,
            sum(flops),
            by_torch,
            sum(read),
            sum(written),
            self.parameters,
            self.weights,
            self.inputs.at(values),
            self._peak(values),
            tuple(zip(flops, read, written, strict=True)),
        )

    def total_memory(self, sizes: Mapping[str, int]) -> int:
        """Bytes of weights, inputs and the peak, at a value for each size. Raises as `at`."""
        values = [sizes[name] for name in self.symbols]
        return self.weights + self.inputs.at(values) + self._curve(values)[1]

    def bounds(self, size: str) -> tuple[int, int]:
        """The least and the largest value that the program accepts for a size."""
        symbol = self._record.symbols[self.symbols.index(size)]
        most = symbol.upper if symbol.upper is not None else _UNBOUNDED
        return max(symbol.lower or 0, 0), min(most, _UNBOUNDED)

    def by_module(self, depth: int | None = None) -> dict[str, Amount]:
        """FLOPs per module path; with a depth, of its first so many parts."""
        totals: dict[str, Amount] = {}
        graph = self._record.graphs[0]
        for op in self.ops:
            scope = graph.scope[op.node]
            path = self._record.scopes[scope].path if scope >= 0 else ""
            if depth is not None:
                path = ".".join(path.split(".")[:depth])
            totals[path] = totals.get(path, NOTHING) + (op.cost.flops or NOTHING)
        return totals

    def _calls_of(self, graph: Graph) -> list[OpCall | None]:
        calls = [
            OpCall(self._record, graph, node, self._sizes)
            if op in _CALLS and graph.target[node] >= 0
            else None
            for node, op in enumerate(graph.op)
        ]
        _find_batches(calls)
        return calls

    def _cost(self, number: int, node: int) -> Cost:
        """An op's cost; of one that runs graphs, theirs."""
        graph, call = self._record.graphs[number], self._calls[number][node]
        assert call is not None
        inner = [nested_graph.graph for nested_graph in graph.nested if nested_graph.node == node]
        own = cost_of_op(call, bool(graph.housekeeping[node]))
        if not inner or own.basis != "unknown":
            return own
        scratch = self._inner_scratch(call, inner)
        times = self._repeats(call)
        costs = [self._whole(number) for number in inner]
        if times is None or any(cost is None for cost in costs):
            return Cost("unknown", None, own.read, own.written, scratch)
        if call.target.name.endswith("cond"):
            parts = self._find_larger([cost for cost in costs if cost is not None])
        else:
            total = _add([cost for cost in costs if cost is not None])
            parts = tuple(scale(part, times) for part in total)  # type: ignore[assignment]
        return Cost("nested", *parts, scratch)

    def _inner_scratch(self, call: OpCall, inner: Sequence[int]) -> Amount | None:
        """The most that an op's graphs hold, without the op's results; None where not known.

        As torch's eager implementations do: a loop holds what an iteration before it made, a map
        the results of its rows, and a scan its state and a row, with the indices that place it.
        """
        peaks = [self._inner_peak(number) for number in inner]
        made, name = call.bytes(*call.results), call.target.name.rpartition(".")[2]
        if made is None or any(peak is None for peak in peaks):
            return None
        most = largest(0, *(peak for peak in peaks if peak is not None))
        if name.startswith("while_loop"):
            return most
        if name == "scan":
            return _scratch_of_scan(call, most)
        if name in ("map_impl", "map"):
            return largest(made, most)
        return largest(most - made, 0)

    def _inner_peak(self, number: int) -> Amount | None:
        calls = self._calls[number]
        scratch = [
            self._cost(number, node).scratch if call else None for node, call in enumerate(calls)
        ]
        return peak_of(memory_of(self._record.graphs[number], calls), scratch)

    def _whole(self, number: int) -> tuple[Amount | None, Amount | None, Amount | None] | None:
        """The cost of a nested graph."""
        costs = [self._cost(number, at) for at, call in enumerate(self._calls[number]) if call]
        if any(cost.flops is None for cost in costs):
            return None
        return _add([(cost.flops, cost.read, cost.written) for cost in costs])

    def _repeats(self, call: OpCall) -> Amount | None:
        """How often the graphs of an op run; None if that is data-dependent."""
        name = call.target.name.rpartition(".")[2]
        if name in ("while_loop", "while_loop_stack_output"):
            return None
        if name in ("map_impl", "map", "scan", "associative_scan"):
            return self._rows(call, name)
        return Amount(1)

    def _rows(self, call: OpCall, name: str) -> Amount | None:
        """The length of what a scan or a map goes over: the first dim of what it goes over."""
        nodes = call.nodes("1") if name != "scan" else call.nodes("2")
        shape = call.type_of(nodes[0]).shape if nodes else []
        return call.size(shape[0]) if shape else None

    def _find_larger(self, costs: Sequence[Parts]) -> Parts:
        """Of two branches, of which one runs: the one with more FLOPs at the example's sizes."""
        try:
            values = [self.choose_sizes({})[name] for name in self.symbols]
            return max(costs, key=lambda each: (each[0] or NOTHING).at(values))
        except (WrongArgument, ArithmeticError, ValueError):
            return costs[0]

    def choose_sizes(self, given: Mapping[str, int]) -> dict[str, int]:
        """A value for each size: the given one, or that of the example. Raises as `at`."""
        names = [symbol.name for symbol in self._record.symbols]
        for name, value in given.items():
            if name not in names:
                text = ", ".join(names) or "none: every size is static"
                raise WrongArgument(f"There is no size {name!r}. Available: {text}.")
            if not hasattr(value, "__index__") or isinstance(value, bool):
                raise WrongArgument(f"A size must be an int, but {name} is {value!r}.")
            if value < 0:
                raise WrongArgument(f"A size must be 0 or more, but {name} is {value}.")
            least, most = self.bounds(name)
            if not least <= value <= most:
                ends = f"at least {least}" if most >= _UNBOUNDED else f"from {least} to {most:,}"
                raise WrongArgument(f"The program accepts {name} {ends}, not {value:,}.")
        chosen = {
            symbol.name: given.get(symbol.name, symbol.example) for symbol in self._record.symbols
        }
        missing = [name for name, value in chosen.items() if value is None]
        if missing:
            raise WrongArgument(
                f"{missing[0]} is data-dependent and has no example. Pass it: "
                f"cost.at({missing[0]}=…)."
            )
        return {name: value for name, value in chosen.items() if value is not None}

    def curve(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> list[int]:
        """Bytes that are alive at each node of the main graph, beside inputs and weights.

        With what the op there allocates inside. Raises as `at`.
        """
        chosen = self.choose_sizes({**(sizes or {}), **named})
        return self._alive([chosen[name] for name in self.symbols])[2]

    def _curve(self, values: Sequence[int]) -> tuple[int, int]:
        """The node of the peak, -1 where there is none, and its bytes."""
        curve = self._alive(values)[2]
        node = max(range(len(curve)), key=curve.__getitem__, default=-1)
        return (node, curve[node]) if node >= 0 and curve[node] else (-1, 0)

    def _alive(self, values: Sequence[int]) -> tuple[list[Held], list[int], list[int]]:
        """The tensors of known size, their bytes, and what is alive at each node."""
        held = [held for held in self.held if held.bytes is not None]
        inside = [op_cost for op_cost in self.ops if op_cost.cost.scratch]
        amounts = [held_value.bytes or NOTHING for held_value in held]
        amounts += [op_cost.cost.scratch or NOTHING for op_cost in inside]
        numbers = value_of(amounts, values)
        sizes, scratch = numbers[: len(held)], numbers[len(held) :]
        count = len(self._record.graphs[0].name) if self._record.graphs else 0
        change = [0] * (count + 1)
        for one, size in zip(held, sizes, strict=True):
            change[one.node] += size
            change[one.last + 1] -= size
        curve = list(accumulate(change))[:count]
        for op, size in zip(inside, scratch, strict=True):
            curve[op.node] += size
        return held, sizes, curve

    def _peak(self, values: Sequence[int]) -> Peak:
        held, sizes, _ = self._alive(values)
        node, most = self._curve(values)
        sizes_of = {
            tensor: size
            for tensor, size in zip(held, sizes, strict=True)
            if tensor.node <= node <= tensor.last and size
        }
        alive: dict[int, int] = {}
        for tensor, size in sizes_of.items():
            alive[tensor.node] = alive.get(tensor.node, 0) + size
        waiting = [
            tensor
            for tensor, size in sizes_of.items()
            if (tensor.node, tensor.item) not in self._read_at(node) and size * _FEWEST >= most
        ]
        waiting.sort(key=lambda tensor: tensor.node - tensor.last)
        largest_first = sorted(alive.items(), key=lambda each: -each[1])
        return Peak(most, node, tuple(largest_first), tuple(waiting))

    def _read_at(self, node: int) -> frozenset[Owner]:
        """The results whose memory a node reads or makes."""
        call = self._calls[0][node] if node >= 0 else None
        nodes = [node, *(call.inputs if call else ())]
        return frozenset(owner for number in nodes for owner in self.owners.get(number, ()))

    def _loops(self) -> Iterator[Loop]:
        for op in self.ops:
            call = self._calls[0][op.node]
            graph = self._record.graphs[0]
            inner = [nested.graph for nested in graph.nested if nested.node == op.node]
            if call is None or not inner or self._repeats(call) is not None:
                continue
            parts = [self._whole(number) for number in inner]
            items = [part for part in parts if part is not None]
            if len(items) < len(parts):
                yield Loop(op.node, op.name, None, None)
                continue
            flops, read, written = _add(items)
            moved = None if read is None or written is None else read + written
            yield Loop(op.node, op.name, flops, moved)

    def _elements(self, number: int) -> int:
        total = 1
        for size in self._record.types[number].shape:
            total *= size if isinstance(size, int) else 1
        return total

    def _sum(self, pick: Callable[[Cost], Amount | None]) -> Amount:
        total: dict[object, int] = {}
        for op in self.ops:
            for product, count in (pick(op.cost) or NOTHING).terms.items():
                total[product] = total.get(product, 0) + count
        return Amount(total)  # type: ignore[arg-type]


def cost_of(record: Record) -> ProgramCost:
    """The cost of a program, from its Record alone.

    Raises:
        WrongArgument: its export failed, so that there is no program.
    """
    if record.failure is not None:
        raise WrongArgument("There is no program to count: the export failed.")
    return ProgramCost(record)


Parts = tuple[Amount | None, Amount | None, Amount | None]
"""FLOPs, bytes read, bytes written."""


def _flops(cost: Cost) -> Amount | None:
    return cost.flops


def _read(cost: Cost) -> Amount | None:
    return cost.read


def _bytes_out(cost: Cost) -> Amount | None:
    return cost.written


_TORCHS: Basis = "torch"


def _is_torchs(cost: Cost) -> bool:
    return cost.basis == _TORCHS


def _add(parts: Sequence[Parts]) -> Parts:
    columns = ([part[at] for part in parts] for at in range(3))
    return tuple(_sum_of(column) for column in columns)  # type: ignore[return-value]


def _sum_of(amounts: Sequence[Amount | None]) -> Amount | None:
    total = NOTHING
    for amount in amounts:
        if amount is None:
            return None
        total = total + amount
    return total


def _scratch_of_scan(call: OpCall, inner: Amount) -> Amount | None:
    """A step, the state that it reads, and a row that it makes, with an index for each element.

    Rows of half precision are placed in a float32 copy of the result.
    """
    states = [call.type_of(node) for node in call.nodes("1")]
    total = call.bytes(*states)
    for result in call.results[len(states) :]:
        elements, width = call.product(result.shape[1:]), width_of(result.dtype)
        whole = call.elements(result)
        if total is None or elements is None or width is None or whole is None:
            return None
        total = total + elements * (width + _INDEX)
        if width < _FLOAT and "float" in result.dtype:
            inner = largest(inner, whole * _FLOAT + elements * _INDEX)
    return None if total is None else total + inner


_INDEX, _FLOAT = 8, 4
_VMAP = "torch._functorch.predispatch."


def _find_batches(calls: Sequence[OpCall | None]) -> None:
    """Tells calls in `torch.vmap` over how many rows they run: types there are of one row."""
    levels: dict[int, frozenset[object]] = {}
    rows: dict[object, Amount | None] = {}
    for node, call in enumerate(calls):
        if call is None:
            continue
        own = frozenset(level for source in call.inputs for level in levels.get(source, ()))
        name = call.target.name.removesuffix(".default")
        if name == f"{_VMAP}_add_batch_dim":
            dim, level = call.value("1"), call.value("2")
            shape = call.type_of(call.inputs[0]).shape
            rows[level] = call.size(shape[dim]) if isinstance(dim, int) and shape else None
            own |= {level}
        elif name == f"{_VMAP}_remove_batch_dim":
            own -= {call.value("1")}
        levels[node] = own
        for level in own:
            call.batch = call.batch * (rows.get(level) or 1)
