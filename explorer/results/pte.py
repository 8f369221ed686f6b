"""An ExecuTorch `.pte` file, opened as data: `explorer.load("model.pte")`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.results.shown_data import ShownData
from explorer.text.attempt_text import cut, format_count, pair
from explorer.text.escape import harmless
from explorer.text.run_text import amount

if TYPE_CHECKING:
    from export_engine.archive import LoweredOp
    from export_engine.pte import Placed, Plan, PteProgram, Timed


class PteFile(ShownData):
    """The contents of a `.pte` file. `print` it; a notebook also shows its memory plan.

    Nothing in the file was run, and torch is not imported.
    """

    def __init__(self, path: str | Path) -> None:
        """Reads a file.

        Args:
            path: of it.

        Raises:
            PteError: it is not a `.pte`, or not a whole one.
            OSError: it cannot be read.
        """
        from export_engine.pte import read_pte

        self.path = Path(path)
        self.data: PteProgram = read_pte(self.path)
        """All of it as plain data."""

    @property
    def plans(self) -> tuple[Plan, ...]:
        """Its methods: operators, delegates, instructions, memory plan."""
        return tuple(self.data.plans)

    def read_run(
        self, etdump: str | Path, etrecord: str | Path | None = None, method: str = "forward"
    ) -> PteRun:
        """Times of a run, instruction by instruction. `print` it.

        Args:
            etdump: the file that the runtime wrote of a run.
            etrecord: the file that ExecuTorch wrote when it lowered the program, for ops and lines.
            method: the one that ran.

        Raises:
            PteError: the file has no such method, or `etdump` is not an ETDump.
            ArchiveError: `etrecord` is not an ETRecord with this method.
            OSError: a file cannot be read.
        """
        from export_engine.archive import read_lowered_ops
        from export_engine.pte import PteError, read_etdump

        plan = next((plan for plan in self.plans if plan.name == method), None)
        if plan is None:
            names = ", ".join(plan.name for plan in self.plans)
            raise PteError(f"{self.path.name} has no method {method!r}. It has {names}.")
        times = read_etdump(etdump)
        strange = [at for at in times if at >= len(plan.instructions)]
        if strange:
            raise PteError(
                f"{Path(etdump).name} times instruction {strange[0]}, and {method} of "
                f"{self.path.name} has only {len(plan.instructions)}: it belongs to a different "
                "program."
            )
        ops = read_lowered_ops(etrecord, method) if etrecord is not None else {}
        return PteRun(plan, times, ops)

    def __repr__(self) -> str:
        return harmless("\n".join(pte_lines(self.path.name, self.data)))

    def _repr_html_(self) -> str:
        pictures = "".join(memory_plan_svg(plan) for plan in self.data.plans)
        style = "white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
        return f'<pre style="{style}">{escape(repr(self))}</pre>{pictures}'


class PteRun:
    """How long each instruction of a `.pte` took, with its ops and lines. `print` it."""

    def __init__(
        self, plan: Plan, times: Mapping[int, Timed], ops: Mapping[int, list[LoweredOp]]
    ) -> None:
        """Make one; `PteFile.read_run` does."""
        self.plan = plan
        self.times = dict(times)
        """Per instruction; `.typical` is the median in microseconds, `.parts` are inner ops."""
        self.ops = dict(ops)
        """Per instruction, the ops of the lowered program, each with its user's line."""

    @property
    def microseconds(self) -> float:
        """The medians of all instructions, added up."""
        return sum(timed.typical for timed in self.times.values())

    def __repr__(self) -> str:
        return harmless("\n".join(self._iter_lines()))

    def _iter_lines(self) -> Iterator[str]:
        calls = max((len(timed.microseconds) for timed in self.times.values()), default=0)
        yield (
            f"Method {self.plan.name}, {format_count(calls, 'call')}: "
            f"{self.microseconds:,.1f} µs in instructions, medians"
        )
        ordered = sorted(self.times.items(), key=lambda each: -each[1].typical)
        for at, timed in ordered:
            runs = self.plan.instructions[at].runs or self.plan.instructions[at].kind
            yield cut(f"  {timed.typical:10,.1f} µs  instruction {at}: {runs}")
            for op in self.ops.get(at, []):
                place = f"  {Path(op.file).name}:{op.line}" if op.line else ""
                origin = f" of {op.origin}" if op.origin else ""
                yield cut(f"                 {op.target}{origin}{place}")
            for part in timed.parts:
                yield cut(f"                 {part.typical:,.1f} µs  {part.name}")


