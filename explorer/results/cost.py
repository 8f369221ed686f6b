"""The cost of a program at any sizes, from its Record: `ex.cost()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from explorer.session.session import Session
from explorer.text.cost_text import format_cost
from explorer.text.escape import harmless
from export_engine.source import find_last_user_frame

if TYPE_CHECKING:
    from explorer.results.runs import OpCosts
    from export_engine.cost import (
        Amount,
        CostAt,
        Device,
        Loop,
        OpCost,
        Overtaking,
        ProgramCost,
        TrainingCost,
    )
    from export_engine.progress import Progress
    from export_engine.record import Record
    from export_engine.run import Inputs, Sizes


_HERE = frozenset({"cpu", "cuda", "mps", "xpu"})
"""Kinds of devices by torch's names; of one that this machine has, the limits are measured."""


def measure_device(device: str = "cpu") -> Device:
    """The limits of a device of this machine, measured in about a second; for `cost.on(...)`.

    FLOP/s of a product of float32 matrices of 1,024, and bytes/s of a copy of 64 MB.

    Args:
        device: as torch names it, `"cuda"`.

    Raises:
        WrongArgument: torch reports no such device here.
    """
    from export_engine.cost import Device
    from export_engine.plain_errors import WrongArgument
    from export_engine.run import full_name, measure_speed, missing_device

    missing = missing_device(device)
    if missing:
        raise WrongArgument(missing)
    flops, bandwidth = measure_speed(full_name(device))
    return Device(f"{device}, measured", flops, bandwidth)


class Estimate:
    """An estimated time on a device, from counts only; not a measurement.

    Each op takes the longer of computing its FLOPs and of moving its bytes.
    """

    def __init__(self, device: Device, record: Record, cost: ProgramCost, at: CostAt) -> None:
        """Make one; `Cost.on` does.

        Args:
            device: its limits.
            record: of the program.
            cost: of it.
            at: the same at some sizes.
        """
        self.device = device
        self._names = [op.name for op in cost.ops]
        times = [
            (device.seconds(flops, read + written), flops / device.flops)
            for flops, read, written in at.per_op
        ]
        self.seconds: float = sum(time for time, _ in times)
        self.per_op: dict[str, float] = dict(
            zip(self._names, (time for time, _ in times), strict=True)
        )
        """Seconds of each op, by its node's name."""
        self.bound_by_memory: tuple[str, ...] = tuple(
            name
            for name, (time, computing) in zip(self._names, times, strict=True)
            if time > computing
        )
        """The ops that wait for memory, by their nodes' names."""
        self.fits: bool | None = at.total_bytes <= device.memory if device.memory else None
        """Whether weights, inputs and the peak fit; None where the device's memory is not known."""

    def __repr__(self) -> str:
        share = sum(self.per_op[name] for name in self.bound_by_memory) / (self.seconds or 1)
        fits = {True: ", fits", False: ", does not fit", None: ""}[self.fits]
        return harmless(
            f"Estimate, not measured: {self.seconds:.3g} s on {self.device.name}"
            f" ({self.device.flops / 1e12:.3g} TFLOP/s, {self.device.bandwidth / 1e12:.3g} TB/s)"
            f"; {share:.0%} bound by memory{fits}"
        )


