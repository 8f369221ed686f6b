"""The graph signature of an archive: inputs and outputs with the caller's own paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.arguments import kind_of, read, value_of
from export_engine.archive.errors import ArchiveError
from export_engine.archive.graphs import Graphs
from export_engine.archive.names import Names, cut
from export_engine.archive.tree import leaf_keys
from export_engine.record import InputEntry, OutputEntry, Signature, join_path

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
_NAMED = msgspec.json.Decoder(str)
_SYMBOLIC = ("as_sym_int", "as_sym_float", "as_sym_bool")


def read_signature(
    program: schema.GraphModule, graphs: Graphs, held: Mapping[str, int], paths: Sequence[str]
) -> Signature:
    """The signature of a program whose main graph is read already.

    Args:
        program: the program.
        graphs: its graphs.
        held: bytes of each parameter, buffer and constant.
        paths: of the user inputs.
    """
    reader = _Reader(graphs, held)
    given, wanted = program.signature.input_specs, program.signature.output_specs
    if max(len(given), len(wanted)) > limits.ENTRIES:
        raise ArchiveError("It has more inputs or outputs than torch writes.")
    inputs, outputs = iter(paths), iter(output_paths(program))
    return Signature(
        [reader.input(each, inputs) for each in given],
        [reader.output(each, outputs) for each in wanted],
    )


def constant_names(signature: schema.Signature) -> dict[int, str]:
    """The names of the inputs that are constants, by position."""
    found = {}
    for position, union in enumerate(signature.input_specs):
        spec = union.get("constant_input")
        if spec is not None and spec.name:
            found[position] = spec.name
    return found


def user_inputs(signature: schema.Signature) -> list[str]:
    """The names of the inputs that a caller gives, in order; empty for one without a name."""
    found = []
    for union in signature.input_specs:
        kind, spec = _spec(union)
        if _INPUTS.get(kind) == "user_input":
            found.append(spec.name if kind == "constant_input" else _argument(spec)[0])
    return found


def result_names(signature: schema.Signature) -> list[tuple[int, str]]:
    """The user outputs that are values of nodes: their numbers and names."""
    found = []
    for entry, union in enumerate(signature.output_specs):
        kind, spec = _spec(union)
        if kind == "user_output" and (name := _argument(spec)[0]):
            found.append((entry, name))
    return found


def input_paths(program: schema.GraphModule) -> list[str]:
    """Where the caller passes each flat user input: `x`, `cache.0.key`, `args.0`."""
    root = _root(program)
    keys = leaf_keys(root.in_spec, _fields(program)) if root else None
    if root is None or keys is None:
        return []
    names = [cut(name) for name in root.forward_arg_names or ()]
    paths = []
    for path in keys:
        if len(path) < 2:
            return []
        side, first, *rest = path
        positional = side == "0" and first.isdecimal()
        known = positional and int(first) < len(names)
        start = [names[int(first)]] if known else ["args", first] if positional else [first]
        paths.append(join_path([*start, *rest]))
    return paths


def output_paths(program: schema.GraphModule) -> list[str]:
    """Where the caller finds each flat user output: `logits`; empty for a lone one."""
    root = _root(program)
    keys = leaf_keys(root.out_spec, _fields(program)) if root else None
    return [join_path(each) for each in keys or ()]


def _fields(program: schema.GraphModule) -> dict[str, list[str]]:
    return {name: each.field_names for name, each in program.treespec_namedtuple_fields.items()}


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
    given = spec.arg or {}
    if "name" in given:
        return _NAMED.decode(given["name"]), False, None
    kind = kind_of(given)
    if kind in ("as_tensor", "as_custom_obj"):
        return read(given, kind).name, False, None
    if kind in _SYMBOLIC and (name := read(given, kind).as_name) is not None:
        return name, False, None
    return "", True, value_of(given)


class _Reader:
    def __init__(self, graphs: Graphs, held: Mapping[str, int]) -> None:
        self._graphs = graphs
        self._held = held
        self._names: Names = graphs.names

    def input(self, union: dict[str, schema.Spec], paths: Iterator[str]) -> InputEntry:
        """An input."""
        kind, spec = _spec(union)
        if kind not in _INPUTS:
            self._graphs.arguments.unknown.append(f"input {kind[:80]}")
        if kind == "constant_input":
            name, constant, value = spec.name, True, value_of(spec.value or {})
        else:
            name, constant, value = _argument(spec)
        node = self._graphs.positions.get(name, -1)
        target = cut(
            spec.parameter_name
            or spec.buffer_name
            or spec.tensor_constant_name
            or spec.custom_obj_name
        )
        shown = self._names.shown(name) if name else ""
        return InputEntry(
            _INPUTS.get(kind, "custom_object"),  # type: ignore[arg-type]
            shown,
            node,
            self._type(node, constant, value),
            target=target,
            path=next(paths, shown) if _INPUTS.get(kind) == "user_input" else "",
            persistent=spec.persistent,
            constant=cut(repr(value)) if constant else None,
            bytes=self._held.get(target, 0) if target else 0,
        )

    def output(self, union: dict[str, schema.Spec], paths: Iterator[str]) -> OutputEntry:
        """An output."""
        kind, spec = _spec(union)
        if kind not in _OUTPUTS:
            self._graphs.arguments.unknown.append(f"output {kind[:80]}")
        name, constant, value = _argument(spec)
        node = self._graphs.positions.get(name, -1) if name else -1
        return OutputEntry(
            kind if kind in _OUTPUTS else "user_output",  # type: ignore[arg-type]
            self._names.shown(name) if name else "",
            node,
            self._type(node, constant, value),
            target=cut(spec.parameter_name or spec.buffer_name or spec.user_input_name),
            path=next(paths, "") if kind == "user_output" else "",
            constant=cut(repr(value)) if constant else None,
        )

    def _type(self, node: int, constant: bool, value: Any) -> int:
        if node >= 0:
            return self._graphs.entries[0].type[node]
        values = self._graphs.values
        return values.constant(value) if constant else values.number(value)
