"""Exported programs moved to a device, truncated, or compiled ahead of time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.inputs import module_inputs
from export_engine.torch_internals.patching import replace_attribute
from export_engine.torch_internals.programs import copy_program, set_part
from export_engine.torch_internals.tensors import plain_tensors


def move_program(program: ExportedProgram, device: str) -> ExportedProgram:
    """The program on a device, with tensors of its own; the one that it is made from stays.

    torch's own pass writes to the program that it is given.
    """
    copied = copy_program(program)
    state = {name: _copy_tensor(value) for name, value in program.state_dict.items()}
    set_part(copied, torch_has.STATE_DICT, state)
    constants = {name: _copy_tensor(value) for name, value in program.constants.items()}
    set_part(copied, torch_has.CONSTANTS, constants)
    moved: ExportedProgram = torch_has.MOVE.value(copied, device)
    return moved


def put_weights_on_meta(program: ExportedProgram) -> ExportedProgram:
    """The program with its weights and constants on the meta device; its graph is shared."""
    copied = copy.copy(program)
    for part, held in (
        (torch_has.STATE_DICT, program.state_dict),
        (torch_has.CONSTANTS, program.constants),
    ):
        set_part(copied, part, {name: _to_meta(value) for name, value in held.items()})
    return copied


def _to_meta(value: Any) -> Any:
    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(value.detach().to("meta"), value.requires_grad)
    return value.to("meta") if isinstance(value, torch.Tensor) else value


def _copy_tensor(value: Any) -> Any:
    """A copy of a tensor, so that a moved program shares nothing."""
    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(value.detach().clone(), value.requires_grad)
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def truncate_program(program: ExportedProgram, node: str) -> ExportedProgram:
    """The program up to an op, whose value becomes its one output.

    Args:
        program: it is not changed.
        node: name of an op of its main graph that gives a tensor.
    """
    copied = copy_program(program)
    graph = copied.graph
    last = next(value for value in graph.nodes if value.name == node)
    output = next(value for value in graph.nodes if value.op == "output")
    output.args = ((last,),)
    for later_node in reversed(list(graph.nodes)):  # those before may write to what it reads
        if later_node is last:
            break
        if later_node is not output:
            graph.erase_node(later_node)
    copied.graph_module.recompile()
    only = OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node), None)
    set_outputs(copied, program, [only], pytree.tree_flatten(0)[1])
    return copied


def revealing_program(program: ExportedProgram, buffers: Sequence[str]) -> ExportedProgram:
    """The program with more outputs: what buffers hold as a call begins.

    So that of a runtime with memory of its own it is seen what it starts from, and what it keeps.

    Args:
        program: it is not changed.
        buffers: the names of tensors that it holds.

    Returns:
        One that gives a list: the outputs of the program, flat, then the buffers.
    """
    copied = copy_program(program)
    graph = copied.graph
    nodes = {node.name: node for node in graph.nodes}
    held = {spec.target: nodes[spec.arg.name] for spec in program.graph_signature.input_specs}
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    output = next(node for node in graph.nodes if node.op == "output")
    with graph.inserting_after(inputs[-1]):
        seen = [
            graph.call_function(torch.ops.aten.clone.default, (held[name],))
            for name in reversed(buffers)
        ][::-1]
    for name, node in zip(buffers, seen, strict=True):
        node.meta["val"] = held[name].meta["val"].clone()
    output.args = ((*output.args[0], *seen),)
    copied.graph_module.recompile()
    specs = [
        *program.graph_signature.output_specs,
        *(OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None) for node in seen),
    ]
    count = sum(spec.kind is OutputKind.USER_OUTPUT for spec in specs)
    set_outputs(copied, program, specs, pytree.tree_flatten([0] * count)[1])
    return copied


def set_outputs(
    copied: ExportedProgram, program: ExportedProgram, specs: list[OutputSpec], out_spec: Any
) -> None:
    """Gives a copy of a program other outputs.

    Args:
        copied: whose graph has them already.
        program: what it is a copy of.
        specs: of all its outputs.
        out_spec: the structure of those that the caller gets.
    """
    whole = program.module_call_graph[0].signature
    entry = ModuleCallSignature(
        inputs=whole.inputs if whole else [],
        outputs=[],  # as torch has them for the whole program: decomposing renames nodes
        in_spec=program.call_spec.in_spec,
        out_spec=out_spec,
        forward_arg_names=whole.forward_arg_names if whole else None,  # guards are about them
    )
    set_part(copied, torch_has.CALL_GRAPH, [ModuleCallEntry("", entry)])
    inputs = list(program.graph_signature.input_specs)
    set_part(
        copied,
        torch_has.GRAPH_SIGNATURE,
        ExportGraphSignature(input_specs=inputs, output_specs=specs),
    )


@undone
def announce_exporting() -> Iterator[None]:
    """Inside, `torch.compiler.is_exporting()` and `is_compiling()` are true, as while exporting."""
    with ExitStack() as flags:
        for flag in torch_has.EXPORTING_FLAGS:
            if flag:
                flags.enter_context(replace_attribute(flag.owner, flag.name, lambda _: True))
        yield


def split_call_spec(in_spec: Any) -> tuple[Any, Any]:
    """The trees of the arguments that a call passes by position, and of those by keyword."""
    by_position, by_keyword = pytree.list_children(in_spec)
    return by_position, by_keyword


def flat_leaves(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Any]:
    """The leaves of a call, one per user input of the program, in order."""
    in_spec = program.call_spec.in_spec
    if in_spec is not None:  # a call may name its keywords in another order than the example
        names = split_call_spec(in_spec)[1].context or list(kwargs)
        kwargs = {name: kwargs[name] for name in names}
    inputs = tuple(args), dict(kwargs)
    with module_inputs(inputs):
        return list(pytree.tree_leaves(inputs))


def flat_inputs(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The leaves of a call that reach the graph, by the names of its inputs, in order.

    Leaves that export fixed, such as a None or a flag, are left out.
    """
    leaves = flat_leaves(program, args, kwargs)
    named = zip(program.graph_signature.user_inputs, leaves, strict=True)
    inputs = {node.name for node in program.graph.nodes if node.op == "placeholder"}
    return {
        name: value
        for name, value in named
        if isinstance(name, str) and name in inputs and value is not None
    }


