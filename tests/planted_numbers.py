"""Programs with a numeric fault at one op, which is known.

A fault is planted in a copy of a program: it runs, gives tensors of the same shapes, and other
numbers. `KINDS` plant at an op where they can, and say the names that are right for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export_engine.attempt import Exported
from export_engine.torch_internals import copy_program
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.programs import set_part

aten = torch.ops.aten
_APART = 7


class Planted(NamedTuple):
    kind: str
    attempt: Exported
    right: set[str]
    """Names of the ops that are wrong: of one that was put in, or of the op itself."""


Fault = Callable[[ExportedProgram, Node], set[str]]
_OTHER_OPS = {
    aten.relu.default: aten.sigmoid.default,
    aten.gelu.default: aten.sigmoid.default,
    aten.silu.default: aten.relu.default,
    aten.tanh.default: aten.sigmoid.default,
    aten.sigmoid.default: aten.tanh.default,
    aten.rsqrt.default: aten.reciprocal.default,
    aten.cos.default: aten.sin.default,
    aten.add.Tensor: aten.sub.Tensor,
}
_WEIGHED = (
    *(aten.linear.default, aten.conv2d.default, aten.addmm.default, aten.convolution.default),
    aten.mm.default,
)
_EPSILONS = {
    aten.layer_norm.default: 4,
    aten.native_layer_norm.default: 4,
    aten.batch_norm.default: 7,
    aten._native_batch_norm_legit_no_training.default: 6,
    aten.group_norm.default: 4,
    aten.rms_norm.default: 3,
}


def faults(attempt: Exported, kind: str, most: int) -> Iterator[Planted]:
    """The program with a fault of a kind at so many of its ops, some way apart."""
    names = [node.name for node in attempt.program.graph.nodes if node.op == "call_function"]
    made = []
    for name in (name for start in range(_APART) for name in names[start::_APART]):
        if len(made) == most:
            break
        program = copy_program(attempt.program)
        node = next(each for each in program.graph.nodes if each.name == name)
        value = node.meta.get("val")
        value = value[0] if isinstance(value, tuple) else value
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            continue
        right = KINDS[kind](program, node)
        if right:
            made.append((program, right))
    for program, right in made:
        program.graph_module.recompile()
        yield Planted(kind, replace(attempt, program=program), right)


def _other_op(_: ExportedProgram, node: Node) -> set[str]:
    if node.target not in _OTHER_OPS or not _matters(node):
        return set()
    node.target = _OTHER_OPS[node.target]
    if len(node.args) == 1:
        node.kwargs = {}
    return {node.name}


def _doubled(_: ExportedProgram, node: Node) -> set[str]:
    if node.target not in _WEIGHED:
        return set()
    return _put_after(node, [(aten.mul.Tensor, (2.0,))])


def _wrong_layout(_: ExportedProgram, node: Node) -> set[str]:
    """Its elements in another order: what a view in place of a transpose gives."""
    if node.target not in _WEIGHED or node.meta["val"].dim() < 2:
        return set()
    shape = list(node.meta["val"].shape)
    turned = [*shape[:-2], shape[-1], shape[-2]]
    if 1 in shape[-2:]:
        return set()
    steps: list[Any] = [(aten.reshape.default, (turned,)), (aten.transpose.int, (-1, -2))]
    steps.append((aten.contiguous.default, ()))  # as the op gave it: a view may follow
    return _put_after(node, steps)


def _damaged_weight(program: ExportedProgram, node: Node) -> set[str]:
    if node.target not in _WEIGHED:
        return set()
    held = program.graph_signature.inputs_to_parameters
    found = [each for each in _made_of(node) if each.name in held]
    if not found:
        return set()
    found.sort(key=lambda each: -each.meta["val"].dim())  # a bias may be zeros, a weight is not
    name = held[found[0].name]
    state = dict(program.state_dict)
    noise = torch.randn(state[name].shape, generator=torch.Generator().manual_seed(0))
    state[name] = torch.nn.Parameter(state[name].detach() * (1 + 0.3 * noise))
    set_part(program, torch_has.STATE_DICT, state)
    readers = list(found[0].users)
    through = [one for each in readers if len(each.all_input_nodes) == 1 for one in each.users]
    return {node.name, *(each.name for each in (*readers, *through))}


def _other_epsilon(_: ExportedProgram, node: Node) -> set[str]:
    if node.target in _EPSILONS:
        at = _EPSILONS[node.target]
        if len(node.args) <= at:
            return set()
        node.update_arg(at, 0.1)
        return {node.name}
    after = {user.target for user in node.users}
    small = len(node.args) == 2 and isinstance(node.args[1], float) and node.args[1] < 1e-3
    if node.target is aten.add.Tensor and small and after & {aten.rsqrt.default, aten.sqrt.default}:
        node.update_arg(1, 0.1)
        return {node.name}
    return set()


KINDS: dict[str, Fault] = {
    "another op": _other_op,
    "a scale of 2": _doubled,
    "a wrong layout": _wrong_layout,
    "a damaged weight": _damaged_weight,
    "another epsilon": _other_epsilon,
}


def _matters(node: Node) -> bool:
    return bool(node.users) and node.meta["val"].numel() > 8


def _made_of(node: Node) -> list[Node]:
    """Placeholders that an op reads itself, or through one that only rearranges."""
    found = [each for each in node.all_input_nodes if each.op == "placeholder"]
    for each in node.all_input_nodes:
        if each.op == "call_function" and len(each.all_input_nodes) == 1:
            found += [one for one in each.all_input_nodes if one.op == "placeholder"]
    return found


def _put_after(node: Node, ops: list[tuple[Any, tuple[Any, ...]]]) -> set[str]:
    graph, last, names = node.graph, node, {node.name}
    users = list(node.users)
    place = node
    for target, args in ops:
        with graph.inserting_after(place):
            last = graph.call_function(target, (last, *args))
        last.meta.update(
            {key: node.meta[key] for key in ("val", "stack_trace") if key in node.meta}
        )
        last.meta["nn_module_stack"] = node.meta.get("nn_module_stack", {})
        names.add(last.name)
        place = last
    for user in users:
        user.replace_input_with(node, last)
    return names - {node.name}
