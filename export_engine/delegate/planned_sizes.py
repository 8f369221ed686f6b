"""Sizes without an upper bound: a backend that plans memory ahead takes the example's for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from export_engine.attempt import Exported
from export_engine.capture import capture
from export_engine.delegate.backend import DelegationBackend
from export_engine.record import Record, Symbol
from export_engine.shapes import Bounds

_TIMES = 8
"""At least how many times the example's size a bound allows."""


@dataclass(frozen=True)
class SizeBound:
    """A fix that exports the call again with upper bounds for sizes that have none."""

    title: str
    gain: str
    bounds: Mapping[str, Bounds]
    """By the name of the dim."""
    kind: str = "bound"
    keeps_all = False

    def export(self, attempt: Exported) -> Exported | None:
        """The attempt with these bounds; None where it fails."""
        request = attempt.request
        if request is None or request.shapes is None:
            return None
        shapes = replace(request.shapes, bounds={**request.shapes.bounds, **self.bounds})
        bounded = capture(request.with_changes(shapes=shapes))
        return bounded if isinstance(bounded, Exported) else None


def find_size_bound(
    attempt: Exported, record: Record, backend: DelegationBackend
) -> SizeBound | None:
    """The bounds that a program lacks for a backend; None where it lacks none.

    Args:
        attempt: the program's; only one that its request gives can be exported again.
        record: its Record.
        backend: that lowers it.
    """
    request = attempt.request
    is_as_exported = not attempt.given and attempt.level is None
    if request is None or request.shapes is None or not is_as_exported:
        return None
    dims = request.shapes.dims()
    sizes = {name: size for name, size in _find_unbounded(record, backend) if name in dims}
    if not sizes:
        return None
    most = {name: 1 << (_TIMES * size - 1).bit_length() for name, size in sizes.items()}
    return SizeBound(
        title=f"Bound {', '.join(f'{name} ≤ {size}' for name, size in most.items())}",
        gain=f"memory planned for {_list_sizes(most)}, not {_list_sizes(sizes)}",
        bounds={name: Bounds(dims[name].low, size) for name, size in most.items()},
    )


def list_unplanned_sizes(record: Record, backend: DelegationBackend) -> Iterator[str]:
    """Notes on sizes without an upper bound, for a backend that plans memory ahead."""
    sizes = dict(_find_unbounded(record, backend))
    if sizes:
        verb = "has" if len(sizes) == 1 else "have"
        yield (
            f"{', '.join(f'`{name}`' for name in sizes)} {verb} no upper bound. "
            f"ExecuTorch plans memory for {_list_sizes(sizes)}, and its runtime rejects more."
        )


def _list_sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def _find_unbounded(record: Record, backend: DelegationBackend) -> Iterator[tuple[str, int]]:
    """The sizes of inputs without an upper bound, each with the example's."""
    if getattr(backend, "plans_memory", False):
        yield from (
            (symbol.name, symbol.example or 0) for symbol in record.symbols if _is_open(symbol)
        )


def _is_open(symbol: Symbol) -> bool:
    return symbol.upper is None and symbol.kind == "backed" and bool(symbol.example)
