"""The inputs and outputs of a live program, and where its caller passes and finds them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
)

from export_engine.attempt import Request, signature_of
from export_engine.defects import log_internal_error
from export_engine.describe.held_tensors import held_bytes
from export_engine.describe.live_graph import read_value
from export_engine.describe.source import Entry, Value
from export_engine.record import join_path
from export_engine.torch_internals import (
    LiveProgram,
    key_text,
    module_inputs,
    pytree,
    split_call_spec,
)

_INPUT_KINDS = {
    InputKind.USER_INPUT: "user_input",
    InputKind.PARAMETER: "parameter",
    InputKind.BUFFER: "buffer",
    InputKind.CONSTANT_TENSOR: "constant_tensor",
    InputKind.CUSTOM_OBJ: "custom_object",
    InputKind.TOKEN: "token",
}


def read_inputs(program: LiveProgram, positions: Mapping[str, int]) -> list[Entry]:
    """The inputs of the flat program.

    Args:
        program: the program.
        positions: of the nodes of its main graph, by name.
    """
    values = _values(program)
    in_spec = program.call_spec.in_spec
    by_position = split_call_spec(in_spec)[0].num_leaves if in_spec is not None else None
    users, entries = 0, []
    for spec in program.graph_signature.input_specs:
        is_passed = spec.kind is InputKind.USER_INPUT
        users += is_passed
        entries.append(
            Entry(
                _INPUT_KINDS[spec.kind],
                *_argument(spec, positions, values),
                persistent=spec.persistent if spec.kind is InputKind.BUFFER else None,
                bytes=_held_bytes(program, spec),
                keyword=is_passed and by_position is not None and users > by_position,
            )
        )
    return entries


def read_outputs(program: LiveProgram, positions: Mapping[str, int]) -> list[Entry]:
    """The outputs of the flat program, as `read_inputs`."""
    values = _values(program)
    return [
        Entry(spec.kind.name.lower(), *_argument(spec, positions, values))
        for spec in program.graph_signature.output_specs
    ]


def _argument(
    spec: InputSpec | OutputSpec, positions: Mapping[str, int], values: Mapping[str, Any]
) -> tuple[str, int, Value, str, bool]:
    """The fields that an input and an output share."""
    name, target = spec.arg.name, spec.target or ""
    node = positions.get(name, -1)
    if isinstance(spec.arg, ConstantArgument):
        return name, node, spec.arg.value, target, True
    return name, node, read_value(values.get(name)), target, False


def _values(program: LiveProgram) -> dict[str, Any]:
    return {node.name: node.meta.get("val") for node in program.graph.nodes if node.op != "output"}


def input_paths(program: LiveProgram, request: Request | None) -> list[str]:
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
        log_internal_error(error, "reading the structure of the inputs")
        return []
    names = _positional(request) if request else [[name] for name in _find_parameter_names(program)]
    paths = []
    for keys, _ in keyed:
        side, first, *rest = map(key_text, keys)
        positional = side == "0"
        is_known = positional and int(first) < len(names)
        start = names[int(first)] if is_known else ["args", first] if positional else [first]
        paths.append(join_path([*start, *rest]))
    return paths


def output_paths(program: LiveProgram) -> list[str]:
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
        log_internal_error(error, "reading the structure of the outputs")
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


def _find_parameter_names(program: LiveProgram) -> list[str]:
    """The names of forward's positional parameters, as far as the program kept them."""
    root = next((call for call in program.module_call_graph if call.fqn == ""), None)
    names = getattr(root.signature, "forward_arg_names", None) if root and root.signature else None
    return list(names or [])


def _held_bytes(program: LiveProgram, spec: InputSpec) -> int:
    if not spec.target:
        return 0
    held = program.state_dict.get(spec.target)
    if held is None:
        held = program.constants.get(spec.target)
    return held_bytes(held)