_FEW = 12
_WIDE, _HIGH = 640, 220
_MOST_BOXES = 2_000


def pte_lines(name: str, program: PteProgram) -> list[str]:
    """The file, then each of its methods."""
    lines = [
        f"{name}: ExecuTorch program, {amount(program.bytes)}, schema {program.identifier}. "
        "Nothing in it was run.",
        pair("constants", f"{program.constants}, {amount(program.constant_bytes)}"),
        pair("segments", amount(program.segment_bytes)),
    ]
    if program.named_data:
        lines.append(pair("shared data", f"{len(program.named_data)} named"))
    for plan in program.plans:
        lines += _plan_lines(plan)
    return lines


def _plan_lines(plan: Plan) -> Iterator[str]:
    yield (
        f"Method {plan.name}: {format_count(plan.inputs, 'input')}, "
        f"{format_count(plan.outputs, 'output')}, "
        f"{format_count(len(plan.instructions), 'instruction')}"
    )
    for number, delegate in enumerate(plan.delegates[:_FEW]):
        yield cut(
            f"  delegate {number}: {delegate.backend}, {amount(delegate.bytes)}{_ops(delegate.ops)}"
        )
    if len(plan.delegates) > _FEW:
        yield f"  and {format_count(len(plan.delegates) - _FEW, 'more delegate')}"
    kernels = Counter(
        instruction.runs for instruction in plan.instructions if instruction.kind == "kernel"
    )
    if kernels:
        yield "  kernels that the runtime must have:"
        yield from _rows(kernels)
    arenas = [size for size in plan.arenas if size]
    yield pair("memory plan", f"{amount(sum(arenas))} in {format_count(len(arenas), 'arena')}")
    if plan.placed:
        largest = max(plan.placed, key=lambda each: each.bytes)
        yield pair("largest tensor", f"{_format_type(largest)}, {amount(largest.bytes)}")


def _rows(kernels: Mapping[str, int]) -> Iterator[str]:
    rows = sorted(kernels.items(), key=lambda each: (-each[1], each[0]))
    for name, count in rows[:_FEW]:
        yield cut(f"    {name} ×{count}")
    if len(rows) > _FEW:
        yield f"    and {format_count(len(rows) - _FEW, 'more')}"


def _ops(ops: list[str]) -> str:
    told = ", ".join(f"{name} ×{count}" for name, count in Counter(ops).most_common())
    return f": {told}" if told else ""


def _format_type(placed: Placed) -> str:
    return f"{placed.dtype}[{', '.join(map(str, placed.shape))}]"


def memory_plan_svg(plan: Plan) -> str:
    """The memory plan: time from left to right, addresses from top to bottom, a box a tensor."""
    parts = [_arena_svg(plan, number) for number, size in enumerate(plan.arenas) if size > 0]
    return "".join(parts)


def _arena_svg(plan: Plan, number: int) -> str:
    size = max(plan.arenas[number], 1)
    steps = max(len(plan.instructions), 1)
    own = [item for item in plan.placed if item.arena == number and item.first >= 0][:_MOST_BOXES]
    boxes = "".join(
        f'<rect x="{_WIDE * item.first / steps:.1f}" y="{_HIGH * item.offset / size:.1f}" '
        f'width="{max(_WIDE * (item.last + 1 - item.first) / steps, 1):.1f}" '
        f'height="{max(_HIGH * item.bytes / size, 1):.1f}" fill="#4a7fb5" fill-opacity="0.55" '
        f'stroke="currentColor" stroke-width="0.5"><title>{escape(_format_type(item))}, '
        f"{escape(amount(item.bytes))} at {item.offset}, instructions {item.first} to {item.last}"
        "</title></rect>"
        for item in own
        if 0 <= item.offset < size
    )
    title = escape(
        f"{plan.name}, arena {number}: {amount(size)}, {format_count(len(own), 'tensor')}"
    )
    return (
        f'<figure role="img" aria-label="Memory plan of {title}"><figcaption>{title}; instructions '
        f'from left to right, addresses from top to bottom</figcaption><svg viewBox="0 0 {_WIDE} '
        f'{_HIGH}" width="{_WIDE}" style="max-width:100%;color:inherit;border:1px solid '
        f'currentColor">{boxes}</svg></figure>'
    )
