"""Arguments of a call in an archive as text, with placeholders for other nodes.

The same text as `describe.arguments` makes of a node of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.strict_decoding import StrictDecoder
from export_engine.archive.values import device_text
from export_engine.record import sequence_text, string_text

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
    """Of a graph that an operator is given; the graph is read where its node is."""

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
    return unknown(union, kind)


def unknown(union: schema.Union, kind: str) -> Unknown:
    """A value of an unknown kind."""
    text = bytes(union[kind])[:_LONGEST_UNKNOWN].decode(errors="replace")
    return Unknown(f"<{kind[:_LONGEST_UNKNOWN]} {text}>")


class Arguments:
    """Prints arguments and collects the nodes among them."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        """Kinds of arguments that only a later torch knows."""

    def text(
        self,
        union: schema.Union,
        find: Find,
        inputs: list[int],
        as_tuple: bool = False,
        depth: int = 0,
    ) -> str:
        """The text of an argument.

        Args:
            union: the argument.
            find: the position of a node by its name.
            inputs: the nodes that holes stand for; those of this argument are added.
            as_tuple: whether its sequences are written as tuples, which a file does not tell.
            depth: how many dicts it is in.
        """
        kind = kind_of(union)
        if kind not in _DECODERS:
            self.unknown.append(kind[:_LONGEST_UNKNOWN])
            return _escaped(unknown(union, kind))
        value = read(union, kind)
        if isinstance(value, list) and len(value) > limits.ITEMS:
            raise ArchiveError(f"A list among the arguments has {len(value):,} items.")

        def hole(name: str) -> str:
            inputs.append(find(name))
            return f"{{{len(inputs) - 1}}}"

        def sequence(items: Iterable[str]) -> str:
            return sequence_text(list(items), as_tuple)

        match kind:
            case "as_tensor" | "as_graph":
                return hole(value.name)
            case "as_tensors":
                return sequence(hole(each.name) for each in value)
            case "as_nested_tensors":
                return sequence(sequence(hole(each.name) for each in some) for some in value)
            case "as_sym_int" | "as_sym_float" | "as_sym_bool":
                return _symbolic(value, hole)
            case "as_sym_ints" | "as_sym_floats" | "as_sym_bools":
                return sequence(_symbolic(each, hole) for each in value)
            case "as_optional_tensors":
                return sequence(_optional(each, hole) for each in value)
            case "as_optional_tensor":
                return _optional(value, hole)
            case "as_custom_obj":
                return hole(value.name) if find(value.name) >= 0 else "<ScriptObject>"
            case "as_string_to_argument":
                if depth >= limits.ARGUMENT_DEPTH:
                    raise ArchiveError("Dicts among the arguments are nested too deeply.")
                items = {
                    key: self.text(each, find, inputs, as_tuple, depth + 1)
                    for key, each in value.items()
                }
                shown = (f"{_escaped(string_text(key))}: {text}" for key, text in items.items())
                return f"{{{{{', '.join(shown)}}}}}"
        return _escaped(_plain(kind, value, sequence))


def _plain(kind: str, value: Any, sequence: Callable[[Iterable[str]], str]) -> str:
    match kind:
        case "as_none":
            return "None"
        case "as_string":
            return string_text(value)
        case "as_strings":
            return sequence(map(string_text, value))
        case "as_float":
            return repr(float(value))
        case "as_floats":
            return sequence(repr(float(each)) for each in value)
        case "as_float_lists":
            return sequence(sequence(repr(float(each)) for each in some) for some in value)
        case "as_int_lists":
            return sequence(sequence(map(repr, some)) for some in value)
        case "as_complex":
            return repr(complex(float(value.real), float(value.imag)))
        case "as_scalar_type":
            return f"torch.{schema.DTYPES.get(value, f'unknown_dtype_{value}')}"
        case "as_memory_format":
            return f"torch.{schema.MEMORY_FORMATS.get(value, f'unknown_memory_format_{value}')}"
        case "as_layout":
            return f"torch.{schema.LAYOUTS.get(value, f'unknown_layout_{value}')}"
        case "as_device":
            return device_text(value)
        case "as_operator":
            return f"<{value[:_LONGEST_STRING]}>"
        case "as_ints" | "as_bools":
            return sequence(map(repr, value))
    return repr(value)


def _symbolic(value: schema.SymArgument, hole: Callable[[str], str]) -> str:
    if value.as_name is not None:
        return hole(value.as_name)
    for plain in (value.as_int, value.as_bool):
        if plain is not None:
            return repr(plain)
    return repr(float(value.as_float)) if value.as_float is not None else "None"


def _optional(value: schema.Union, hole: Callable[[str], str]) -> str:
    return hole(read(value, "as_tensor").name) if kind_of(value) == "as_tensor" else "None"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
