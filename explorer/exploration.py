"""The Exploration: the object that `%export` and `explorer.explore` return."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from explorer.display.pane_view import Pane, View
from explorer.old_names import OldNames
from explorer.session.session import FixError, Session
from explorer.text.escape import harmless
from export_engine.plain_errors import PlainError

if TYPE_CHECKING:
    import torch

    from explorer.results.compared_runs import ComparedRuns, Run
    from explorer.results.cost import Cost
    from explorer.results.delegation import DelegationResult, OpTableResult
    from explorer.results.matches import Matches
    from explorer.results.quantization import Quantized
    from explorer.results.recorded_values import WatchedRun
    from explorer.results.reproduction import Reproduced
    from explorer.results.runs import Runs
    from explorer.results.stages import StagesResult
    from explorer.session.session import Table
    from explorer.text.release_verdict import Release
    from export_engine.attempt import Diagnosis, Fix
    from export_engine.findings import Finding
    from export_engine.fixes import AutofixReport
    from export_engine.progress import Progress
    from export_engine.record import ProbeResult, Record
    from export_engine.run import Inputs, Sizes
    from export_engine.shapes import FormName
    from export_engine.verify import Verified


class ExportFailed(PlainError, RuntimeError):
    """Raised when a failed export is asked for its program.

    Python prints the sentence alone: an error of torch would be printed above it.
    """

    error: BaseException | None = None
    """The error of torch, if the attempt still holds it."""


class Exploration(OldNames):
    """An export with all its results.

    Show it by leaving it on the last line of a cell; `view(pane="graph")` shows one pane.
    """

    def __init__(self, session: Session) -> None:
        """Make one.

        Args:
            session: its attempts; `session.entry` is the current one.
        """
        self.session = session

    @property
    def program(self) -> torch.export.ExportedProgram:
        """The ExportedProgram; for a file, loaded on first use.

        Raises:
            ExportFailed: the export failed.
            NotTrusted: the file is not trusted.
            FixError: this torch cannot load it from the file.
        """
        self._require("program")
        return self.session.require_exported(self.session.current, "use").program

    def trust(self) -> Self:
        """Trusts the file that was opened as data, and loads its program.

        Do so only if you know who made the file: loading a hostile program can run code. The same
        file, unchanged, stays trusted on this machine.

        Raises:
            FixError: the file has changed since it was opened, or torch cannot load its program.
        """
        self.session.trust(self.session.current)
        return self

    @property
    def ok(self) -> bool:
        """Whether there is a program."""
        return self.record.outcome == "exported"

    @property
    def record(self) -> Record:
        """Everything that a view shows, as plain data."""
        return self.session.entry.record

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Why the export failed; None if it succeeded."""
        if self.ok:
            return None
        from export_engine.attempt import Failed

        attempt = self.session.entry.attempt
        return attempt.diagnosis if isinstance(attempt, Failed) else None

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Fixes of the failure, lossless first; of a success, the fixes of its findings."""
        return self.session.entry.fixes

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong or surprising about an export that succeeded, most severe first."""
        return self.session.entry.findings

    def decompose(
        self, table: Table = "core", progress: Callable[[Progress], None] | None = None
    ) -> Self:
        """Decomposes the program; the decomposed one becomes the current attempt.

        Args:
            table: `core` (Core ATen), `none`, `core -conv2d -linear` (which keeps these two), or
                `only t transpose`; or a dict of functions by op, as for `run_decompositions`.
            progress: called for each op.

        Raises:
            FixError: there is no program, the table is invalid, or torch cannot decompose it.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        self.session.decompose(self.session.current, table, progress)
        return self

    def unsupported_ops(self, opset: Collection[str] | None = None) -> dict[str, int]:
        """The ops of the program that a backend lacks, with their call counts.

        Args:
            opset: names of the ops that it has, `aten.linear.default`, or `aten.linear` for all
                overloads; by default those of Core ATen.

        Raises:
            ExportFailed: the export failed.
        """
        from export_engine.transform import outside

        self._require("program")
        return dict(outside(self.record.graphs, self.record.targets, opset).most_common())

    def verify(
        self, sizes: int = 8, progress: Callable[[Progress], None] | None = None
    ) -> Verified:
        """Checks torch.export's guarantees on this program. `print` the result.

        Args:
            sizes: how many sizes within the contract to compare with eager at.
            progress: called before each check.

        Raises:
            ExportFailed: the export failed.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        self._require("program")
        return self.session.verify(self.session.current, sizes, progress)

    def run(
        self,
        device: str | Sequence[str] = "cpu",
        backend: str | Sequence[str] | None = None,
        *,
        inputs: Inputs = None,
        sizes: Sizes = None,
        folder: str | Path | None = None,
        on: Any = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Runs:
        """Runs the program and compares it with eager. `print` the result; the view shows the rows.

        Args:
            device: `cpu`, `cuda`, `cuda:1`, `mps`, `xpu`, or several. The model stays where it is.
            backend: `eager`, `program`, `inductor`, `aoti`, `onnx`, ..., several of them, or `all`
                that can run here. The first two by default.
            inputs: the positional arguments as a tuple, or values by path, `{"x": x}`, the others
                as in the example. The example's inputs by default.
            sizes: fresh inputs of these sizes, `{"batch": 4}`, or of several; a number draws as
                many sizes from the shape contract.
            folder: an existing folder for compiled programs; without it, they are deleted when this
                process exits.
            on: an ipyparallel client, to run on its engines instead of here.
            progress: called before each run.

        Raises:
            ExportFailed: the export failed.
            FixError: there is no such device, backend, input or size.
            KeyboardInterrupt: interrupted; finished runs are kept.
        """
        from explorer.results.runs import run
        from export_engine.run import Plan

        self._require("program")
        plan = Plan(
            devices=[device] if isinstance(device, str) else list(device),
            backends=backend,
            inputs=inputs,
            sizes=sizes,
            folder=Path(folder) if folder else None,
        )
        return run(self.session, self.session.current, plan, on, progress)

    def delegate(
        self,
        backend: str = "xnnpack",
        progress: Callable[[Progress], None] | None = None,
        *,
        measure: bool = False,
    ) -> DelegationResult:
        """Lowers a copy of the program; lists the ops that a backend takes or leaves, with reasons.

        `print` the result. The view colours the ops, and has the lowered program as a new attempt,
        whose partitions open. Nothing is run on a device.

        Args:
            backend: `xnnpack`, `onnxruntime`, `openvino`, `coreml`, `vulkan`, `arm`, `qualcomm`, or
                one that a package adds.
            measure: also run the lowered program with ExecuTorch's runtime here, and time its ops.
            progress: called as it begins.

        Raises:
            ExportFailed: the export failed.
            FixError: this backend is not available here, or it fails on this program.
        """
        from explorer.results.delegation import delegate

        self._require("program")
        return delegate(self.session, self.session.current, backend, progress, measure=measure)

    def op_table(self, *backends: str) -> OpTableResult:
        """A table of the ops that each delegation backend can take. Lowers nothing; `print` it.

        Args:
            backends: as for `delegate`; by default, all that are known here.

        Raises:
            ExportFailed: the export failed.
            FixError: there is no such backend.
        """
        from explorer.results.delegation import make_table

        self._require("program")
        return make_table(self.session, self.session.current, backends)

    def stages(
        self,
        backend: str = "inductor",
        *,
        inputs: Inputs = None,
        device: str = "cpu",
        options: Mapping[str, Any] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> StagesResult:
        """Compiles the program, and shows what it becomes: ops, kernels, their code and times.

        It takes as long as the compilation, tens of seconds, and a few seconds of warm calls.
        `print` the result: the ladder of stages, the slowest lines, the kernels. A kernel of
        several lines counts for all of them together. The view has a pane for it.

        Args:
            backend: `inductor`, as torch.compile runs it; `aoti`, compiled ahead of time; or
                `onnx`, `openvino` or `executorch`, for the nodes that the runtime runs, which takes
                seconds.
            inputs: see `run`.
            device: where to run it.
            options: of the compiler, as for `torch.compile(options=...)`.
            progress: called before each step.

        Raises:
            ExportFailed: the export failed.
            FixError: it does not compile, or there is no such backend, device, input or option.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from explorer.results.stages import compile_stages

        self._require("program")
        session = self.session
        return compile_stages(session, session.current, backend, device, inputs, options, progress)

    def record_values(
        self,
        inputs: Inputs = None,
        *,
        device: str = "cpu",
        sizes: Sizes = None,
        spill: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> WatchedRun:
        """Runs the program once, op by op, and records statistics of every value.

        Minimum, maximum, mean, standard deviation, norm, zeros, NaN, infinities, saturation and a
        histogram. `print` the result; the view colours the graph by it. Tensors are not stored:
        `result.tensor("linear")` computes one again. Large tensors are read in parts; the result
        prints the peak memory of values. Files leave the statistics out, except with `ex.save(path,
        values=True)`.

        Args:
            inputs: see `run`.
            device: where to run it.
            sizes: see `run`; of several, the first is used.
            spill: a folder to write every op's tensor to, instead of computing it again. The files
                are in a new subfolder, which is deleted at the next recorded run, when Python
                exits, or if the run fails or is interrupted.
            progress: called every hundred ops.

        Raises:
            ExportFailed: the export failed.
            FixError: the program raises an error, or there is no such device, input, size or
                folder, or its disk is full.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from explorer.results.recorded_values import watch

        self._require("program")
        return watch(self.session, self.session.current, device, inputs, sizes, progress, spill)

    def compare(
        self,
        other: Run = "eager",
        *,
        inputs: Inputs = None,
        device: str = "cpu",
        progress: Callable[[Progress], None] | None = None,
    ) -> ComparedRuns:
        """Runs the program and another one op by op, and shows where an error starts and grows.

        Ops are matched by provenance or by structure; ops without a match are not compared. Nested
        graphs, of a cond or a loop, are also compared: up to 64 calls of a node. `.left_out` lists
        the rest, with reasons. For a backend without per-op values, `run` compares the outputs.
        `explorer.diff` compares two programs without running them. `print` the result.

        Args:
            other: `"eager"`: the model, traced again at these inputs; `"decomposed"`, or a table
                of ops as `decompose` takes it; `"original"`: what this program was decomposed from;
                a dtype, `"bfloat16"`: this program in that dtype; a device,
                `"cuda"`; a backend that exposes per-op values, `"onnx"`, `"aoti"`, `"executorch"`:
                the program's ops run on the backend's inputs to them; or another result, or
                ExportedProgram, with the same inputs, such as the float program of a quantized one.
            inputs: see `run`.
            device: where both run.
            progress: called every fifty ops.

        Raises:
            ExportFailed: the export failed.
            FixError: there is no such run, or a program raises an error.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from explorer.results.compared_runs import compare_values

        self._require("program")
        return compare_values(self.session, self.session.current, other, inputs, device, progress)

    @property
    def quantization(self) -> Quantized:
        """How the program is quantized: layers, scales, bytes, what stayed in float and why.

        `print` it. `.accuracy(float_result)` measures the loss of accuracy by layer.

        Raises:
            ExportFailed: the export failed.
        """
        from explorer.results.quantization import Quantized

        self._require("program")
        return Quantized(self.session, self.session.current)

    def cost(self) -> Cost:
        """FLOPs, bytes and live memory as formulas of the named sizes. Nothing runs; `print` it.

        `.at(batch=8)` returns numbers at other sizes, `.measure()` runs each op and times it.

        Raises:
            ExportFailed: the export failed.
        """
        from explorer.results.cost import Cost

        self._require("program")
        return Cost(self.session, self.session.current)

    def reproduce(
        self, seconds: float = 60, progress: Callable[[Progress], None] | None = None
    ) -> Reproduced:
        """A short script that shows the problem, for a PyTorch issue. `print` it.

        It fails with the same kind of error, checked in a fresh process; for a program that differs
        from its model, it shows the difference. It contains no weights, and needs none of your
        files. Parts of your code run in other processes to minimize it; an interrupt keeps the
        shortest script. `.issue` is the text of an issue, with versions; `.save(path)` writes the
        script.

        Args:
            seconds: time to spend on making it shorter.
            progress: called before each script that is tried.

        Raises:
            FixError: no script shows the same, or the program was opened without its call.
        """
        from explorer.results.reproduction import reproduce

        return reproduce(self.session, self.session.current, seconds, progress)

    def query(self, text: str) -> Matches:
        """The ops that match a query, by name; the search box of the view accepts the same.

        `op:linear & dtype:f32 & value.max > 100`; with `|`, `!` and brackets. Fields: op, name,
        kind, dtype, shape, rank, numel, symbol, device, module, class, file, line, function,
        finding, overlay, tag, users, inputs, time, memory, `value.max` and others after a recorded
        run, `error.own` and others after a comparison. Words without a field are searched for.

        Args:
            text: the query.

        Raises:
            QueryError: the query is invalid, or needs something that is missing; names the column.
        """
        from explorer.results.matches import matches

        return matches(self.session, self.session.current, text)

    def annotate(self, name: str, values: Mapping[str, Any], kind: str | None = None) -> Self:
        """Adds your own numbers, strings or colours to ops; the view has a legend for them.

        Saved files keep them. The same name replaces them; empty values remove them.

        Args:
            name: what to call it.
            values: by op, `{"linear": 0.7}`; of a nested graph, `true_graph_0.sin`.
            kind: `number`, by which ops are coloured; `text`; or `colour`, `#1a64c4`. By default,
                inferred from the values.

        Raises:
            ExportFailed: the export failed.
            ValueError: there is no such op or kind, or a value is not of the kind.
        """
        from explorer.results.annotations import put_overlay

        self._require("graph")
        put_overlay(self.session, self.session.current, name, values, kind)
        return self

    def release_report(self) -> Release:
        """Whether the program can be shipped, as far as was checked. `print` the result.

        It sums up the export, its findings, Verify, the sizes and the runs, and runs nothing: a
        check that did not run is listed as open.
        """
        return self.session.entry.release.called(self.session.name)

    def accepts(self, **sizes: int) -> ProbeResult:
        """Whether the guards accept some sizes, the output sizes, and eager's result there.

        If the model is available, eager and the program run on fresh inputs of these sizes. The
        result is true if they are accepted and the program agrees with eager; `print` it.

        Args:
            sizes: values of symbols by their names, `batch=3`; a single size by its place, with
                `**{"x.shape[0]": 3}`. The others are as in the example.

        Raises:
            ExportFailed: the export failed.
            ValueError: there is no such symbol or place, or a value is not an int.
        """
        from dataclasses import replace

        from export_engine.record import probe_named, sizes_named

        self._require("program")
        result = probe_named(self.record, sizes)
        attempt = self.session.entry.attempt
        if attempt is None:  # a file, which is read without torch
            return result
        from export_engine.attempt import Exported

        if not isinstance(attempt, Exported):
            return result
        from export_engine.describe import trial_row
        from export_engine.verify import try_sizes

        trial = try_sizes(attempt, self.record, sizes_named(self.record, sizes))
        return replace(result, trial=trial_row(trial)) if trial is not None else result

    def shapes_code(self, fix: Fix | int | None = None, form: FormName | None = None) -> str:
        """The Python code of this call's `dynamic_shapes`, to paste.

        Args:
            fix: one of `fixes`, or its number, to include; by default, none.
            form: `"Dims"` or `"ShapesSpec"`; by default, the requested one.

        Raises:
            FixError: there is no such fix, the attempt was loaded or has no dynamic shapes, or this
                form cannot express them.
        """
        from explorer.results.shapes_code import write_statements

        offered = list(self.fixes)
        if isinstance(fix, int) and not 0 <= fix < len(offered):
            text = f"{self.session.name}.fixes"
            raise FixError(f"There is no fix {fix}; this attempt has {len(offered)}: {text}.")
        chosen = offered[fix] if isinstance(fix, int) else fix
        return write_statements(self.session.entry.request, chosen, form)

    def apply_fixes(
        self, *fixes: Fix | int, progress: Callable[[Progress], None] | None = None
    ) -> Self:
        """Applies fixes of the current attempt, together, and exports again.

        The new attempt becomes the current one if it exports, or if nothing did before.

        Args:
            fixes: some of `fixes`, or their numbers there.
            progress: called while it runs.

        Raises:
            FixError: they are not of this attempt, or cannot be applied together.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        offered = list(self.fixes)
        numbers = []
        for fix in fixes:
            if not isinstance(fix, int) and fix not in offered:
                text = f"{self.session.name}.fixes"
                raise FixError(f"{_title(fix)} is not one of this attempt's fixes; see {text}.")
            numbers.append(fix if isinstance(fix, int) else offered.index(fix))
        self.session.apply(self.session.current, numbers, progress)
        return self

    def autofix(self, progress: Callable[[Progress], None] | None = None) -> AutofixReport:
        """Applies fixes that are not lossy until it exports and agrees with eager, or none is left.

        Raises:
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        return self.session.autofix(self.session.current, progress)

    def undo(self) -> Self:
        """Goes back to the attempt that the current one came from.

        Raises:
            FixError: it is the first.
        """
        parent = self.session.entry.parent
        if parent < 0:
            raise FixError("There is nothing to undo: this is the first attempt.")
        self.session.use(parent)
        return self

    def view(
        self,
        select: str | Sequence[str] = (),
        open: str | Sequence[str] = (),  # noqa: A002 - as the page calls it
        tab: str = "",
        pane: Pane = "all",
    ) -> View:
        """Shows all panes or one, with a selection; the page can copy such a line.

        Args:
            select: names of ops (`linear_3`), or a module (`layers.0`), a symbol (`batch`) or a
                line (`net.py:12`).
            open: modules to open in the graph.
            tab: the pane to open: inspector, source, signature, shapes, findings, guarantees (or
                verify), runs, values, stages or code; `teaching` for only graph and source, in
                large type.
            pane: the only pane to show: graph, signature, source, shapes or code.

        Raises:
            ValueError: there is no such name; the nearest are named.
        """
        from explorer.session.initial_view import first_look

        return View(self.session, pane, first_look(self.record, select, open, tab))

    def save(
        self, path: str | Path, *, values: bool = False, full: bool = False, kind: str = ""
    ) -> Path:
        """Writes a file; its suffix decides the format.

        - `.pt2`: the program, with the Record and the source. `explorer.load` shows the same view;
        torch and other tools read it as a normal `.pt2`. The file is trusted
          on this machine until it changes.
        - `.py`: a plain torch script that exports the same call, with the rewritten
          source, registrations, shapes and options, and compares the program with the model.
        - `.html`: one file with the whole view, to read without a kernel or a network.
        - `.json`: the Record, for other tools; `export-explorer --schema` documents it.
        - `.svg`, `.pdf`, `.png`, `.dot`: the graph. All but `.dot` need Graphviz's `dot`.

        Args:
            path: where to write.
            values: whether `.html` and `.json` have the statistics of a recorded run.
            full: draw every op, not only the top-level modules.
            kind: a suffix such as `.html`, to use instead of the name's.

        Raises:
            ArchiveError: torch cannot save this program, or the file cannot be written.
            DotMissing: Graphviz is not installed.
            ExportFailed: the export failed, and the file needs a program.
            FrontEndMissing: the front end was not built.
            NoScript: the export cannot be written as a script.
            NotTrusted: the program is in an untrusted file.
            OSError: the file cannot be written.
            ValueError: there is no such suffix.
        """
        from explorer.display.saving import NEEDED, save

        suffix = kind or Path(path).suffix.lower()
        if (needed := NEEDED.get(suffix, "graph")) is not None:
            self._require(needed)
        return save(self.session, path, suffix, values=values, full=full)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return View(self.session, "all")._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        return repr(View(self.session, "all"))

    def _require(self, what: str) -> None:
        """Raises ExportFailed if there is no program."""
        if not self.ok:
            raise self._no(what)

    def _no(self, what: str) -> ExportFailed:
        """An ExportFailed that names what is missing."""
        from export_engine.attempt import Failed

        attempt, failure = self.session.entry.attempt, self.record.failure
        sentence = harmless(failure.sentence) if failure else ""
        raised = ExportFailed(f"There is no {what}: the export failed. {sentence}")
        raised.error = attempt.error if isinstance(attempt, Failed) else None
        return raised


def _title(fix: object) -> str:
    """The title of a fix; of anything else, how Python shows it."""
    from export_engine.attempt import Fix

    return fix.title if isinstance(fix, Fix) else repr(fix)
