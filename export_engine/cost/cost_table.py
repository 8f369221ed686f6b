"""A program's cost as one small table, which a page evaluates at any sizes without a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from export_engine.cost.amount import Amount, Factor, Product
from export_engine.cost.devices import DEVICES
from export_engine.cost.op_cost import NOTHING
from export_engine.cost.program_cost import ProgramCost


class AmountTable(Struct):
    """Amounts, one after the other: each is the sum of its scales times its products."""

    starts: list[int]
    """Where each amount begins in `products` and `scales`, and the end of the last."""
    products: list[int]
    scales: list[int]


class DeviceRow(Struct):
    """A device of `devices.DEVICES`."""

    name: str
    flops: float
    """FLOPs a second."""
    bandwidth: float
    """Bytes a second."""
    memory: int
    """Bytes."""


class CostTable(Struct):
    """The cost of a program, as formulas of the Record's symbols."""

    factors: list[list[float | str]]
    """Sizes and expressions of them, in postfix order; `d0` is the first symbol."""
    products: list[list[int]]
    """Each as factors with their powers: `[factor, power, factor, power]`."""
    nodes: list[int]
    """The ops of the main graph, by their nodes."""
    unknown: list[int]
    """Places in `nodes` of ops whose FLOPs are not known; they add 0."""
    flops: AmountTable
    read: AmountTable
    """Bytes."""
    written: AmountTable
    """Bytes."""
    makers: list[int]
    """Nodes that make tensors, in the order of the graph."""
    lasts: list[int]
    """The node that reads each of them last, also through views."""
    held: AmountTable
    """Bytes of each."""
    scratch: AmountTable
    """Per entry of `nodes`, bytes that the op allocates inside, and frees before it ends."""
    inputs: AmountTable
    """Bytes of the user's inputs: one amount."""
    parameters: int
    """Elements."""
    weights: int
    """Bytes of parameters, buffers and constants."""
    devices: list[DeviceRow]


def table_of(cost: ProgramCost) -> CostTable:
    """The table of a program's cost.

    Args:
        cost: of the program.
    """
    writer = _Writer()
    helds = [held for held in cost.held if held.bytes is not None]
    costs = [op.cost for op in cost.ops]
    table = CostTable(
        factors=[],
        products=[],
        nodes=[op.node for op in cost.ops],
        unknown=[at for at, item in enumerate(costs) if item.flops is None],
        flops=writer.table(item.flops for item in costs),
        read=writer.table(item.read for item in costs),
        written=writer.table(item.written for item in costs),
        makers=[held.node for held in helds],
        lasts=[held.last for held in helds],
        held=writer.table(held.bytes for held in helds),
        scratch=writer.table(item.scratch for item in costs),
        inputs=writer.table([cost.inputs]),
        parameters=cost.parameters,
        weights=cost.weights,
        devices=[DeviceRow(*device) for device in DEVICES],
    )
    table.products = writer.products()
    table.factors = writer.factors()
    return table


class _Writer:
    """Numbers the products and factors that amounts share."""

    def __init__(self) -> None:
        self._products: dict[Product, int] = {}
        self._factors: dict[Factor, int] = {}

    def table(self, amounts: Iterable[Amount | None]) -> AmountTable:
        starts, products, scales = [0], list[int](), list[int]()
        for amount in amounts:
            for product, scale in (amount or NOTHING).terms.items():
                products.append(self._products.setdefault(product, len(self._products)))
                scales.append(scale)
            starts.append(len(products))
        return AmountTable(starts, products, scales)

    def products(self) -> list[list[int]]:
        return [self._number_factors(product) for product in self._products]

    def factors(self) -> list[list[float | str]]:
        """To be asked for last: `products` numbers them."""
        return [[*factor.formula] for factor in self._factors]

    def _number_factors(self, product: Sequence[tuple[Factor, int]]) -> list[int]:
        numbers: list[int] = []
        for factor, power in product:
            numbers += (self._factors.setdefault(factor, len(self._factors)), power)
        return numbers
