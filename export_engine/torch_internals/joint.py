"""Joint graphs of a training step, as AOTAutograd makes them, and what it says of their nodes."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Literal, NamedTuple

import torch

from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.hooks import torch_options


class JointCall(NamedTuple):
    """A joint graph, and the call that it is of."""

    graph: torch.fx.GraphModule
    values: list[Any]
    """Per placeholder, its value in the call; None for tangents, and where it is not known."""


def joint_graph(
    stack: ExitStack, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> JointCall:
    """The graph of a module's call and of its backward pass.

    Args:
        stack: keeps what torch needs while the graph is made.
        module: whose first output is the loss, or outputs that need gradients.
        args: of the call.
        kwargs: of the call.

    Raises:
        MissingCapabilityError: this torch cannot make one.
    """
    with torch_options(["allow_rnn"]):  # as torch.export traces them
        captured = torch_has.CAPTURE_FOR_JOINT.value(module)(*args, **kwargs)
    # read before: AOTAutograd leaves values of its own in modules that share weights
    leaves = pytree.tree_leaves((args, kwargs))
    held: dict[str, dict[str, Any]] = {
        "parameter": dict(captured.named_parameters(remove_duplicate=False)),
        "buffer": dict(captured.named_buffers(remove_duplicate=False)),
        "input": {str(number): leaf for number, leaf in enumerate(leaves)},
    }
    joint = torch_has.AOT_JOINT.value(stack, captured, args, kwargs)
    graph: torch.fx.GraphModule = joint.graph_module
    roles = (joint_role(node.meta.get("desc")) for node in graph.graph.find_nodes(op="placeholder"))
    return JointCall(
        graph, [held.get(role.kind, {}).get(role.name) if role else None for role in roles]
    )


Kind = Literal["parameter", "buffer", "input", "tangent", "output", "gradient", "other"]


class JointRole(NamedTuple):
    """AOTAutograd's description of an input or an output of a joint graph."""

    kind: Kind
    name: str
    """For a parameter or buffer its path; of a gradient, what it is of; else a number."""


_KINDS: dict[str, Kind] = {
    "ParamAOTInput": "parameter",
    "BufferAOTInput": "buffer",
    "PlainAOTInput": "input",
    "TangentAOTInput": "tangent",
    "PlainAOTOutput": "output",
    "GradAOTOutput": "gradient",
}


def joint_role(described: object) -> JointRole | None:
    """A node's `desc`; None if it has none."""
    if described is None:
        return None
    kind: Kind = _KINDS.get(type(described).__name__, "other")
    if kind in ("tangent", "gradient"):
        inner = getattr(described, "output", None) or getattr(described, "grad_of", None)
        of = joint_role(inner)
        return JointRole(kind, of.name if of is not None else "")
    return JointRole(kind, str(getattr(described, "target", getattr(described, "idx", ""))))


def is_backward(node: torch.fx.Node) -> bool | None:
    """Whether a node of a joint graph is of the backward pass; None in other graphs."""
    tag = node.meta.get("partitioner_tag")
    return None if tag is None else tag == "is_backward"
