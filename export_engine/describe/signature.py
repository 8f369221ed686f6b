"""The graph signature: every input and output of the flat program, with the caller's own paths."""

from __future__ import annotations

import inspect
from typing import Any

from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
)

from export_engine.attempt import Request, signature_of
from export_engine.defects import passed_over
from export_engine.describe.held_tensors import held_bytes
from export_engine.describe.values import Values
from export_engine.record import Graph, InputEntry, OutputEntry, Signature, join_path
from export_engine.torch_internals import ProgramSource, key_text, module_inputs, pytree

_INPUT_KINDS = {
    InputKind.USER_INPUT: "user_input",
    InputKind.PARAMETER: "parameter",
    InputKind.BUFFER: "buffer",
    InputKind.CONSTANT_TENSOR: "constant_tensor",
    InputKind.CUSTOM_OBJ: "custom_object",
    InputKind.TOKEN: "token",
}
_OUTPUT_KINDS = {kind: kind.name.lower() for kind in OutputKind}


def describe_signature(
    program: ProgramSource, graph: Graph, names: list[str], values: Values, paths: list[str]
) -> Signature:
    """The signature of a program whose main graph is described already.

    Args:
        program: the program.
        graph: its main graph.
        names: the Record's strings, by number.
        values: the Record's value types.
        paths: of the user inputs, from `input_paths`.
    """
    nodes = {names[number]: node for node, number in enumerate(graph.name)}
    spec = program.graph_signature
    inputs, outputs = iter(paths), iter(output_paths(program))
    return Signature(
        [_input(program, each, nodes, graph, values, inputs) for each in spec.input_specs],
        [_output(each, nodes, graph, values, outputs) for each in spec.output_specs],
    )


def input_paths(program: ProgramSource, request: Request | None) -> list[str]:
    """Where the caller passes each flat user input: `x`, `cache.0.key`, `args.0`.

    A program without its Request, as from a file, names entries of `*args` `args_0`.
    """
    in_spec = program.call_spec.in_spec
    if in_spec is None:
        return []
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    leaves = [values.get(str(name), 0) for name in program.graph_signature.user_inputs]
    try:
        with module_inputs(program.example_inputs):
            tree = pytree.tree_unflatten(leaves, in_spec)
            keyed = pytree.tree_flatten_with_path(tree)[0]
    except Exception as error:  # noqa: BLE001 - torch loads keys of a dict that were tuples as lists
        passed_over(error, "reading the structure of the inputs")
        return []
    names = _positional(request) if request else [[name] for name in _kept_names(program)]
    paths = []
    for keys, _ in keyed:
        side, first, *rest = map(key_text, keys)
        positional = side == "0"
        known = positional and int(first) < len(names)
        start = names[int(first)] if known else ["args", first] if positional else [first]
        paths.append(join_path([*start, *rest]))
    return paths


def output_paths(program: ProgramSource) -> list[str]:
    """Where the caller finds each flat user output: `logits`, `1.cache.0`; empty for a lone one."""
    out_spec = program.call_spec.out_spec
    if out_spec is None:
        return []
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    specs = [s for s in program.graph_signature.output_specs if s.kind is OutputKind.USER_OUTPUT]
    leaves = [values.get(getattr(spec.arg, "name", ""), 0) for spec in specs]
    try:
        tree = pytree.tree_unflatten(leaves, out_spec)
        keyed = pytree.tree_flatten_with_path(tree)[0]
    except Exception as error:  # noqa: BLE001 - a class of the user's may ask anything of its parts
        passed_over(error, "reading the structure of the outputs")
        return [str(number) for number in range(out_spec.num_leaves)]
    return [join_path(map(key_text, keys)) for keys, _ in keyed]


def _positional(request: Request) -> list[list[str]]:
    """Where the path of each positional argument starts: `x`; `args.0` for what `*args` takes."""
    signature = signature_of(request.target)
    starts: list[list[str]] = []
    for name, value in signature.bind_partial(*request.args).arguments.items():
        several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        starts.extend([[name, str(index)] for index in range(len(value))] if several else [[name]])
    return starts


def _kept_names(program: ProgramSource) -> list[str]:
    """The names of forward's positional parameters, as far as the program kept them."""
    root = next((call for call in program.module_call_graph if call.fqn == ""), None)
    names = getattr(root.signature, "forward_arg_names", None) if root and root.signature else None
    return list(names or [])


def _input(
    program: ProgramSource,
    spec: InputSpec,
    nodes: dict[str, int],
    graph: Graph,
    values: Values,
    paths: Any,
) -> InputEntry:
    return InputEntry(
        _INPUT_KINDS[spec.kind],  # type: ignore[arg-type]
        **_argument(spec, nodes, graph, values),
        path=next(paths, spec.arg.name) if spec.kind is InputKind.USER_INPUT else "",
        persistent=spec.persistent if spec.kind is InputKind.BUFFER else None,
        bytes=_held_bytes(program, spec),
    )


def _held_bytes(program: ProgramSource, spec: InputSpec) -> int:
    if not spec.target:
        return 0
    held = program.state_dict.get(spec.target)
    if held is None:
        held = program.constants.get(spec.target)
    return held_bytes(held)


def _output(
    spec: OutputSpec, nodes: dict[str, int], graph: Graph, values: Values, paths: Any
) -> OutputEntry:
    return OutputEntry(
        _OUTPUT_KINDS[spec.kind],  # type: ignore[arg-type]
        **_argument(spec, nodes, graph, values),
        path=next(paths, "") if spec.kind is OutputKind.USER_OUTPUT else "",
    )


def _argument(
    spec: InputSpec | OutputSpec, nodes: dict[str, int], graph: Graph, values: Values
) -> dict[str, Any]:
    """The fields that an input and an output share."""
    constant = spec.arg if isinstance(spec.arg, ConstantArgument) else None
    node = nodes.get(spec.arg.name, -1)
    alone = values.constant(constant.value) if constant else values.number(None)
    return {
        "name": spec.arg.name,
        "node": node,
        "type": graph.type[node] if node >= 0 else alone,
        "target": spec.target or "",
        "constant": repr(constant.value) if constant else None,
    }
