"""Exported programs as torch builds them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import torch
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument

from export_engine.error_text import format_with_type
from export_engine.plain_errors import PlainError
from export_engine.process import raise_if_interrupted, undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.capability import Capability, hook
from export_engine.torch_internals.graph_module_names import find_own_names
from export_engine.torch_internals.symbols import expression_of, int_bound, symbol_hint


class NotCallable(PlainError, RuntimeError):
    """A program of which torch makes no module: why."""


class NameTaken(NotCallable):
    """One that could be called but for the name of a weight."""


def callable_module(program: torch.export.ExportedProgram) -> torch.nn.Module:
    """`program.module()`.

    Raises:
        NotCallable: torch fails to; `NameTaken` where a GraphModule has a weight's name itself.
    """
    try:
        return program.module()
    except Exception as error:
        targets = (spec.target or "" for spec in program.graph_signature.input_specs)
        for name in find_own_names(targets):
            raise NameTaken(
                f"The program cannot be called: `{name}` is a name that torch.fx.GraphModule "
                "reserves. Rename it in the model."
            ) from error
        text = format_with_type(error).rstrip(".")
        raise NotCallable(
            f"The program cannot be called: torch cannot make a module from it: {text}."
        ) from error


def copy_program(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """A program with a graph and a signature of its own, and the same tensors.

    For what changes the program that it is given: `torch.export.unflatten` takes out its asserts.
    Where torch's names of these parts are not known, tensors are copied as well.
    """
    if not (torch_has.GRAPH_MODULE and torch_has.GRAPH_SIGNATURE):
        return copy.deepcopy(program)
    copied = copy.copy(program)
    module = copy.deepcopy(program.graph_module)
    for node, original in zip(module.graph.nodes, program.graph.nodes, strict=True):
        node.name = original.name  # fx calls a copy of `input` `input_1`, for Python's own function
    module.recompile()
    set_part(copied, torch_has.GRAPH_MODULE, module)
    set_part(copied, torch_has.GRAPH_SIGNATURE, copy.deepcopy(program.graph_signature))
    if torch_has.STATE_DICT and torch_has.CONSTANTS:  # ExecuTorch deletes what a delegate holds
        set_part(copied, torch_has.STATE_DICT, {**program.state_dict})
        set_part(copied, torch_has.CONSTANTS, {**program.constants})
    return copied


def with_example(
    program: torch.export.ExportedProgram, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> torch.export.ExportedProgram:
    """The same program with another example call; its graph and tensors are shared.

    Arguments go where the export had them, by position or by keyword.

    Raises:
        ValueError: the call does not nest as the program's inputs do.
    """
    copied = copy.copy(program)
    copied.example_inputs = _arrange_call(program, args, kwargs)
    return copied


def _arrange_call(
    program: torch.export.ExportedProgram, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call by position and by keyword as the program takes them.

    Raises:
        ValueError: they have other names.
    """
    signature, spec = program.module_call_graph[0].signature, program.call_spec.in_spec
    names = (signature and signature.forward_arg_names) or []
    by_position, by_keyword = pytree.tree_unflatten([None] * spec.num_leaves, spec)
    if len(names) != len(by_position) + len(by_keyword) or len(args) > len(names):
        return args, kwargs
    arguments = {**dict(zip(names, args, strict=False)), **kwargs}
    if arguments.keys() != set(names):
        raise ValueError(f"The program accepts {', '.join(names)}, but got {', '.join(arguments)}.")
    values = [arguments[name] for name in names]
    count = len(by_position)
    return tuple(values[:count]), dict(zip(names[count:], values[count:], strict=True))


def set_graph_module(program: torch.export.ExportedProgram, module: torch.fx.GraphModule) -> None:
    """Replaces the graph of a copied program.

    Raises:
        MissingCapabilityError: this torch keeps it under another name.
    """
    set_part(program, torch_has.GRAPH_MODULE, module)


def set_part(program: torch.export.ExportedProgram, part: Capability, value: Any) -> None:
    """Replaces a program's graph, signature or the like, under torch's private name.

    Raises:
        MissingCapabilityError: this torch keeps it under another name.
    """
    _ = part.value
    setattr(program, part.name, value)