class Cost:
    """FLOPs, bytes, parameters and live memory as formulas of the named sizes. `print` it.

    Nothing was run. `cost.at(batch=8)` returns numbers.
    """

    def __init__(self, session: Session, number: int) -> None:
        """Make one.

        Args:
            session: whose program.
            number: the attempt's.

        Raises:
            WrongArgument: its export failed.
        """
        from export_engine.cost import cost_of

        self._session = session
        self._number = number
        self._record = session.entries[number].record
        self._cost: ProgramCost = cost_of(self._record)

    @property
    def flops(self) -> Amount:
        """FLOPs of all ops that are counted, as a formula: `512*batch*seq**2 + …`."""
        return self._cost.flops

    @property
    def bytes(self) -> Amount:
        """Bytes that ops read and write, as a formula."""
        return self._cost.read + self._cost.written

    @property
    def parameters(self) -> int:
        """The number of elements of the program's parameters."""
        return self._cost.parameters

    @property
    def ops(self) -> tuple[OpCost, ...]:
        """The ops of the main graph, each with its cost."""
        return self._cost.ops

    @property
    def unknown(self) -> dict[str, int]:
        """The ops whose FLOPs are not known, with how often each is called. They add nothing."""
        return self._cost.unknown

    def at(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> CostAt:
        """The cost at given sizes; a size that is not given is that of the example.

        Args:
            sizes: by name, `{"x.shape[0]": 4}`.
            **named: the same for names that Python allows: `batch=4`.

        Raises:
            WrongArgument: there is no such size, it is not an int, or it is needed and not given.
        """
        return self._cost.at(sizes, **named)

    @property
    def training(self) -> TrainingCost:
        """The cost of each pass of a training step, what is saved for the backward pass, and more.

        Raises:
            WrongArgument: the graph is not a training step; `explore(joint=True)` traces one.
        """
        from export_engine.cost import training_cost_of

        return training_cost_of(self._record)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Loops whose number of iterations depends on values, with the cost of one iteration."""
        return self._cost.loops

    def overtakings(self, size: str, **sizes: int) -> list[Overtaking]:
        """The value of a size from which a different kind of op has the most FLOPs.

        Args:
            size: the size that grows, by name.
            **sizes: the others; by default those of the example.

        Raises:
            WrongArgument: there is no such size.
        """
        from export_engine.cost import find_overtakings

        return find_overtakings(self._cost, size, sizes)

    def largest(self, size: str, gigabytes: float, **sizes: int) -> int | None:
        """The largest value of a size at which weights, inputs and the peak fit into memory.

        Args:
            size: the size that grows, by name.
            gigabytes: of 10**9 bytes.
            **sizes: the others; by default those of the example.

        Returns:
            The value; None if not even the smallest one fits.

        Raises:
            WrongArgument: there is no such size.
        """
        from export_engine.cost import find_largest

        return find_largest(self._cost, size, int(gigabytes * 10**9), sizes)

    def on(self, device: str | Device | tuple[float, float], /, **sizes: int) -> Estimate:
        """An estimate of the time on a device by its roofline. The program is not run.

        Args:
            device: `"A100"`; a device of this machine, `"cpu"` or `"cuda"`, whose limits are
                measured in about a second; a Device; or FLOP/s and bytes/s.
            **sizes: by default those of the example.

        Raises:
            WrongArgument: there is no such device or size.
        """
        from export_engine.cost import device_of

        if isinstance(device, str) and device.partition(":")[0] in _HERE:
            device = measure_device(device)
        return Estimate(device_of(device), self._record, self._cost, self.at(sizes))

    def measure(
        self,
        device: str = "cpu",
        *,
        inputs: Inputs = None,
        sizes: Sizes = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> OpCosts:
        """Runs the program, and measures time and memory of each op; the view also shows it.

        Args:
            device: where to run it.
            inputs: as `run` of an Exploration takes them.
            sizes: as `run` takes them; of several, the first is used.
            progress: called before each run.

        Raises:
            FixError: there is no such device, input or size, or the program raises an error.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from explorer.results.runs import profile

        return profile(self._session, self._number, device, inputs, sizes, progress)

    def by_module(self, depth: int | None = None) -> dict[str, Amount]:
        """FLOPs per module path; with a depth, of its first so many parts."""
        return self._cost.by_module(depth)

    def by_line(self) -> dict[tuple[str, int], Amount]:
        """FLOPs per line of code outside of torch: file and line."""
        graph, totals = self._record.graphs[0], dict[tuple[str, int], "Amount"]()
        for op in self.ops:
            frame = find_last_user_frame(self._record, graph.stack[op.node])
            if frame is None or op.cost.flops is None:
                continue
            place = frame.name, frame.line
            totals[place] = totals[place] + op.cost.flops if place in totals else op.cost.flops
        return totals

    def __repr__(self) -> str:
        return harmless("\n".join(format_cost(self._record, self._cost)))
