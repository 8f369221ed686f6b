"""Whether a program accepts a call, which is asked before any backend is called.

Code that a backend compiled reads its inputs by the sizes and types of the example, and most of it
does not look: of other inputs its results are wrong, or it reads memory that is not theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, NamedTuple

import torch
from torch.export.graph_signature import ConstantArgument, InputKind

from export_engine.record import Record, Rule, probe_sizes
from export_engine.run.torch_devices import full_name
from export_engine.torch_internals import flat_leaves

_PLAIN = (bool, int, float, str, type(None), torch.dtype, torch.device)
"""Constants of a program that a call must match."""


class Rejected(ValueError):
    """A call that the program does not accept. The message can be shown unchanged."""


class _Leaf(NamedTuple):
    path: str
    spec: Any
    """torch's, of the input."""
    value: Any
    """The call's value there."""


def find_refusal(
    program: torch.export.ExportedProgram,
    record: Record,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    device: bool = False,
) -> str:
    """Why the program does not accept a call, as a clause: `x.shape[0] is 2, …`; empty if it does.

    Types, dtypes and every rule on sizes that the Record has. Assertions on values are known only
    when it runs.

    Args:
        program: the program.
        record: the same, described.
        args: of the call.
        kwargs: of the call.
        device: whether each tensor has to be where the example's was.
    """
    specs = [
        input_spec
        for input_spec in program.graph_signature.input_specs
        if input_spec.kind is InputKind.USER_INPUT
    ]
    entries = [entry for entry in record.signature.inputs if entry.kind == "user_input"]
    try:
        values = flat_leaves(program, args, kwargs)
    except KeyError as error:
        return f"the argument {error} is missing"
    if len(values) != len(specs):
        names = ", ".join(entry.path or entry.name for entry in entries)
        return f"they are {len(values)} values, but the program accepts {len(specs)}: {names}"
    leaves = [
        _Leaf(entry.path or entry.name, spec, value)
        for entry, spec, value in zip(entries, specs, values, strict=True)
    ]
    traced = {node.name: node.meta.get("val") for node in program.graph.nodes}
    for leaf in leaves:
        for reason in _find_type_mismatches(leaf, traced.get(leaf.spec.arg.name), device):
            return reason
    return _find_broken_rule(record, leaves)


def refusing_first(
    called: Callable[..., Any], program: torch.export.ExportedProgram, record: Record
) -> Callable[..., Any]:
    """A backend's loaded program, called only with inputs that the program accepts.

    Args:
        called: as the model is.
        program: the program that was compiled.
        record: the same, described.

    Raises:
        Rejected: from what is returned, if the program does not accept the call.
    """

    @wraps(called)
    def check_and_call(*args: Any, **kwargs: Any) -> Any:
        reason = find_refusal(program, record, args, kwargs, device=True)
        if reason:
            raise Rejected(f"the program rejects this call: {reason}")
        return called(*args, **kwargs)

    return check_and_call


def _find_type_mismatches(leaf: _Leaf, traced: Any, device: bool) -> Iterator[str]:
    """How the type of an input is not the example's."""
    path, value = f"`{leaf.path}`", leaf.value
    if isinstance(leaf.spec.arg, ConstantArgument):
        wanted: Any = leaf.spec.arg.value
        plain = isinstance(wanted, _PLAIN) and isinstance(value, (*_PLAIN, torch.Tensor))
        if plain and (type(value) is not type(wanted) or value != wanted):
            yield (
                f"{path} is {_short_repr(value)}, but the program has the constant "
                f"{_short_repr(wanted)}"
            )
        return
    if isinstance(traced, torch.Tensor):
        if not isinstance(value, torch.Tensor):
            yield f"{path} is {_short_repr(value)}, but the program accepts a tensor"
        elif value.dtype != traced.dtype:
            yield (
                f"{path} has {_short(value.dtype)}, but the program accepts {_short(traced.dtype)}"
            )
        elif value.dim() != traced.dim():
            yield f"{path} has {value.dim()} dims, but the program accepts {traced.dim()}"
        elif value.layout != traced.layout:
            yield (
                f"{path} is {_short(value.layout)}, but the program accepts {_short(traced.layout)}"
            )
        elif device and full_name(str(value.device)) != full_name(str(traced.device)):
            yield f"{path} is on {value.device}, but the program accepts it on {traced.device}"
    elif isinstance(traced, torch.SymInt) and (isinstance(value, bool) or type(value) is not int):
        yield f"{path} is {_short_repr(value)}, but the program accepts an int"


def _find_broken_rule(record: Record, leaves: list[_Leaf]) -> str:
    """The first rule on sizes that a call breaks, with the sizes that it is about."""
    numbers = [
        number for number, entry in enumerate(record.signature.inputs) if entry.kind == "user_input"
    ]
    by_entry = dict(zip(numbers, leaves, strict=True))
    sizes: list[int] = []
    for probe_input in record.probe.inputs:
        value = by_entry[probe_input.entry].value
        size = value if probe_input.dim < 0 else value.shape[probe_input.dim]
        if not isinstance(size, int):
            return ""  # of a nested tensor, which has no number there
        sizes.append(size)
    result = probe_sizes(record.probe, sizes)
    if result.verdict != "refused":
        return ""
    rule = result.broken[0]
    text = " and ".join(f"{_place(record, number)} is {sizes[number]}" for number in _places(rule))
    return f"{text}, but the program requires {rule.text}"


def _place(record: Record, number: int) -> str:
    """A size in the user's terms: `batch, x.shape[0],` where it has a name."""
    size = record.probe.inputs[number]
    name = record.symbols[size.symbol].name if size.symbol >= 0 else size.text
    plain = name == size.text or (size.scale, size.offset) != (1, 0)
    return size.text if plain else f"{name} ({size.text})"


def _places(rule: Rule) -> list[int]:
    """The sizes that a rule is about, by their numbers in the probe."""
    names = [str(item) for item in rule.formula]
    numbers = [int(name[1:]) for name in names if name[:1] == "d" and name[1:].isdecimal()]
    return list(dict.fromkeys(numbers))


def _short(value: object) -> str:
    return str(value).removeprefix("torch.")


def _short_repr(value: Any) -> str:
    return "a tensor" if isinstance(value, torch.Tensor) else f"{value!r:.40}"
