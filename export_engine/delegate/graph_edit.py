"""An edit of a program's graph: ops put in place of one op, each with its value's type."""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import prod
from typing import Any, cast

import torch
from torch.fx import Node

from export_engine.torch_internals import (
    OpOverload,
    add_constants,
    copy_program,
    pytree,
    writes_to_arguments,
)

LARGEST = 2**22
"""Elements of a tensor that is computed ahead of time and stored in the program."""


class ProgramEdit:
    """A copy of a program whose ops are replaced, with the constants that they need."""

    def __init__(self, program: torch.export.ExportedProgram, replaced: Container[str]) -> None:
        """Make one.

        Args:
            program: which stays.
            replaced: names of its ops that may be replaced.
        """
        self.program = copy_program(program)
        self.shared: set[Node] = set()
        """Emitted ops that serve several places."""
        self._replaced = replaced
        self._held: dict[str, tuple[Node, torch.Tensor]] = {}
        self._values: dict[Node, torch.Tensor | None] = {}
        self._fixed: dict[Node, bool] = {}
        signature = program.graph_signature
        self._inputs = {*signature.user_inputs}
        self._first = next(node for node in self.program.graph.nodes if not self.is_stored(node))
        """Constants come before it."""
        written = {*signature.buffers_to_mutate.values()}
        self._stored = {
            name: target
            for name, target in signature.inputs_to_buffers.items()
            if target not in written
        } | dict(signature.inputs_to_lifted_tensor_constants)

    def finish(self) -> torch.export.ExportedProgram:
        """The edited program, without ops and constants that nothing reads."""
        graph = self.program.graph
        graph.eliminate_dead_code()
        constants = {node: value for node, value in self._held.values() if node.users}
        for node, _ in self._held.values():
            if node not in constants:
                graph.erase_node(node)
        if constants:
            add_constants(self.program, constants)
        self.program.graph_module.recompile()
        return self.program

    def is_stored(self, node: Node) -> bool:
        """Whether a node reads a parameter, a buffer or a constant."""
        return node.op == "placeholder" and node.name not in self._inputs

    def weight_of(self, node: Node) -> torch.Tensor | None:
        """The parameter, or the unchanged buffer or constant, that a node reads; else None."""
        name = self.program.graph_signature.inputs_to_parameters.get(node.name)
        if name is not None:
            return _with_values(self.program.state_dict.get(name))
        return self.evaluate(node) if node.op == "placeholder" else None

    def replaces(self, node: Node) -> bool:
        """Whether an op may be replaced."""
        return node.name in self._replaced

    def store(self, name: str, value: torch.Tensor, fake: torch.Tensor) -> Node:
        """The constant of a name; it is added where there is none.

        Args:
            name: of what it is.
            value: its value.
            fake: the same shape and type as the program's nodes have theirs.
        """
        if name not in self._held:
            with self.program.graph.inserting_before(self._first):
                node = self.program.graph.placeholder(name)
            node.meta["val"] = fake
            self._held[name] = node, value
            self._values[node], self._fixed[node] = value, True
        return self._held[name][0]

    def reads_no_input(self, node: Node) -> bool:
        """Whether an op computes a tensor of a fixed shape from constants alone."""
        if node not in self._fixed:
            self._fixed[node] = self._is_fixed(node)
        return self._fixed[node]

    def evaluate(self, node: Node) -> torch.Tensor | None:
        """The value of such an op; None where it cannot be known."""
        if not self.reads_no_input(node):
            return None
        if node not in self._values:
            self._values[node] = self._compute(node)
        return self._values[node]

    def _is_fixed(self, node: Node) -> bool:
        if node.op == "placeholder":
            return node.name in self._stored
        sizes = static_shape(node)
        if node.op != "call_function" or sizes is None or prod(sizes) > LARGEST:
            return False
        if has_effects(node.target):
            return False
        return all(map(self.reads_no_input, node.all_input_nodes))

    def _compute(self, node: Node) -> torch.Tensor | None:
        if node.op == "placeholder":
            name, program = self._stored[node.name], self.program
            return _with_values(program.state_dict.get(name, program.constants.get(name)))
        target = cast(OpOverload, node.target)
        values = pytree.tree_map(self._value_of, (node.args, dict(node.kwargs)))
        if any(item is _UNKNOWN for item in pytree.tree_leaves(values)):
            return None
        with torch.no_grad():
            return _with_values(target(*values[0], **values[1]))

    def _value_of(self, item: Any) -> Any:
        if not isinstance(item, Node):
            return item
        value = self.evaluate(item)
        return _UNKNOWN if value is None else value


