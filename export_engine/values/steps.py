"""A program run node by node: its lifted graph, which is given parameters and buffers as inputs.

So nodes are those of the Record, and the model is never written to: what the graph writes to is a
copy. Graphs inside of higher-order operators are run node by node, too, where the operator takes
any function for them; the others run as torch runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import BuiltinFunctionType
from typing import Any, NamedTuple, TypeGuard

import torch
from torch.fx import GraphModule, Node

from export_engine.process import raise_if_interrupted
from export_engine.record import Record
from export_engine.torch_internals import OpOverload, pytree
from export_engine.values.functorch_levels import Levels, is_entered

Observer = Callable[[int, int, Any], None]
"""Called with a graph and a node of the Record, and the value that the node gave."""

_TAKE_FUNCTIONS = frozenset(
    {"cond", "map_impl", "map", "scan", "while_loop", "wrap_with_set_grad_enabled"}
    | {"wrap_with_autocast"}
)
"""Higher-order operators that call what they are given, and ask nothing else of it."""


MOST_TURNS = 64
"""Calls of nested graphs that are kept of one node, to be gone into later."""


class InnerCall(NamedTuple):
    """A call of a nested graph, with all that it takes to call it again."""

    module: GraphModule
    graph: int
    """In the Record."""
    args: list[Any]
    random: torch.Tensor
    """The state of the CPU's random numbers."""


class StepFailed(RuntimeError):
    """A node of the program raised an error. The message can be shown unchanged."""


