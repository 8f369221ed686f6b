"""The forward and the backward pass of a joint graph, cut and compiled as torch.compile does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta
from torch.multiprocessing.reductions import StorageWeakRef

from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.joint import joint_role
from export_engine.torch_internals.patching import replace_attribute


class Passes(NamedTuple):
    """A joint graph as two graphs. Their nodes tell which nodes of the joint graph they are of."""

    forward: torch.fx.GraphModule
    backward: torch.fx.GraphModule
    outputs: int
    """How many of the forward pass's outputs are the step's own. The others are saved."""


def missing_passes() -> str | None:
    """The sentence on a name that this torch lacks; None if it has all."""
    return next((needed.sentence for needed in torch_has.OF_PASSES if not needed), None)


@undone
def compiling_passes(joint: torch.fx.GraphModule) -> Iterator[None]:
    """Inside, passes of this joint graph can be made and compiled.

    Args:
        joint: as AOTAutograd made it.
    """
    mode = _fake_mode(joint)
    with (
        torch_has.SET_FAKE_MODE.value(mode),
        torch_has.TRACING.value(torch_has.NEW_TRACING_CONTEXT.value(mode)),
        torch.no_grad(),
        preserve_node_meta(),
    ):
        yield


def split_joint(joint: torch.fx.GraphModule) -> Passes:
    """A joint graph with Inductor's decompositions, cut in two. The joint graph is not changed.

    torch.compile's partitioner chooses which values are saved, and which are computed again.

    Args:
        joint: as AOTAutograd made it, without decompositions.
    """
    inputs = joint.graph.find_nodes(op="placeholder")
    values = _values(joint)
    mode = _fake_mode(joint)

    def run(*args: Any) -> Any:
        # by node, so that each new node knows the one that it comes from
        return torch.fx.Interpreter(joint).run(*args, enable_io_processing=False)

    with mode, replace_attribute(mode, "allow_non_fake_inputs", lambda _: True):
        decomposed = make_fx(run, decomposition_table=torch_has.DECOMPOSITIONS.value())(*values)
    for new, old in zip(decomposed.graph.find_nodes(op="placeholder"), inputs, strict=True):
        new.name = new.target = old.target
        new.meta.update(old.meta)
    described = joint.graph.output_node().meta.get("desc") or []
    decomposed.graph.output_node().meta["desc"] = described
    decomposed.recompile()
    outputs = _count_forward(described)
    forward, backward = torch_has.PARTITION.value(decomposed, values, num_fwd_outputs=outputs)
    return Passes(forward, backward, outputs)


CompiledPass = Callable[[list[Any]], Sequence[Any]]
"""Calls compiled code with a list of its inputs."""


def compile_forward(joint: torch.fx.GraphModule, passes: Passes) -> CompiledPass:
    """Compiles the forward pass by Inductor, as torch.compile does.

    Args:
        joint: the graph that it is of, to whose nodes torch's map of ops leads.
        passes: of it.
    """
    return _compile(joint, passes.forward, passes.outputs, _values(passes.forward), False)


def compile_backward(
    joint: torch.fx.GraphModule, passes: Passes, inputs: Sequence[Any]
) -> CompiledPass:
    """Compiles the backward pass by Inductor, as torch.compile does.

    Args:
        joint: the graph that it is of, to whose nodes torch's map of ops leads.
        passes: of it.
        inputs: returned by the compiled forward pass, which chooses their strides. Empty where it
            fails: the strides are then those that were traced.
    """
    fakes = _values(passes.backward)
    if inputs:
        with _fake_mode(joint):
            fakes = [_with_strides(*pair) for pair in zip(fakes, inputs, strict=True)]
    returned = pytree.tree_leaves(passes.backward.graph.output_node().args)
    torch_has.NEW_TRACING_CONTEXT.value.get().fw_metadata = _Donated(_find_donated(passes))
    return _compile(joint, passes.backward, len(returned), fakes, True)


class _Donated(NamedTuple):
    """The part of AOTAutograd's metadata that Inductor reads for a backward pass."""

    bw_donated_idxs: list[int]
    """The inputs that it may write over."""
    static_input_indices: tuple[int, ...] = ()


def _find_donated(passes: Passes) -> list[int]:
    """The inputs of the backward pass that were saved for it alone."""
    returned = pytree.tree_leaves(passes.forward.graph.output_node().args)
    kept = [
        *_values(passes.forward),
        *map(_value_of, returned[: passes.outputs]),
        *map(_value_of, pytree.tree_leaves(passes.backward.graph.output_node().args)),
    ]
    storages = set(map(_storage, kept))
    saved = {node.name: _storage(_value_of(node)) for node in returned[passes.outputs :]}
    inputs = passes.backward.graph.find_nodes(op="placeholder")
    return [n for n, node in enumerate(inputs) if saved.get(node.name) not in storages]


def _value_of(node: Any) -> Any:
    return node.meta.get("val") if isinstance(node, torch.fx.Node) else None


def _values(graph: torch.fx.GraphModule) -> list[Any]:
    return [_value_of(node) for node in graph.graph.find_nodes(op="placeholder")]


def _storage(value: Any) -> Any:
    is_plain = isinstance(value, torch.Tensor) and value.layout == torch.strided
    reference: Any = StorageWeakRef
    return reference(value.untyped_storage()) if is_plain else None


def _compile(
    joint: torch.fx.GraphModule,
    graph: torch.fx.GraphModule,
    outputs: int,
    inputs: Sequence[Any],
    is_backward: bool,
) -> CompiledPass:
    output = graph.graph.output_node()
    returned = pytree.tree_leaves(output.args)[:outputs]
    output.meta["user_visible_output_idxs"] = [
        number for number, node in enumerate(returned) if isinstance(node, torch.fx.Node)
    ]
    with torch_has.PROVENANCE_RESET.value():  # which puts the graph's number back, too
        setattr(torch_has.FIRST_GRAPH.owner, torch_has.FIRST_GRAPH.name, id(joint.graph))
        compiled: CompiledPass = torch_has.COMPILE_GRAPH.value(
            graph, inputs, is_inference=False, is_backward=is_backward
        )
    return compiled


def _with_strides(fake: Any, real: Any) -> Any:
    """A fake tensor with the strides that compiled code gave the real one."""
    tensors = isinstance(fake, torch.Tensor) and isinstance(real, torch.Tensor)
    if not tensors or tuple(fake.shape) != tuple(real.shape) or fake.stride() == real.stride():
        return fake
    return fake.as_strided(real.shape, real.stride())


def _fake_mode(joint: torch.fx.GraphModule) -> Any:
    """The mode of the graph's inputs."""
    tensors = (value for value in _values(joint) if isinstance(value, torch.Tensor))
    return next(mode for mode in map(torch_has.FAKE_MODE.of, tensors) if mode)


def _count_forward(described: Sequence[object]) -> int:
    """How many outputs stand before the gradients, one of which may be none."""
    for number, told in enumerate(described):
        role = joint_role(told)
        if role is None or role.kind == "gradient":
            return number
    return len(described)
