"""The inputs and outputs of a program in an archive, and where its caller passes and finds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain, repeat
from typing import Any

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.arguments import kind_of, read, value_of
from export_engine.archive.errors import ArchiveError
from export_engine.archive.graphs import FileGraph, Shared
from export_engine.archive.names import cut
from export_engine.archive.tree import leaf_keys
from export_engine.describe import Entry
from export_engine.record import join_path

_INPUTS = {
    "user_input": "user_input",
    "constant_input": "user_input",
    "parameter": "parameter",
    "buffer": "buffer",
    "tensor_constant": "constant_tensor",
    "custom_obj": "custom_object",
    "token": "token",
}
_OUTPUTS = {
    "user_output",
    "loss_output",
    "buffer_mutation",
    "gradient_to_parameter",
    "gradient_to_user_input",
    "user_input_mutation",
    "token",
    "parameter_mutation",
}
_COLLISION = re.compile(r"_\d+$")
"""The suffix that torch appends to a name that is taken."""
_NAMED = msgspec.json.Decoder(str)
_SYMBOLIC = ("as_sym_int", "as_sym_float", "as_sym_bool")


def read_inputs(
    module: schema.GraphModule, graph: FileGraph, held: Mapping[str, int], shared: Shared
) -> list[Entry]:
    """The inputs of the flat program.

    Args:
        module: the program.
        graph: its main graph, whose nodes have been read.
        held: bytes of each parameter, buffer and constant.
        shared: with its graphs.
    """
    entries: list[Entry] = []
    root = _root(module)
    keys = leaf_keys(root.in_spec, _fields(module)) if root else None
    by_keyword = iter([bool(key) and key[0] == "1" for key in keys or ()])
    for union in _check_length(module.signature.input_specs):
        kind, spec = _spec(union)
        cached = _INPUTS.get(kind, "custom_object")
        if kind not in _INPUTS:
            shared.arguments.unknown.append(f"input {kind[:80]}")
        target = cut(
            spec.parameter_name
            or spec.buffer_name
            or spec.tensor_constant_name
            or spec.custom_obj_name
        )
        if kind == "constant_input":
            argument = spec.name, True, value_of(spec.value or {})
        else:
            argument = _argument(spec)
        entry = _entry(cached, argument, target, graph, shared)
        entries.append(
            entry._replace(
                persistent=spec.persistent,
                bytes=held.get(target, 0) if target else 0,
                keyword=cached == "user_input" and next(by_keyword, False),
            )
        )
    return entries


def read_outputs(module: schema.GraphModule, graph: FileGraph, shared: Shared) -> list[Entry]:
    """The outputs of the flat program, as `read_inputs`."""
    entries = []
    for union in _check_length(module.signature.output_specs):
        kind, spec = _spec(union)
        if kind not in _OUTPUTS:
            shared.arguments.unknown.append(f"output {kind[:80]}")
        target = cut(spec.parameter_name or spec.buffer_name or spec.user_input_name)
        text = kind if kind in _OUTPUTS else "user_output"
        entries.append(_entry(text, _argument(spec), target, graph, shared))
    return entries


def _entry(
    kind: str, argument: tuple[str, bool, Any], target: str, graph: FileGraph, shared: Shared
) -> Entry:
    name, constant, value = argument
    node = graph.positions.get(name, -1)
    return Entry(
        kind,
        shared.names.display(name) if name else "",
        node,
        value if constant or node < 0 else graph.find_value(name),
        target,
        constant,
    )


def _check_length(specs: list[dict[str, schema.Spec]]) -> list[dict[str, schema.Spec]]:
    if len(specs) > limits.ENTRIES:
        raise ArchiveError(f"It has more than {limits.ENTRIES:,} inputs or outputs.")
    return specs


def constant_names(signature: schema.Signature) -> dict[int, str]:
    """The names of the inputs that are constants, by position."""
    names = {}
    for position, union in enumerate(signature.input_specs):
        spec = union.get("constant_input")
        if spec is not None and spec.name:
            names[position] = spec.name
    return names


def user_inputs(signature: schema.Signature) -> list[str]:
    """The names of the inputs that a caller gives, in order; empty for one without a name."""
    result = []
    for union in signature.input_specs:
        kind, spec = _spec(union)
        if _INPUTS.get(kind) == "user_input":
            result.append(spec.name if kind == "constant_input" else _argument(spec)[0])
    return result


def input_paths(program: schema.GraphModule) -> list[str]:
    """Where the caller passes each flat user input: `x`, `cache.0.key`, `args.0`."""
    root = _root(program)
    keys = leaf_keys(root.in_spec, _fields(program)) if root else None
    if root is None or keys is None:
        return []
    arguments = [cut(name) for name in root.forward_arg_names or ()]
    paths = []
    names = chain(map(cut, user_inputs(program.signature)), repeat(""))
    for path, name in zip(keys, names, strict=False):
        if len(path) < 2:
            return []
        side, first, *rest = path
        positional = side == "0" and first.isdecimal()
        is_known = positional and int(first) < len(arguments)
        start = [arguments[int(first)]] if is_known else ["args", first] if positional else [first]
        paths.append(join_path([*start, *_name_field(start, rest, name)]))
    return paths


def _name_field(start: list[str], rest: list[str], name: str) -> list[str]:
    """The keys below an argument, where one is a field of a class that the file does not name.

    torch calls the input `cache.keys` `cache_keys`, in lower case. `x.0` is `x_0`.
    """
    numbers = [at for at, key in enumerate(rest) if key.isdecimal()]
    if len(numbers) != 1 or name == "_".join([*start, *rest]):
        return rest
    before, after = rest[: numbers[0]], rest[numbers[0] + 1 :]
    first, last = "_".join([*start, *before, ""]), "_".join(["", *after] if after else [])
    field = name.removeprefix(first).removesuffix(last)
    if name != f"{first}{field}{last}" or not field.isidentifier() or _COLLISION.search(field):
        return rest
    return [*before, field, *after]


def output_paths(program: schema.GraphModule) -> list[str]:
    """Where the caller finds each flat user output: `logits`; empty for a lone one."""
    root = _root(program)
    keys = leaf_keys(root.out_spec, _fields(program)) if root else None
    return [join_path(key) for key in keys or ()]


def trees(program: schema.GraphModule) -> tuple[str, str]:
    """The pytree specs of a call's arguments and of what it returns, as JSON; empty if unread."""
    root = _root(program)
    texts = (root.in_spec, root.out_spec) if root else ("", "")
    return tuple(text if leaf_keys(text) is not None else "" for text in texts)  # type: ignore[return-value]


def _fields(program: schema.GraphModule) -> dict[str, list[str]]:
    return {name: fields.field_names for name, fields in program.treespec_namedtuple_fields.items()}


def _root(program: schema.GraphModule) -> schema.CallSignature | None:
    for call in program.module_call_graph:
        if call.fqn == "":
            return call.signature
    return None


def _spec(union: dict[str, schema.Spec]) -> tuple[str, schema.Spec]:
    if len(union) != 1:
        raise ArchiveError(f"A spec of its signature has {len(union)} kinds; it should have one.")
    return next(iter(union.items()))


def _argument(spec: schema.Spec) -> tuple[str, bool, Any]:
    """An argument's name, whether it is a constant, and the constant."""
    entries = spec.arg or {}
    if "name" in entries:
        return _NAMED.decode(entries["name"]), False, None
    kind = kind_of(entries)
    if kind in ("as_tensor", "as_custom_obj"):
        return read(entries, kind).name, False, None
    if kind in _SYMBOLIC and (name := read(entries, kind).as_name) is not None:
        return name, False, None
    return "", True, value_of(entries)
