"""What the page shows of a tensor: it is fetched, and two of its axes are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.session.session import FixError, Session

if TYPE_CHECKING:
    import torch

    from explorer.page.messages import TensorRequest
    from export_engine.record import Record, TensorSlice


def tensor_slice(session: Session, asked: TensorRequest) -> TensorSlice:
    """A part of what a node of an attempt's program gave, in the run that was watched or compared.

    Raises:
        FixError: nothing was run yet, the node gives no tensor, or has no partner.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.values import StepFailed, slice_tensor

    record = session.entries[asked.attempt].record
    if not 0 <= asked.node < len(record.graphs[asked.graph].name):
        raise FixError(f"There is no node {asked.node} in this graph. Run the cell again.")
    try:
        value = _fetch_tensor(session, asked)
    except (LookupError, StepFailed) as error:
        raise FixError(str(error)) from error
    axes = _axes(record, asked.graph, asked.node, value)
    return slice_tensor(value, axes, asked.rows, asked.columns, asked.index, asked.cell)


def _fetch_tensor(session: Session, asked: TensorRequest) -> torch.Tensor:
    entry = session.entries[asked.attempt]
    if asked.side != "one":
        if entry.compared is None:
            raise FixError("Compare with another run first.")
        one, other = entry.compared.tensors(asked.node, asked.graph)
        return other if asked.side == "other" else one.double() - other.double()
    if entry.watched is None:
        if entry.compared is None:
            raise FixError("Record a run first.")
        return entry.compared.tensors(asked.node, asked.graph)[0]
    exported = session.exported(asked.attempt, "run")
    return entry.watched.tensor(exported, asked.node, asked.graph)


def _axes(record: Record, graph: int, node: int, value: torch.Tensor) -> list[str]:
    """The names of a tensor's axes: its symbolic sizes, and else their numbers."""
    number = record.graphs[graph].type[node]
    sizes = record.types[number].shape if number >= 0 else []
    if len(sizes) != value.dim():
        return [f"axis {axis}" for axis in range(value.dim())]
    return [size if isinstance(size, str) else f"axis {axis}" for axis, size in enumerate(sizes)]