def add_constants(
    program: torch.export.ExportedProgram, constants: Mapping[torch.fx.Node, torch.Tensor]
) -> None:
    """Adds constants to a copied program, whose graph has a placeholder for each.

    Raises:
        MissingCapabilityError: this torch keeps a program's constants under another name.
    """
    stored, specs = {**program.constants}, program.graph_signature.input_specs
    inputs = [node for node in program.graph.nodes if node.op == "placeholder"]
    for number, node in enumerate(inputs):
        if node not in constants:
            continue
        target = str(node.target)
        while target in stored or target in program.state_dict:
            target += "_"
        stored[target] = constants[node]
        argument = TensorArgument(name=node.name)
        specs.insert(number, InputSpec(InputKind.CONSTANT_TENSOR, argument, target))
    set_part(program, torch_has.CONSTANTS, stored)


def origins(node: torch.fx.Node) -> list[str]:
    """Names of the nodes that a node comes from, by torch's record, the earliest first.

    Where `from_node` is missing, there are none.
    """
    texts: list[str] = []
    waiting = list(node.meta.get("from_node") or ())
    while waiting:
        source = waiting.pop(0)
        texts.append(str(getattr(source, "name", "")))
        waiting += list(getattr(source, "from_node", None) or ())
    return texts[::-1]


@undone
def count_nodes(count: Callable[[int, str], None]) -> Iterator[None]:
    """Reports each op that torch retraces while it decomposes a program.

    Only ops of the main graph: torch visits those of a branch several times.
    """
    done = depth = 0

    def make(original: Any) -> Any:
        def run_node(self: Any, n: torch.fx.Node) -> Any:
            nonlocal depth, done
            raise_if_interrupted()
            if n.op == "call_function" and depth == 0:
                done += 1
                count(done, n.name)
            depth += 1
            try:
                return original(self, n)
            finally:
                depth -= 1

        return run_node

    with hook(torch_has.RUN_NODE, make):
        yield


@undone
def operators_listed_once() -> Iterator[None]:
    """For `run_decompositions`, which lists all operators again for each namespace of them.

    torch keeps no list, since a new operator may come; while a program is decomposed none does.
    A program of a few ops is decomposed in half the time.
    """
    with hook(torch_has.LIST_OPERATORS, cache):
        yield


def make_example(program: torch.export.ExportedProgram) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments that fit a program which keeps no example, by what it says of its inputs.

    Floats are drawn at random from a seed of their own, whole numbers are 0; sizes are those that
    the trace had, else the least that is allowed, from 2.
    """
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    numbers = torch.Generator().manual_seed(0)

    def size(of: Any) -> int:
        if isinstance(of, int):
            return of
        expression = expression_of(of)
        entries = {
            free_symbol: _size_of(program, free_symbol) for free_symbol in expression.free_symbols
        }
        return int(expression.subs(entries))

    def make_value(spec: Any) -> Any:
        value = values.get(spec.arg.name)
        if isinstance(value, torch.Tensor):
            sizes = [size(number) for number in value.shape]
            if value.is_floating_point() or value.is_complex():
                return torch.randn(sizes, generator=numbers, device="cpu").to(
                    value.device, value.dtype
                )
            return torch.zeros(sizes, dtype=value.dtype, device=value.device)
        if isinstance(value, torch.SymInt):
            return size(value)
        return getattr(spec.arg, "value", value)

    inputs = [
        make_value(spec)
        for spec in program.graph_signature.input_specs
        if spec.kind.name == "USER_INPUT"
    ]
    args, kwargs = pytree.tree_unflatten(inputs, program.call_spec.in_spec)
    return tuple(args), dict(kwargs)


def _size_of(program: torch.export.ExportedProgram, symbol: Any) -> int:
    number = symbol_hint(program, symbol)
    if number is not None:
        return number
    bounds = program.range_constraints.get(symbol)
    return max(int_bound(bounds.lower) or 0, 2) if bounds is not None else 2
