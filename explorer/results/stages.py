"""The stages of a compiled program, from lines to kernels and times: `ex.stages()`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.results.shown_data import ShownData
from explorer.session.session import FixError, Session
from explorer.text.escape import harmless
from explorer.text.stages_text import (
    kernel_details,
    kernel_line,
    kernel_nodes,
    stages_lines,
)
from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from export_engine.progress import Progress
    from export_engine.record import Kernel, Record, Stages
    from export_engine.stages import LineSet, LineTime, StagesDiff


class StagesResult(ShownData):
    """The stages of a program after export. `print` it; the view has them under Stages.

    `.kernel(name)` is one kernel, `.of(line)` lists the kernels of a line, and `.diff(other)`
    compares with another compilation.
    """

    def __init__(self, record: Record | None, stages: Stages) -> None:
        """Make one.

        Args:
            record: of the program; None where it is not at hand.
            stages: of it.
        """
        self._record = record
        self.data: Stages = stages
        """The stages as plain data, joined with the Record by numbers of nodes."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels in the order in which they are called."""
        return tuple(self.data.kernels)

    @property
    def slowest(self) -> list[LineSet]:
        """Sets of lines with their kernels' time in µs; each kernel is in exactly one set."""
        from export_engine.stages import times_by_line_set

        return times_by_line_set(self.data)

    @property
    def by_line(self) -> list[LineTime]:
        """Per line, the µs of kernels that are its own, and of those that it shares."""
        from export_engine.stages import times_by_line

        return times_by_line(self.data)

    def kernel(self, name: str) -> KernelResult:
        """One kernel. `print` it: its ops, its lines, and its call in the generated code.

        Args:
            name: `cpp_fused_gelu_0:2`, or without the number of the call if there is one call.

        Raises:
            WrongArgument: there is no such kernel, or several calls of it.
        """
        names = [item.name for item in self.data.kernels]
        numbers = [n for n, text in enumerate(names) if text == name]
        numbers = numbers or [n for n, text in enumerate(names) if text.rpartition(":")[0] == name]
        if not numbers:
            raise WrongArgument(f"There is no kernel {name!r}. The kernels: {', '.join(names)}.")
        if len(numbers) > 1:
            calls = ", ".join(names[n] for n in numbers)
            raise WrongArgument(f"{name!r} is called {len(numbers)} times: {calls}. Name one call.")
        return KernelResult(self._record, self.data, numbers[0])

    def of(self, line: int | str) -> list[KernelResult]:
        """The kernels that compute for a line, in the order of their calls.

        Args:
            line: `12`, or `net.py:12` where the program has lines of several files.

        Raises:
            WrongArgument: no kernel computes for this line.
        """
        file, _, number = str(line).rpartition(":")
        wanted = {
            n
            for n, stage_line in enumerate(self.data.lines)
            if str(stage_line.line) == number
            and (not file or stage_line.name in (file, Path(file).name))
        }
        kernel_results = [
            KernelResult(self._record, self.data, n)
            for n, kernel in enumerate(self.data.kernels)
            if wanted & set(kernel.lines)
        ]
        if not kernel_results:
            text = ", ".join(
                f"{stage_line.name}:{stage_line.line}" for stage_line in self.data.lines
            )
            raise WrongArgument(f"No kernel computes for line {line}. Lines with kernels: {text}.")
        return kernel_results

    def diff(self, after: StagesResult) -> StagesDiff:
        """The differences from another compilation. `print` it.

        Args:
            after: the later one, of this program or of another version of the model.
        """
        from export_engine.stages import compare_stages

        return compare_stages(self.data, after.data, (self._record, after._record))

    def __repr__(self) -> str:
        return harmless("\n".join(stages_lines(self._record, self.data)))


class KernelResult:
    """One kernel of a program's compiled code. `print` it."""

    def __init__(self, record: Record | None, stages: Stages, number: int) -> None:
        """Make one.

        Args:
            record: of the program; None where it is not at hand.
            stages: of it.
            number: the kernel's, into `stages.kernels`.
        """
        self._record = record
        self._stages = stages
        self._number = number

    @property
    def data(self) -> Kernel:
        """The kernel as plain data."""
        return self._stages.kernels[self._number]

    @property
    def name(self) -> str:
        """`cpp_fused_gelu_0:2`."""
        return self.data.name

    @property
    def nodes(self) -> list[str]:
        """The ops of the exported program that it computes, by name."""
        return kernel_nodes(self._record, self.data)

    @property
    def lines(self) -> list[str]:
        """The lines that it computes for: `net.py:12`."""
        rows = [self._stages.lines[line] for line in self.data.lines]
        return [f"{row.name}:{row.line}" for row in rows]

    @property
    def remarks(self) -> list[str]:
        """Why the kernel exists, if that may be unexpected."""
        return [remark.text for remark in self._stages.remarks if remark.kernel == self._number]

    @property
    def code(self) -> str:
        """The generated code of its definition; of a library's kernel, the line that calls it."""
        kernel = self.data
        if kernel.body >= 0:
            rows = self._stages.codes[kernel.body].text.splitlines()[kernel.body_line - 1 :]
            ends = (n for n, row in enumerate(rows) if row.startswith(("''')", "}")))
            return "\n".join(rows[: next(ends, len(rows)) + 1])
        if kernel.code < 0:
            return ""
        return self._stages.codes[kernel.code].text.splitlines()[kernel.call_line - 1].strip()

    def __str__(self) -> str:
        return harmless("\n".join(kernel_details(self._record, self._stages, self._number)))

    def __repr__(self) -> str:
        return harmless(kernel_line(self._stages, self._number).strip())


def read_stages(path: str | Path) -> StagesResult | list[StagesResult]:
    """The kernels of an earlier compilation, as data. `print` the result.

    No code in it is loaded, and torch is not imported.

    Args:
        path: of an AOTInductor package, of a `.pt2` file with one in it, or of a folder that
            TORCH_TRACE named. Of several compilations in it, a list.

    Raises:
        ArchiveError: it cannot be read, or does not list its kernels.
    """
    from export_engine.stages import read_stages as read_here

    stages_results = [StagesResult(None, stages) for stages in read_here(Path(path))]
    return stages_results[0] if len(stages_results) == 1 else stages_results


def compile_stages(
    session: Session,
    number: int,
    backend: str = "inductor",
    device: str = "cpu",
    inputs: Any = None,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> StagesResult:
    """Compiles the program of an attempt, and adds its stages to its Record.

    Raises:
        FixError: it has no program, it does not compile, or there is no such backend or input.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.attempt import GivenGraph
    from export_engine.stages import StagesMissing
    from export_engine.stages import compile_stages as compile_here

    attempt = session.attempt(number, "compile", progress)
    if not isinstance(attempt, GivenGraph):
        attempt = session.require_exported(number, "compile", progress)
    record = session.entries[number].record
    try:
        stages = compile_here(attempt, record, backend, device, inputs, options, progress)
    except (ValueError, MemoryError, StagesMissing) as error:
        raise FixError(str(error)) from error
    session.keep(number, stages=(*session.entries[number].stages, stages))
    return StagesResult(session.entries[number].record, stages)
