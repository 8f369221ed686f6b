"""A program run node by node: its lifted graph, which is given parameters and buffers as inputs.

So nodes are those of the Record, and the model is never written to: what the graph writes to is a
copy. Graphs inside of higher-order operators are run node by node, too, where the operator takes
any function for them; the others run as torch runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType
from typing import Any, TypeGuard

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.fx import GraphModule, Node

from export_engine.process import raise_if_interrupted
from export_engine.record import Record
from export_engine.torch_internals import (
    OpOverload,
    flat_leaves,
    pytree,
    writes_to_arguments,
)

Observer = Callable[[int, int, Any], None]
"""Called with a graph and a node of the Record, and the value that the node gave."""

_TAKE_FUNCTIONS = frozenset(
    {"cond", "map_impl", "map", "scan", "while_loop", "wrap_with_set_grad_enabled"}
    | {"wrap_with_autocast"}
)
"""Higher-order operators that call what they are given, and ask nothing else of it."""


_TORCHS_OWN = frozenset({"aten", "prim", "prims", "higher_order", "quantized_decomposed"})


class StepFailed(RuntimeError):
    """A node of the program raised an error. The message can be shown as it is."""


def is_plain(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether a value is a tensor with elements of its own, and not one made of other tensors.

    Those of a quantized weight are read by ops that give its parts, which are plain.
    """
    return isinstance(value, torch.Tensor) and not hasattr(type(value), "__tensor_flatten__")


def program_inputs(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Any]:
    """One value per placeholder of the program's graph.

    Buffers and constants are copies, and parameters if the program may write to them.

    Args:
        program: an exported program.
        args: the positional arguments of a call; the program may write to them.
        kwargs: the others.
    """
    leaves = iter(flat_leaves(program, args, kwargs))
    writes = _writes(program.graph_module)
    found: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            value = next(leaves, None)
            fixed = isinstance(spec.arg, ConstantArgument)
            found.append(spec.arg.value if fixed and value is None else value)
        elif spec.kind is InputKind.TOKEN:
            found.append(torch.empty(0))
        else:
            held = _held(program, str(spec.target))
            copied = isinstance(held, torch.Tensor) and (
                writes or spec.kind is not InputKind.PARAMETER
            )
            found.append(held.detach().clone() if copied else held)
    return found


class Steps(torch.fx.Interpreter):
    """Runs a program's graph a node at a time."""

    runs_nested = False
    """Whether nested graphs are run node by node, too, where nobody observes them."""

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
        self._observe = observe
        self._nested = _nested(module, record, graph)
        self._storages: dict[int, list[int]] = {}

    def steps(self, inputs: list[Any]) -> Iterator[tuple[int, Node, Any]]:
        """Each node's number, the node and its value; a value put into `env` meanwhile counts."""
        self.env = {}
        self.args_iter: Iterator[Any] = iter(inputs)
        for number, node in enumerate(self.module.graph.nodes):  # type: ignore[union-attr,arg-type]
            if number % 64 == 0:
                raise_if_interrupted()
            self.at = node.name
            value = self.run_node(node)
            self.env[node] = value
            self._count(value, 1)
            yield number, node, value
            dead = self.user_to_last_uses.get(node, ())
            for each in dead if node.users else (*dead, node):
                if each in self.env:
                    self._count(self.env.pop(each), -1)

    def run_node(self, n: Node) -> Any:
        """A node's value. Errors say at which node."""
        if n.op == "output":
            return None
        for each in n.all_input_nodes if self._nested else ():
            function = self.env.get(each)
            if isinstance(function, _Function):
                function.number = self._nested.get((n.name, each.name), -1)
        try:
            return super().run_node(n)
        except StepFailed:
            raise
        except Exception as error:
            said = str(error).strip().partition("\n")[0]
            raise StepFailed(
                f"The program raised {type(error).__name__} at `{n.name}`: {said}"
            ) from error

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """An attribute; a graph becomes a function that runs it node by node."""
        found = super().get_attr(target, args, kwargs)
        return _Function(found, self) if isinstance(found, GraphModule) else found

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
        """What runs a nested graph."""
        return type(self)(module, self.record, self._observe, graph)

    def run_inner(self, module: GraphModule, graph: int, args: tuple[Any, ...]) -> Any:
        """The result of a nested graph, its nodes observed."""
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

    def _count(self, value: Any, by: int) -> None:
        """Notes that a value is held (1), or let go (-1)."""
        for each in (value,) if isinstance(value, torch.Tensor) else pytree.tree_leaves(value):
            if not is_plain(each) or each.layout is not torch.strided:
                continue
            storage = each.untyped_storage()
            entry = self._storages.setdefault(storage.data_ptr(), [0, storage.nbytes()])
            if by > 0 and entry[0] == 0:
                self.held += entry[1]
                self.peak = max(self.peak, self.held)
            entry[0] += by
            if entry[0] <= 0:
                self.held -= entry[1]
                del self._storages[storage.data_ptr()]


class _Function:
    """A nested graph as a function."""

    def __init__(self, module: GraphModule, outer: Steps) -> None:
        self.module = module
        self.number = -1
        """Of the graph in the Record, for the node that runs it next."""
        self._outer = outer

    def __call__(self, *args: Any) -> Any:
        return self._outer.run_inner(self.module, self.number, args)


def _may_be_random(target: Any) -> bool:
    if not isinstance(target, OpOverload):
        return callable(target) and not isinstance(target, BuiltinFunctionType)
    return torch.Tag.nondeterministic_seeded in target.tags


def _takes_functions(target: Any) -> bool:
    return getattr(target, "__name__", "") in _TAKE_FUNCTIONS


def _nested(module: GraphModule, record: Record, graph: int) -> dict[tuple[str, str], int]:
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
    known = [each.graph for each in record.graphs[graph].nested]
    return dict(zip(pairs, known, strict=True)) if len(pairs) == len(known) else {}


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part, None)
    return module


def _held(program: ExportedProgram, name: str) -> Any:
    """A parameter, a buffer or a constant."""
    state = program.state_dict
    return state[name] if name in state else program.constants[name]


def _writes(module: GraphModule) -> bool:
    """Whether any op may write to what it is given: by its schema, or as a custom op unsaid."""
    for each in module.modules():
        if isinstance(each, GraphModule):
            for node in each.graph.nodes:
                target = node.target
                if not isinstance(target, OpOverload):
                    continue
                if target.namespace not in _TORCHS_OWN or writes_to_arguments(target):
                    return True
    return False
