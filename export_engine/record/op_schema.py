"""Schemas of operators, and arguments of calls, as the texts that a Record has of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

_LONGEST_STRING = 200
_OPENING, _CLOSING, _QUOTES = "([{", ")]}", "'\""
_ALIAS = re.compile(r"\((\w+(?:\|\w+)*)(!?)(?:\s*->[^)]*)?\)")
_NAMED = re.compile(r"([A-Za-z_]\w*)=(?!=)")


_STATISTICS = ("running_mean", "running_var")
_UNDECLARED: dict[str, str] = {
    "batch_norm": "training",
    "native_batch_norm": "training",
    "_batch_norm_impl_index": "training",
    "cudnn_batch_norm": "training",
    "miopen_batch_norm": "training",
    "instance_norm": "use_input_stats",
    "batch_norm_update_stats": "",
    "batch_norm_gather_stats": "",
    "batch_norm_gather_stats_with_counts": "",
}
"""Ops of ATen that write running statistics and declare no write, and the flag that has them do so;
empty for one that always does."""


class SchemaArgument(NamedTuple):
    """An argument, as an operator's schema declares it."""

    name: str
    kind: str
    """`Tensor(a!)`, `int[]`."""
    default: str | None
    """None where there is none."""
    writes: bool
    """Whether the operator writes to it."""
    annotated: bool
    """Whether it may share memory with anything."""
    returned: bool
    """Whether a result may share its memory."""


@lru_cache(maxsize=4096)
def schema_arguments(schema: str) -> tuple[SchemaArgument, ...]:
    """The arguments of a schema: `aten::add.Tensor(Tensor self, *, Scalar alpha=1) -> Tensor`."""
    inside, _, results = schema.partition("(")[2].rpartition(" -> ")
    returned = {name for match in _ALIAS.finditer(results) for name in match[1].split("|")}
    declared = []
    for part in split_arguments(inside.removesuffix(")")):
        written, text, default = part.partition("=")
        kind, _, name = written.rpartition(" ")
        if not kind:  # the `*` before those that are passed by name
            continue
        alias = _ALIAS.search(kind)
        declared.append(
            SchemaArgument(
                name,
                kind,
                default if text else None,
                writes=alias is not None and alias[2] == "!",
                annotated=alias is not None,
                returned=alias is not None and not returned.isdisjoint(alias[1].split("|")),
            )
        )
    return tuple(declared)


@lru_cache(maxsize=1024)
def call_arguments(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The arguments of a call, by position and by name: `({0}, [batch, 4], alpha=2)`."""
    by_position, by_name = [], {}
    for part in split_arguments(text.removeprefix("(").removesuffix(")")):
        named = _NAMED.match(part)
        if named:
            by_name[named[1]] = part[named.end() :]
        elif part:
            by_position.append(part)
    return tuple(by_position), by_name


def string_text(text: str) -> str:
    """A string among the arguments of a call; of a long one its start and a digest of all of it."""
    if len(text) <= _LONGEST_STRING:
        return repr(text)
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return repr(f"{text[:_LONGEST_STRING]}… #{digest[:16]}")


def sequence_text(items: Sequence[str], as_tuple: bool) -> str:
    """A sequence of texts as a tuple or a list, as Python writes it."""
    text = ", ".join(items)
    if not as_tuple:
        return f"[{text}]"
    return f"({text},)" if len(items) == 1 else f"({text})"


def split_arguments(text: str) -> list[str]:
    """A text split at its commas, but for those inside of brackets and of quotes."""
    parts, start, depth, quote = [], 0, 0, ""
    at = 0
    while at < len(text):
        sign = text[at]
        if quote:
            if sign == "\\":
                at += 1
            elif sign == quote:
                quote = ""
        elif sign in _QUOTES:
            quote = sign
        elif sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def find_written_arguments(
    name: str, schema: str, argument: Callable[[str], str | None]
) -> tuple[str, ...]:
    """The arguments that a call writes to, by their names in the schema, undeclared ones too.

    Args:
        name: of the target, `aten.batch_norm.default`.
        schema: of the same.
        argument: the text of an argument of the call; None for one that it lacks.
    """
    written = tuple(
        schema_argument.name
        for schema_argument in schema_arguments(schema)
        if schema_argument.writes
    )
    namespace, _, rest = name.partition(".")
    flag = _UNDECLARED.get(rest.partition(".")[0]) if namespace == "aten" else None
    if written or flag is None or (flag and argument(flag) != "True"):
        return written
    return tuple(text for text in _STATISTICS if argument(text) not in (None, "None"))


def may_write(name: str, schema: str) -> bool:
    """Whether calls of a target write to an argument, all or some of them."""
    return bool(find_written_arguments(name, schema, lambda _: "True"))
