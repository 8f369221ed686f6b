"""Arguments of a call in an archive, and the unions that torch writes them as."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.strict_decoding import StrictDecoder
from export_engine.describe import Position, Words

_LONGEST_STRING = 200
_LONGEST_UNKNOWN = 80

Find = Callable[[str], int]
"""The position of the node of a name."""


def kind_of(union: schema.Union) -> str:
    """Which field of a union is set."""
    if len(union) != 1:
        raise ArchiveError(f"A value has {len(union)} kinds; it should have one.")
    return next(iter(union))


def read(union: schema.Union, kind: str) -> Any:
    """The value of a union of a kind that is known."""
    return _DECODERS[kind].decode(union[kind])


class _GraphName(msgspec.Struct):
    """The name of a graph passed to an operator; the graph is read with its node."""

    name: str
    graph: msgspec.Raw


TYPES: Mapping[str, Any] = {
    "as_none": bool,
    "as_tensor": schema.Named,
    "as_tensors": list[schema.Named],
    "as_int": schema.Int,
    "as_ints": list[schema.Int],
    "as_float": schema.Float,
    "as_floats": list[schema.Float],
    "as_string": str,
    "as_strings": list[str],
    "as_sym_int": schema.SymArgument,
    "as_sym_ints": list[schema.SymArgument],
    "as_sym_bool": schema.SymArgument,
    "as_sym_bools": list[schema.SymArgument],
    "as_sym_float": schema.SymArgument,
    "as_sym_floats": list[schema.SymArgument],
    "as_scalar_type": schema.Int,
    "as_memory_format": schema.Int,
    "as_layout": schema.Int,
    "as_device": schema.Device,
    "as_bool": bool,
    "as_bools": list[bool],
    "as_graph": _GraphName,
    "as_optional_tensors": list[dict[str, msgspec.Raw]],
    "as_optional_tensor": dict[str, msgspec.Raw],
    "as_custom_obj": schema.Named,
    "as_operator": str,
    "as_complex": schema.Complex,
    "as_nested_tensors": list[list[schema.Named]],
    "as_int_lists": list[list[schema.Int]],
    "as_float_lists": list[list[schema.Float]],
    "as_string_to_argument": dict[str, schema.Union],
}
"""The kinds of arguments that are known, and what they are made of."""
_DECODERS: Mapping[str, StrictDecoder[Any]] = {
    name: StrictDecoder(kind) for name, kind in TYPES.items()
}


class Unknown(str):
    """A value of a kind that only a later torch writes, as JSON."""


def value_of(union: schema.Union) -> Any:
    """A constant: a number, a text, True, None, or an Unknown."""
    kind = kind_of(union)
    if kind == "as_none":
        return None
    if kind in ("as_int", "as_bool", "as_string"):
        return read(union, kind)
    if kind == "as_float":
        return float(read(union, kind))
    return make_unknown(union, kind)


def make_unknown(union: schema.Union, kind: str) -> Unknown:
    """A value of an unknown kind."""
    text = bytes(union[kind])[:_LONGEST_UNKNOWN].decode(errors="replace")
    return Unknown(f"<{kind[:_LONGEST_UNKNOWN]} {text}>")


class Arguments:
    """Reads arguments of calls as plain values, for `print_argument`."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        """Kinds of arguments that only a later torch knows."""

    def read(self, union: schema.Union, find: Find, depth: int = 0) -> Any:
        """The value of an argument: a plain one, a Position, Words, or a list or dict of them.

        Args:
            union: the argument.
            find: the position of a node by its name.
            depth: how many dicts it is in.
        """
        kind = kind_of(union)
        if kind not in _DECODERS:
            self.unknown.append(kind[:_LONGEST_UNKNOWN])
            return Words(make_unknown(union, kind))
        value = read(union, kind)
        if isinstance(value, list) and len(value) > limits.ITEMS:
            raise ArchiveError(f"A list among the arguments has {len(value):,} items.")
        if kind in _LEAVES:
            return _LEAVES[kind](value)
        match kind:
            case "as_tensor" | "as_graph":
                return Position(find(value.name))
            case "as_tensors":
                return [Position(find(item.name)) for item in value]
            case "as_nested_tensors":
                return [[Position(find(item.name)) for item in some] for some in value]
            case "as_sym_int" | "as_sym_float" | "as_sym_bool":
                return _symbolic(value, find)
            case "as_sym_ints" | "as_sym_floats" | "as_sym_bools":
                return [_symbolic(item, find) for item in value]
            case "as_optional_tensors":
                return [_optional(item, find) for item in value]
            case "as_optional_tensor":
                return _optional(value, find)
            case "as_custom_obj":
                at = find(value.name)
                return Position(at) if at >= 0 else Words("<ScriptObject>")
            case "as_string_to_argument":
                if depth >= limits.ARGUMENT_DEPTH:
                    raise ArchiveError("Dicts among the arguments are nested too deeply.")
                return {key: self.read(item, find, depth + 1) for key, item in value.items()}
        return value


def _enum(names: Mapping[int, str], kind: str) -> Callable[[int], Words]:
    return lambda value: Words(f"torch.{names.get(value, f'unknown_{kind}_{value}')}")


_LEAVES: Mapping[str, Callable[[Any], Any]] = {
    "as_none": lambda _: None,
    "as_float": float,
    "as_floats": lambda value: list(map(float, value)),
    "as_float_lists": lambda value: [list(map(float, some)) for some in value],
    "as_complex": lambda value: complex(float(value.real), float(value.imag)),
    "as_scalar_type": _enum(schema.DTYPES, "dtype"),
    "as_memory_format": _enum(schema.MEMORY_FORMATS, "memory_format"),
    "as_layout": _enum(schema.LAYOUTS, "layout"),
    "as_device": lambda value: Words(device_text(value)),
    "as_operator": lambda value: Words(f"<{value[:_LONGEST_STRING]}>"),
}
"""Printers of values whose kinds name no node and differ from Python's."""


def device_text(device: schema.Device) -> str:
    """`cuda:0`, as torch prints it."""
    kind = device.type if device.type.isidentifier() else repr(device.type)
    text = kind[: limits.TEXT]
    return text if device.index is None else f"{text}:{device.index}"


def _symbolic(value: schema.SymArgument, find: Find) -> Any:
    if value.as_name is not None:
        return Position(find(value.as_name))
    for plain in (value.as_int, value.as_bool):
        if plain is not None:
            return plain
    return float(value.as_float) if value.as_float is not None else None


def _optional(value: schema.Union, find: Find) -> Position | None:
    is_tensor = kind_of(value) == "as_tensor"
    return Position(find(read(value, "as_tensor").name)) if is_tensor else None
