"""The role of an op in quantization, and a main graph to walk."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property

from export_engine.record import OPS, InputEntry, Record, Target, ValueType, call_arguments

_CALL, _PLACEHOLDER = OPS.index("call_function"), OPS.index("placeholder")
_INNER = "access_subclass_inner_tensor"
_NARROW = re.compile(r"u?int[1-8](?!\d)|float8|float4|bits[1-8]")
"""Dtypes of 8 bits and less, booleans aside."""

MATMULS = frozenset(
    {"linear", "mm", "bmm", "matmul", "addmm", "baddbmm", "einsum", "_int_mm", "_scaled_mm"}
    | {"int_scaled_matmul", "_weight_int8pack_mm", "_weight_int4pack_mm"}
    | {"_weight_int4pack_mm_for_cpu", "scaled_dot_product_attention"}
)
COMPUTE = MATMULS | {
    *("conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d", "conv_transpose2d"),
    *("conv_transpose3d", "embedding", "embedding_bag", "embedding_byte", "embedding_4bit"),
    *("lstm", "gru"),
}
"""Ops that are worth quantizing: those with large weights, and products of activations."""
LOWERED = frozenset({"mm", "_int_mm", "_scaled_mm", "matmul", "bmm", "int_scaled_matmul"})
"""Ops of a linear whose scale is multiplied afterwards."""
VIEWS = frozenset(
    {"t", "transpose", "permute", "reshape", "view", "flatten", "unflatten", "expand", "squeeze"}
    | {"unsqueeze", "to", "_to_copy", "contiguous", "clone", "alias", "detach", "_unsafe_view"}
)
"""Ops that move or cast what they are given."""
SHIFTS = frozenset({"add", "sub"})
ACTIVATIONS = frozenset({"relu", "relu_", "hardtanh", "hardtanh_", "clamp", "relu6", "leaky_relu"})

_NAMES = {
    "per_tensor": ("input", "scale", "zero_point", "quant_min", "quant_max", "dtype"),
    "per_token": ("input", "scale", "zero_point", "quant_min", "quant_max", "dtype"),
    "per_channel": ("input", "scale", "zero_point", "axis", "quant_min", "quant_max", "dtype"),
    "per_channel_group": (
        *("input", "scale", "zero_point", "quant_min", "quant_max", "dtype", "group_size"),
    ),
    "affine": ("input", "block_size", "scale", "zero_point", "dtype", "quant_min", "quant_max"),
    "affine_float8": ("input", "scale", "dtype"),
}
"""Arguments by position of `quantize_per_tensor` and its kin, in torch and torchao, whose schemas
are not known where the package is not imported."""
_ARGUMENT = re.compile(r"(\w+)(?:=[^,]*)?\s*$")


def label_of(target: Target) -> str:
    """An op's name without namespace and overload: `dequantize_affine`."""
    parts = target.name.split(".")
    return parts[1] if len(parts) > 1 else target.name


def quantizes(label: str) -> bool:
    """Whether an op makes fewer bits of floats."""
    return label.startswith("quantize_") or label == "quantize"


def dequantizes(label: str) -> bool:
    """Whether an op makes floats of fewer bits."""
    return label.startswith("dequantize")


def chooses(label: str) -> bool:
    """Whether an op chooses scales."""
    return label.startswith("choose_")


def is_narrow(kind: ValueType | None) -> bool:
    """Whether a tensor has elements of 8 bits or less, booleans aside."""
    return kind is not None and kind.kind == "tensor" and bool(_NARROW.match(kind.dtype))