def is_plain(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether a value is a tensor with elements of its own, and not one made of other tensors.

    Those of a quantized weight are read by ops that give its parts, which are plain.
    """
    return isinstance(value, torch.Tensor) and not hasattr(type(value), "__tensor_flatten__")


def bytes_of(value: torch.Tensor) -> int:
    """Bytes of a tensor's elements; of a sparse one, as if it were not."""
    return value.numel() * value.element_size()


class Steps(torch.fx.Interpreter):
    """Runs a program's graph a node at a time."""

    known: frozenset[str] | None = None
    """The ops whose values are not torch's, by name; None where it runs the program itself."""
    runs_nested = False
    """Whether nested graphs also run node by node if nothing observes them."""

    def __init__(
        self,
        module: GraphModule,
        record: Record,
        observe: Observer | None = None,
        graph: int = 0,
    ) -> None:
        """Make one.

        Args:
            module: the program's graph module, or one inside of it.
            record: the program, described.
            observe: told what nodes of nested graphs give.
            graph: which graph of the Record this is.
        """
        super().__init__(module, garbage_collect_values=True)
        self.record = record
        self.number = graph
        self.at = ""
        """The node that is being run."""
        self.held = 0
        """Bytes of the values that are needed later."""
        self.peak = 0
        self.random: torch.Tensor | None = None
        """The state of the CPU's random numbers, of runs that go side by side."""
        self.calls: dict[str, list[InnerCall]] | None = None
        """The first calls of nested graphs, by the name of the node, if they are to be kept."""
        self.turns: dict[str, int] = {}
        """How many there were, if they are kept."""
        self.copies = False
        """Whether arguments are kept as they are now, since the program writes to tensors."""
        self._levels = Levels(module)
        self._observe = observe
        self._nested = _find_nested_graphs(module, record, graph)
        self._storages: dict[int, list[int]] = {}

    def steps(self, inputs: list[Any]) -> Iterator[tuple[int, Node, Any]]:
        """Each node's number, the node and its value; a value put into `env` meanwhile counts."""
        self.env = {}
        self.args_iter: Iterator[Any] = iter(inputs)
        for number, node, value in self._values():
            self._count(value, 1)
            yield number, node, value
            dead = self.user_to_last_uses.get(node, ())
            for item in dead if node.users else (*dead, node):
                if item in self.env:
                    gone = self.env.pop(item)
                    self._count(None if item.name in self._levels.inside else gone, -1)

    def _values(self) -> Iterator[tuple[int, Node, Any]]:
        """Each node when it has run; those of a transform such as vmap together, at its end."""
        waiting: list[tuple[int, Node, Any]] = []
        try:
            for number, node in enumerate(self.module.graph.nodes):  # type: ignore[union-attr,arg-type]
                if number % 64 == 0:
                    raise_if_interrupted()
                self.at = node.name
                value = self.run_node(node)
                self.env[node] = value
                waiting.append((number, node, value if self._levels.is_seen(node) else None))
                if not self._levels.depth:
                    yield from waiting
                    waiting = []
        finally:
            self._levels.leave()

    def run_node(self, n: Node) -> Any:
        """A node's value. Errors say at which node."""
        if n.op == "output":
            return None
        for node in n.all_input_nodes if self._nested else ():
            function = self.env.get(node)
            if isinstance(function, _Function):
                function.number = self._nested.get((n.name, node.name), -1)
        try:
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)
        except StepFailed:
            raise
        except Exception as error:
            text = str(error).strip().partition("\n")[0]
            raise StepFailed(
                f"The program raised {type(error).__name__} at `{n.name}`: {text}"
            ) from error

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """An attribute; a graph becomes a function that runs it node by node."""
        attr = super().get_attr(target, args, kwargs)
        return _Function(attr, self) if isinstance(attr, GraphModule) else attr

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The value of an op."""
        if not isinstance(target, OpOverload) and not _takes_functions(target):
            args, kwargs = pytree.tree_map_only(_Function, lambda each: each.module, (args, kwargs))
        if self.random is None or not _may_be_random(target):
            return super().call_function(target, args, kwargs)
        torch.set_rng_state(self.random)
        try:
            return super().call_function(target, args, kwargs)
        finally:
            self.random = torch.get_rng_state()

    def inner(self, module: GraphModule, graph: int) -> Steps:
        """The interpreter of a nested graph."""
        return type(self)(module, self.record, self._observe, graph)

    def run_inner(self, module: GraphModule, graph: int, args: tuple[Any, ...]) -> Any:
        """The result of a nested graph, its nodes observed."""
        self._note_call(module, graph, args)
        observe = self._observe if graph >= 0 else None
        if observe is None and not self.runs_nested:
            return module(*args)
        inner = self.inner(module, graph)
        result: Any = None
        for number, node, value in inner.steps(list(args)):
            if node.op == "output":
                result = torch.fx.node.map_arg(node.args[0], lambda each: inner.env[each])
            elif observe is not None:
                observe(graph, number, value)
        self.peak = max(self.peak, self.held + inner.peak)
        return result

    def _note_call(self, module: GraphModule, graph: int, args: tuple[Any, ...]) -> None:
        if self.calls is None:
            return
        self.turns[self.at] = self.turns.get(self.at, 0) + 1
        kept = self.calls.setdefault(self.at, [])
        if len(kept) < MOST_TURNS:
            held = [
                argument.clone() if self.copies and is_plain(argument) else argument
                for argument in args
            ]
            kept.append(InnerCall(module, graph, held, torch.get_rng_state()))

    def _count(self, value: Any, by: int) -> None:
        """Notes that a value is held (1), or let go (-1)."""
        if isinstance(value, torch.Tensor):
            self._count_one(value, by)
        elif value is not None and not isinstance(value, int | float):
            for leaf in pytree.tree_leaves(value):
                self._count_one(leaf, by)

    def _count_one(self, value: Any, by: int) -> None:
        if not is_plain(value) or value.layout is not torch.strided:
            return
        storage = value.untyped_storage()
        address = storage.data_ptr()
        entry = self._storages.get(address)
        if entry is None:
            entry = self._storages[address] = [0, storage.nbytes()]
            self.held += entry[1]
            self.peak = max(self.peak, self.held)
        entry[0] += by
        if entry[0] <= 0:
            self.held -= entry[1]
            del self._storages[address]


class _Function:
    """A nested graph as a function."""

    def __init__(self, module: GraphModule, outer: Steps) -> None:
        self.module = module
        self.number = -1
        """The number of the graph in the Record, for the node that runs it next."""
        self._outer = outer

    def __call__(self, *args: Any) -> Any:
        return self._outer.run_inner(self.module, self.number, args)


def _may_be_random(target: Any) -> bool:
    if not isinstance(target, OpOverload):
        return callable(target) and not isinstance(target, BuiltinFunctionType)
    return torch.Tag.nondeterministic_seeded in target.tags


def _takes_functions(target: Any) -> bool:
    return getattr(target, "__name__", "") in _TAKE_FUNCTIONS


def _find_nested_graphs(
    module: GraphModule, record: Record, graph: int
) -> dict[tuple[str, str], int]:
    """The Record's graph by the names of the node that runs it and of the node that names it."""
    pairs = [
        (user.name, node.name)
        for node in module.graph.nodes
        if node.op == "get_attr" and isinstance(_attribute(module, str(node.target)), GraphModule)
        for user in node.users
        if user.op == "call_function"
    ]
    if graph < 0:  # a nested graph that is not known to be one of the Record's
        return {}
    numbers = [nested_graph.graph for nested_graph in record.graphs[graph].nested]
    return dict(zip(pairs, numbers, strict=True)) if len(pairs) == len(numbers) else {}


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part, None)
    return module


def left_out_of(node: Node, module: Any, done: str) -> str:
    """Why the ops of graphs that a node runs are not seen; empty where it runs none, or they are.

    Args:
        node: of a program's graph.
        module: the graph's module.
        done: what is not done to them: `compared`.
    """
    target = node.target
    if node.op != "call_function" or isinstance(target, OpOverload):
        return ""
    name = getattr(target, "__name__", str(target))
    if is_entered(target):
        return (
            f"`{node.name}`: tensors inside a transform such as vmap have no values of their own, "
            f"so the ops inside are not {done}; its result is."
        )
    graphs = [] if _takes_functions(target) else _graphs_of(node, module)
    if not graphs:
        return ""
    listed = ", ".join(f"`{graph.name}`" for graph in graphs)
    return f"`{node.name}`: {name} runs {listed} as a whole, so the ops inside are not {done}."


def _graphs_of(node: Node, module: Any) -> list[Node]:
    """The nodes that name the graphs that a node runs."""
    return [
        input_node
        for input_node in node.all_input_nodes
        if input_node.op == "get_attr"
        and isinstance(_attribute(module, str(input_node.target)), GraphModule)
    ]
