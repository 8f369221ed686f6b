"""The stages of a training step: its forward and its backward pass, compiled and timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import torch

from export_engine.attempt import GivenGraph, GraphProgram
from export_engine.capture import quiet
from export_engine.process import sandbox
from export_engine.progress import Report
from export_engine.record import Record, Stages
from export_engine.stages.compiled import (
    Compiled,
    Compiler,
    find_failing_line,
    make_failing_call,
    make_stages,
)
from export_engine.stages.joined_passes import PASSES, join_passes
from export_engine.stages.steps import StagesMissing, Steps
from export_engine.torch_internals import (
    CompiledPass,
    Passes,
    compilation_traced,
    compile_backward,
    compile_forward,
    compiling_passes,
    counters_kept,
    joint_role,
    missing_passes,
    pytree,
    split_joint,
)


def compile_step(
    given: GivenGraph,
    record: Record,
    device: str,
    options: Mapping[str, Any],
    progress: Report | None,
) -> Stages:
    """Compiles the passes of a joint graph as torch.compile does, and times their kernels.

    A call is the forward pass, then the backward pass with gradients of one. Neither autograd nor
    an optimizer runs, and nothing is trained.

    Args:
        given: the joint graph, with the values of its call.
        record: the same, described.
        device: where its tensors are.
        options: of the compiler.
        progress: called before each step.

    Raises:
        StagesMissing: it does not compile, or its inputs are unknown.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    missing = missing_passes()
    if missing:
        raise StagesMissing(missing)
    joint = given.program.graph_module
    values = _bind_values(given.program, given.given, device)
    steps = Steps(progress, len(PASSES))
    compiler = Compiler(
        backend="inductor",
        title="torch.compile inductor, a training step",
        inputs="the traced inputs",
        device=device,
        options=options,
        compile=lambda: _compile(joint, values, steps),
        failed="torch does not compile this training step",
    )
    with sandbox(), counters_kept(), quiet():
        stages = make_stages(record, compiler, steps)
    left_out = [*_describe_absent(joint), *stages.left_out]
    return msgspec.structs.replace(stages, left_out=left_out)


def _bind_values(program: GraphProgram, given: str, device: str) -> list[Any]:
    """The values of the placeholders.

    Raises:
        StagesMissing: one is unknown, or on another device.
    """
    inputs = program.graph.find_nodes(op="placeholder")
    values = program.values or [None] * len(inputs)
    bound = [_bind_value(node, value) for node, value in zip(inputs, values, strict=True)]
    unknown = any(
        value is None and node.meta.get("val") is not None
        for node, value in zip(inputs, bound, strict=True)
    )
    if unknown or not any(map(_is_tangent, inputs)):
        raise StagesMissing(
            f"A {given} compiles only with its inputs. Trace the step here: "
            "explorer.explore(loss_fn, (model, x, y), joint=True)."
        )
    home = next((str(v.device.type) for v in bound if isinstance(v, torch.Tensor)), "cpu")
    if home == "meta":
        raise StagesMissing("The step was traced without weights, so it cannot run.")
    if home != device.partition(":")[0]:
        raise StagesMissing(
            f"The step was traced on {home}: move the model to {device} and trace it again."
        )
    return bound


def _bind_value(node: torch.fx.Node, value: Any) -> Any:
    fake: Any = node.meta.get("val")
    if _is_tangent(node):
        return torch.ones(tuple(map(int, fake.shape)), dtype=fake.dtype, device=fake.device)
    if isinstance(fake, torch.Tensor):
        alike = isinstance(value, torch.Tensor) and value.dtype == fake.dtype
        return value.detach() if alike and len(value.shape) == len(fake.shape) else None
    if isinstance(fake, torch.SymInt):
        return int(fake)
    return value


def _is_tangent(node: torch.fx.Node) -> bool:
    role = joint_role(node.meta.get("desc"))
    return role is not None and role.kind == "tangent"


def _compile(joint: torch.fx.GraphModule, values: Sequence[Any], steps: Steps) -> Compiled:
    """Cuts the joint graph and compiles both passes."""
    traces = []
    inputs = joint.graph.find_nodes(op="placeholder")
    named = {node.name: value for node, value in zip(inputs, values, strict=True)}

    def compile_traced(name: str, compile_one: Callable[[], CompiledPass]) -> CompiledPass:
        steps.prefix = f"{name}: "
        with compilation_traced(steps.artifact, in_python=True) as trace:
            compiled = compile_one()
        traces.append(trace)
        return compiled

    steps.say("decomposing, and partitioning into forward and backward")
    with compiling_passes(joint):
        passes = split_joint(joint)
        read = _read_forward(passes, named)
        forward = compile_traced(PASSES[0], lambda: compile_forward(joint, passes))
        failure, saved = None, list[Any]()
        try:
            saved = read(forward)
        except Exception as error:
            if not find_failing_line(error, traces[0]):
                raise
            failure = error
        backward = compile_traced(PASSES[1], lambda: compile_backward(joint, passes, saved))

    def call() -> Any:
        with torch.no_grad():
            return backward(read(forward))

    join = partial(join_passes, outputs=passes.outputs)
    return Compiled(traces, make_failing_call(failure) if failure else call, join)


def _read_forward(passes: Passes, values: Mapping[str, Any]) -> Callable[[CompiledPass], list[Any]]:
    """Calls the forward pass, and returns the inputs of the backward pass.

    Args:
        passes: of the step.
        values: of the joint graph's placeholders, by name.
    """
    inputs = [values[node.name] for node in passes.forward.graph.find_nodes(op="placeholder")]
    returned = pytree.tree_leaves(passes.forward.graph.output_node().args)
    names = [getattr(node, "name", "") for node in returned]
    read = [node.name for node in passes.backward.graph.find_nodes(op="placeholder")]

    def call(forward: CompiledPass) -> list[Any]:
        results = forward(list(inputs))
        saved = dict(zip(names[passes.outputs :], results[passes.outputs :], strict=True))
        return [saved[name] if name in saved else values[name] for name in read]

    return call


def _describe_absent(joint: torch.fx.GraphModule) -> list[str]:
    """Sentences on how this differs from a step of training."""
    texts = [
        "Not included: autograd's own calls, the accumulation of gradients, and the optimizer."
    ]
    described = joint.graph.output_node().meta.get("desc") or []
    if any(type(told).__name__ == "InputMutationAOTOutput" for told in described):
        texts.append(
            "Buffers that the step changes are returned here; torch.compile writes them in place."
        )
    return texts