_UNKNOWN = object()


def _with_values(value: Any) -> torch.Tensor | None:
    """A tensor whose values are known; None for any other."""
    is_known = isinstance(value, torch.Tensor) and value.device.type != "meta"
    return value.detach() if is_known else None


def has_effects(target: Any) -> bool:
    """Whether a call may do more than compute its result: write, draw numbers, run a graph."""
    if not isinstance(target, OpOverload):
        return True
    return writes_to_arguments(target) or torch.Tag.nondeterministic_seeded in target.tags


class GraphEdit:
    """Puts ops before one op, and then their result in its place."""

    def __init__(self, node: Node, within: ProgramEdit) -> None:
        """Make one.

        Args:
            node: the op to replace.
            within: the program that it is of.
        """
        self.node = node
        self.within = within
        self.emitted: list[Node] = []

    def emit(self, op: Any, *args: Any, **kwargs: Any) -> Node:
        """Calls an op before the node, with its line and module; returns the new node."""
        with self.node.graph.inserting_before(self.node):
            node = self.node.graph.call_function(op, args, kwargs)
        node.meta = {name: value for name, value in self.node.meta.items() if name != "val"}
        values = pytree.tree_map(_value, (args, dict(kwargs)))
        node.meta["val"] = op(*values[0], **values[1])
        self.emitted.append(node)
        return node

    def once(self, op: Any, source: Node, *args: Any) -> Node:
        """The same, by an op of the same arguments that was emitted before, if there is one."""
        calls = self.within.shared.intersection(source.users)
        same = (call for call in calls if call.target is op and call.args == (source, *args))
        node = next(same, None) or self.emit(op, source, *args)
        self.within.shared.add(node)
        return node

    def view(self, node: Node, sizes: Sequence[Any]) -> Node | None:
        """A view of these sizes, at most one of which is symbolic; None where more are."""
        written = as_written(sizes)
        return None if written is None else self.emit(_VIEW, node, written)

    def put(self, made: Node) -> None:
        """Puts a node in the place of the op, under its name, so that outputs keep theirs."""
        name = self.node.name
        self.node.replace_all_uses_with(made)
        self.node.graph.erase_node(self.node)
        made.name = name


_VIEW = torch.ops.aten.view.default


def _value(item: Any) -> Any:
    return item.meta["val"] if isinstance(item, Node) else item


def as_written(sizes: Sequence[Any]) -> list[int] | None:
    """Sizes for a view, -1 for the symbolic one; None where several are."""
    written = [size if isinstance(size, int) else -1 for size in sizes]
    return written if written.count(-1) <= 1 else None


def shape_of(node: Any) -> list[Any] | None:
    """The sizes of a node's tensor; None where it has none."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    return list(value.shape) if isinstance(value, torch.Tensor) else None


def static_shape(node: Any) -> list[int] | None:
    """The sizes of a node's tensor, where all are fixed."""
    sizes = shape_of(node)
    return sizes if sizes is not None and all(isinstance(size, int) for size in sizes) else None


def argument(node: Node, place: int, name: str, default: Any = None) -> Any:
    """An argument by its place or its name."""
    if len(node.args) > place:
        return node.args[place]
    return node.kwargs.get(name, default)


def is_float(node: Node) -> bool:
    """Whether a node's value is of a float type that delegates take."""
    value = node.meta.get("val")
    value = value[0] if isinstance(value, tuple | list) and value else value
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float32, torch.float16)