class Ops:
    """The main graph of a Record, as it is asked about here."""

    def __init__(self, record: Record) -> None:
        """Make one.

        Args:
            record: of a program; it has a graph.
        """
        self.record = record
        self._graph = record.graphs[0]
        self._labels = [label_of(target) for target in record.targets]
        self.held: dict[int, InputEntry] = {
            entry.node: entry
            for entry in record.signature.inputs
            if entry.kind != "user_input" and entry.node >= 0
        }

    def __len__(self) -> int:
        return len(self._graph.name)

    def calls(self) -> Iterator[int]:
        """The nodes that call something, but those that only check or compute sizes."""
        graph = self._graph
        return (at for at, op in enumerate(graph.op) if op == _CALL and not graph.housekeeping[at])

    def is_call(self, node: int) -> bool:
        """Whether a node calls something."""
        return self._graph.op[node] == _CALL

    def is_check(self, node: int) -> bool:
        """Whether a node only checks, or computes sizes."""
        return self._graph.housekeeping[node] == 1

    def label(self, node: int) -> str:
        """The target of a node; empty if it calls nothing."""
        target = self._graph.target[node]
        return self._labels[target] if target >= 0 else ""

    def name(self, node: int) -> str:
        """The name of a node."""
        return self.record.strings[self._graph.name[node]]

    def is_moved(self, node: int) -> bool:
        """Whether a node gives what it is given, moved, cast, or shifted by a whole number.

        torchao shifts: for CPUs that multiply uint8 by int8, int8 becomes uint8 by adding 128.
        """
        label = self.label(node)
        if label in VIEWS:
            return True
        return label.rstrip("_") in SHIFTS and len(self.inputs(node)) == 1 and self.is_whole(node)

    def is_whole(self, node: int) -> bool:
        """Whether a node gives whole numbers."""
        kind = self.type(node)
        return kind is not None and kind.dtype.startswith(("int", "uint"))

    def type(self, node: int) -> ValueType | None:
        """The outputs of a node."""
        number = self._graph.type[node] if node >= 0 else -1
        return self.record.types[number] if number >= 0 else None

    def scope(self, node: int) -> int:
        """The module call that a node is in; -1 for none."""
        return self._graph.scope[node]

    def inputs(self, node: int) -> list[int]:
        """The inputs of a node, by position in its arguments."""
        read = self._graph.inputs
        return list(read.items[read.starts[node] : read.starts[node + 1]])

    def users(self, node: int) -> list[int]:
        """The nodes that read a node, those aside that only check."""
        return self._users[node]

    @cached_property
    def computing(self) -> Counter[int]:
        """By scope, how many ops in it have weights as a rule."""
        return Counter(self.scope(at) for at in self.calls() if self.label(at) in COMPUTE)

    @cached_property
    def _users(self) -> dict[int, list[int]]:
        groups: dict[int, list[int]] = defaultdict(list)
        for node in range(len(self)):
            if not self.is_check(node):
                for number in dict.fromkeys(self.inputs(node)):
                    groups[number].append(node)
        return groups

    @cached_property
    def constant(self) -> set[int]:
        """Nodes made of parameters, buffers and constants alone."""
        numbers = set(self.held)
        for node in range(len(self)):
            inputs = self.inputs(node)
            if self.is_call(node) and inputs and all(source in numbers for source in inputs):
                numbers.add(node)
        return numbers

    def is_inner(self, node: int) -> bool:
        """Whether a node is one of the tensors that a tensor subclass is made of."""
        return self.label(node) == _INNER

    def is_leaf(self, node: int) -> bool:
        """Whether a node is a tensor that the program holds."""
        return node in self.constant and (node in self.held or self.is_inner(node))

    def holder(self, leaf: int) -> int:
        """The parameter, buffer or constant that a leaf is, or is a part of."""
        while self.is_inner(leaf):
            leaf = self.inputs(leaf)[0]
        return leaf

    def leaves(self, node: int) -> list[int]:
        """The tensors held that a constant is made of."""
        numbers, waiting, seen = [], [node], {node}
        while waiting:
            number = waiting.pop()
            if self.is_leaf(number):
                numbers.append(number)
                continue
            fresh = [source for source in self.inputs(number) if source not in seen]
            seen.update(fresh)
            waiting += fresh
        return numbers

    def arguments(self, node: int) -> dict[str, str]:
        """The texts of a quantizing op's arguments by name; `{1}` is the second of its inputs."""
        target = self.record.targets[self._graph.target[node]]
        by_position, by_name = call_arguments(self.record.strings[self._graph.args[node]])
        kind = self.label(node).removeprefix("de").removeprefix("quantize_")
        names = _NAMES.get(kind) or _names_of(target.schema)
        return {**dict(zip(names, by_position, strict=False)), **by_name}

    def positional(self, node: int) -> tuple[str, ...]:
        """The texts of a call's arguments by position."""
        return call_arguments(self.record.strings[self._graph.args[node]])[0]

    def node_in(self, node: int, text: str) -> int:
        """The node in an argument of a node; -1 for none."""
        inputs = self.inputs(node)
        place = text[1:-1] if text.startswith("{") and text.endswith("}") else ""
        return inputs[int(place)] if place.isdecimal() and int(place) < len(inputs) else -1


def _names_of(schema: str) -> tuple[str, ...]:
    """The names of a schema's arguments; `scales` is `scale`."""
    inside = schema.partition("(")[2].rpartition(" ->")[0].rstrip(")")
    matches = [_ARGUMENT.search(part) for part in inside.split(", ")]
    names = [match[1] for match in matches if match]
    plural = {"scales": "scale", "zero_points": "zero_point", "self": "input"}
    return tuple(plural.get(name, name) for name in names)