def missing_packages() -> str | None:
    """Why this torch compiles no AOTInductor packages, as a sentence; None where it does."""
    needed = (torch_has.COMPILE_PACKAGE, torch_has.LOAD_PACKAGE)
    return next((capability.sentence for capability in needed if not capability), None)


def as_result(program: ExportedProgram, tensors: Sequence[Any]) -> Any:
    """A program's result in the model's containers, from what a runtime outside of torch gave.

    Args:
        program: the one that ran.
        tensors: its outputs in order; what it writes in place may come before them.
    """
    wanted = [
        output_spec.arg
        for output_spec in program.graph_signature.output_specs
        if output_spec.kind is OutputKind.USER_OUTPUT
    ]
    count = sum(not isinstance(each, ConstantArgument) for each in wanted)
    items = iter(tensors[len(tensors) - count :])
    leaves: list[Any] = []
    for item in wanted:
        value = item.value if isinstance(item, ConstantArgument) else next(items)
        is_number = not isinstance(item, ConstantArgument | TensorArgument)
        leaves.append(value.item() if is_number and isinstance(value, torch.Tensor) else value)
    return pytree.tree_unflatten(leaves, program.call_spec.out_spec)


def compile_package(
    program: ExportedProgram,
    file: Path,
    weights: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Path:
    """Compiles a program with AOTInductor into a `.pt2` package; returns the file.

    Args:
        program: what to compile.
        file: where to.
        weights: whether the package holds them; if not, `load_package` is given them.
        options: more of inductor's.
    """
    entries = {} if weights else {"aot_inductor.package_constants_in_so": False}
    result = torch_has.COMPILE_PACKAGE.value(
        program, package_path=str(file), inductor_configs={**entries, **(options or {})}
    )
    return Path(result)


def load_package(file: Path, weights: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """A callable that runs an AOTInductor package, with the model's signature.

    Args:
        file: the package.
        weights: of a package without any, by name. They are not copied.
    """
    loaded: Any = torch_has.LOAD_PACKAGE.value(str(file))
    if weights is not None:
        wanted = set(loaded.get_constant_fqns())
        held = {name: value for name, value in _as_compiled(weights) if name in wanted}
        loaded.load_constants(held, check_full_update=True, user_managed=True)
    return loaded  # type: ignore[no-any-return]


def give_own_buffers(loaded: Any, program: ExportedProgram) -> dict[str, torch.Tensor]:
    """Gives a loaded AOTInductor package copies of a program's buffers, which it then writes to.

    Args:
        loaded: what `load_package` returned, of a package with weights.
        program: the program that was compiled.

    Returns:
        The copies, by name: what the package's calls write is seen in them.
    """
    wanted = set(loaded.get_constant_fqns())
    held = {**program.state_dict, **program.constants}
    kinds = (InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
    names = [
        input_spec.target
        for input_spec in program.graph_signature.input_specs
        if input_spec.kind in kinds
    ]
    copies = {
        name: held[name].detach().clone()
        for name in names
        if name in wanted and isinstance(held.get(name), torch.Tensor)
    }
    if copies:
        loaded.load_constants(copies, check_full_update=False, user_managed=True)
    return copies


def _as_compiled(weights: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Weights by the names that compiled code has: of a wrapper subclass, the tensors in it.

    AOTInductor unwraps those, as a quantized weight, by `torch.nn.utils.parametrize`.
    """
    for name, value in weights.items():
        yield name, value
        inside = plain_tensors(value) if isinstance(value, torch.Tensor) else []
        if not any(tensor is value for tensor in inside):
            module, _, own = name.rpartition(".")
            prefix = f"{module}.parametrizations" if module else "parametrizations"
            for number, tensor in enumerate(inside):
                yield f"{prefix}.{own}.original{number}", tensor


def count_cache_hits() -> int:
    """Inductor's cache hits so far."""
    if not torch_has.COUNTERS:
        return 0
    value = torch_has.COUNTERS.value
    return int(value["inductor"]["fxgraph_cache_hit"]) + int(
        value["aot_autograd"]["autograd_cache_hit"]
    )
