"""The tools: each is a call of Export Explorer's Python API, answered in text and as plain data.

A program is named by its handle, `p1`. Paths are below the root. The contents of a file are data,
and are repeated as data.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from explorer.exploration import Exploration
from explorer.mcp.answers import Answer, ToolRefused
from explorer.mcp.files import Root
from explorer.opening.diffing import diff
from explorer.opening.exporting import explore
from explorer.opening.loading import load
from explorer.opening.named_call import run_named_call
from explorer.session.session import FixError
from explorer.session.writing import writing
from explorer.sets.programs import Programs
from explorer.text.attempt_text import failing_place, summary
from explorer.text.cost_text import format_scaled
from explorer.text.explaining import explain
from explorer.text.run_text import amount

if TYPE_CHECKING:
    from export_engine.progress import Progress

Pane = Literal["summary", "code", "source", "signature", "shapes", "graph"]
RUN_CODE = ("export", "apply_fix", "verify", "run", "stages", "delegate", "decompose")
"""Tools that run the model's Python, or load a program."""
WRITE_FILES = ("write_patch",)
_MOST_OPS = 400
"""Ops of a query that are listed; the count includes all."""


class Tools:
    """The tools of one session, which keeps every program and every attempt at it."""

    def __init__(self, root: Root, progress: Callable[[Progress], None] | None = None) -> None:
        """Make one.

        Args:
            root: the folder that files are below.
            progress: called during long work.
        """
        self._root = root
        self._progress = progress
        self._held: dict[str, Exploration] = {}
        self._last: Answer | None = None

    def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """Runs a tool; `more` returns its answer again."""
        answer: Answer = getattr(self, tool)(**arguments)
        self._last = answer
        return answer

    def more(self) -> Answer:
        """Show the last answer again: its further lines, or all of it as JSON."""
        if self._last is None:
            raise ToolRefused("There is no answer to continue yet.")
        return self._last

    def open_program(self, path: str) -> Answer:
        """Open a .pt2 file as data: nothing in it runs, and torch is not needed.

        Args:
            path: of the file, below the root.
        """
        file = self._root.find(path)
        opened = load(file)
        if isinstance(opened, Programs):
            handles = {name: self._keep(exploration) for name, exploration in opened.items()}
            named = "\n".join(f"{handle} is {name}" for name, handle in handles.items())
            calls = tuple(f"show(program={handle!r})" for handle in handles.values())
            return Answer(f"{opened}\n{named}", {"programs": handles}, calls[:3])
        return self._summary(self._keep(opened))

    def export(self, call: str, dynamic_shapes: str | None = None, strict: bool = False) -> Answer:
        """Export a model with torch.export. Runs the file, the function and the model.

        If it fails, the answer has the line, the reason, its code and the available fixes.

        Args:
            call: `file.py:make`, below the root; `make()` returns (model, args) or (model, args,
                kwargs).
            dynamic_shapes: the dynamic sizes, in the short language: `x: batch, seq[2..512], _`.
            strict: trace the bytecode instead of running the Python.
        """
        named = self._root.find_call(call)
        result = run_named_call(named)
        explored = explore(
            *result,
            dynamic_shapes=dynamic_shapes,
            strict=strict,
            title=self._root.make_relative(named),
            progress=self._progress,
        )
        return self._summary(self._keep(explored))

    def diagnose(self, program: str) -> Answer:
        """Show why an export failed: line, reason and code; or the findings of one that succeeded.

        Args:
            program: a handle, `p1`.
        """
        return self._summary(program)

    def list_fixes(self, program: str) -> Answer:
        """List the fixes of a failed export, or of findings, with what each changes and gives up.

        Args:
            program: a handle, `p1`.
        """
        explored = self._find(program)
        rows = [
            {
                "number": number,
                "title": fix.title,
                "kind": fix.kind,
                "lossy": fix.lossy,
                "narrows": fix.narrows,
                "why": fix.why,
                "gives_up": fix.gives_up,
                "before": fix.before,
                "after": fix.after,
                "exports": fix.is_known_to_export,
                "diff": "".join(
                    self._diff(edit.file, edit.before, edit.after) for edit in fix.edits
                ),
            }
            for number, fix in enumerate(explored.fixes)
        ]
        lines = ["No fixes are available."] if not rows else []
        for row in rows:
            lost = " (lossy)" if row["lossy"] else " (fewer sizes)" if row["narrows"] else ""
            lines.append(f"{row['number']}: {row['title']}{lost}")
            lines += [f"   {row[part]}" for part in ("why", "gives_up") if row[part]]
            lines += [f"   {row['before']}  →  {row['after']}"] if row["kind"] == "shapes" else []
            lines += str(row["diff"]).splitlines()
        calls = (f"apply_fix(program={program!r}, fixes=[0])",) if rows else ()
        return Answer("\n".join(lines), {"program": program, "fixes": rows}, calls)

    def apply_fix(self, program: str, fixes: list[int] | None = None) -> Answer:
        """Apply fixes and export again, and compare the program with eager. Files do not change.

        Args:
            program: a handle, `p1`.
            fixes: numbers from list_fixes; without them, fixes that are not lossy are applied until
                it exports and agrees with eager, or none is left.
        """
        explored = self._find(program)
        if fixes:
            explored.apply_fixes(*fixes, progress=self._progress)
            return self._summary(program)
        report = explored.autofix(progress=self._progress)
        return self._summary(program, before=f"{report}\n")

    def make_patch(self, program: str) -> Answer:
        """Show what the applied fixes change, as a unified diff and as new dynamic_shapes.

        Args:
            program: a handle, `p1`.
        """
        explored = self._find(program)
        record = explored.record
        if not record.fixed_by:
            raise ToolRefused(f"No fix was applied to {program}, so there is nothing to patch.")
        patch, shapes, others = self._patch(explored), "", [*record.fixed_by]
        try:
            written = writing(explored.session, explored.session.current)
        except FixError as nothing:  # of the user's code: the call changes in another way
            others.append(str(nothing))
        else:
            shapes, others = written.shapes, [*others, *written.others]
        lines = [patch] if patch else []
        if shapes:
            lines.append(f"In the call:\n{explored.shapes_code()}")
            lines.append(f"In the short language: {shapes}")
        lines += [f"Changed: {other}" for other in others]
        lines += [record.check.sentence] if record.check else []
        facts = {
            "program": program,
            "patch": patch,
            "dynamic_shapes": explored.shapes_code() if shapes else "",
            "changes": others,
            "check": record.check.sentence if record.check else "",
        }
        calls = [] if record.verification else [f"verify(program={program!r})"]
        calls += [f"write_patch(program={program!r})"] if patch else []
        return Answer("\n".join(lines), facts, tuple(calls))

    def write_patch(self, program: str) -> Answer:
        """Write the code that the applied fixes change into its files, below the root.

        A file that was edited since the export is not changed.

        Args:
            program: a handle, `p1`.
        """
        explored = self._find(program)
        request = explored.session.entry.request
        edits = request.edits if request else ()
        if not edits:
            raise ToolRefused("The fixes change no file. See make_patch for the call.")
        files = [(self._root.find(edit.file), edit) for edit in edits]
        for file, edit in files:
            if file.read_text(encoding="utf-8") != edit.before:
                raise ToolRefused(
                    f"{self._root.make_relative(file)} was edited since the export. Export again."
                )
        for file, edit in files:
            file.write_text(edit.after, encoding="utf-8")
        names = [self._root.make_relative(file) for file, _ in files]
        return Answer(f"Written: {', '.join(names)}", {"program": program, "written": names})

    def verify(self, program: str, trusted: bool = False) -> Answer:
        """Check torch.export's guarantees: runs the program and the model at other sizes.

        Args:
            program: a handle, `p1`.
            trusted: the user knows who made the .pt2 file, so its program may be loaded. A hostile
                file can then run code.
        """
        explored = self._find(program, trusted)
        verified = explored.verify(progress=self._progress)
        release = explored.release_report()
        facts = {
            "program": program,
            "ok": bool(verified.ok),
            "guarantees": [
                {"name": row.name, "verdict": row.verdict, "sentence": row.sentence}
                for row in explored.record.verification.rows
            ]
            if explored.record.verification
            else [],
            "ready": str(release.sentence),
        }
        calls = [f"make_patch(program={program!r})"] if explored.record.fixed_by else []
        calls.append(f"run(program={program!r}, backends=['inductor'])")
        return Answer(f"{verified}\n{release.sentence}", facts, tuple(calls))

    def run(
        self,
        program: str,
        backends: list[str] | None = None,
        device: str = "cpu",
        trusted: bool = False,
    ) -> Answer:
        """Run the program with backends, and compare each with eager.

        Args:
            program: a handle, `p1`.
            backends: eager, program, inductor, aoti, onnx, executorch, openvino.
            device: cpu, cuda, mps.
            trusted: see verify.
        """
        explored = self._find(program, trusted)
        runs = explored.run(device, backends, progress=self._progress)
        rows = [{"backend": row.backend, "outcome": row.outcome} for row in runs.rows]
        return Answer(str(runs), {"program": program, "ok": runs.ok, "runs": rows})

    def stages(self, program: str, backend: str = "inductor", trusted: bool = False) -> Answer:
        """Compile the program, and show its stages, its kernels and its slowest lines.

        Args:
            program: a handle, `p1`.
            backend: inductor, or aoti, compiled ahead of time.
            trusted: see verify.
        """
        explored = self._find(program, trusted)
        text = str(explored.stages(backend, progress=self._progress))
        return Answer(text, {"program": program, "text": text})

    def delegate(self, program: str, backend: str = "xnnpack", trusted: bool = False) -> Answer:
        """Lower a copy of the program; list the ops that a backend takes or leaves, with reasons.

        Args:
            program: a handle, `p1`.
            backend: xnnpack, onnxruntime, openvino, coreml, vulkan, arm, qualcomm.
            trusted: see verify.
        """
        delegation_result = self._find(program, trusted).delegate(backend, progress=self._progress)
        facts = {
            "program": program,
            "backend": backend,
            "share": delegation_result.share,
            "share_of_ops": delegation_result.share_of_ops,
            "outside": len(delegation_result.outside),
            "text": str(delegation_result),
        }
        return Answer(str(delegation_result), facts)

    def decompose(self, program: str, table: str = "core", trusted: bool = False) -> Answer:
        """Decompose the program; the decomposed one becomes the program's current attempt.

        Args:
            program: a handle, `p1`.
            table: core (Core ATen), none, or `core -linear`, which keeps linear.
            trusted: see verify.
        """
        explored = self._find(program, trusted)
        explored.decompose(table, progress=self._progress)
        outside = explored.unsupported_ops()
        text = f"{explored}\nOps outside of Core ATen: {outside or 'none'}"
        return Answer(
            text,
            {**self._facts(program), "outside_core_aten": outside},
            (f"query(program={program!r}, text='op:linear')",),
        )

    def compare(self, before: str, after: str) -> Answer:
        """Compare two programs: ops, inputs, outputs, sizes, constants. Nothing runs.

        Args:
            before: a handle, `p1`, or the path of a .pt2 file.
            after: the later one.
        """
        comparison = diff(self._either(before), self._either(after))
        return Answer(str(comparison), {"identical": bool(comparison.ok), "text": str(comparison)})

    def query(self, program: str, text: str) -> Answer:
        """Find ops by a query: `op:linear & dtype:f32`, `module:layers.0 & !kind:view`, `line:12`.

        Args:
            program: a handle, `p1`.
            text: the query. Fields: op, name, kind, dtype, shape, rank, numel, symbol, device,
                module, class, file, line, function, finding, tag, users, inputs.
        """
        explored = self._find(program)
        names = explored.query(text)
        lines = [f"{len(names):,} ops match.", *names[:_MOST_OPS]]
        facts = {"program": program, "count": len(names), "ops": list(names[:_MOST_OPS])}
        return Answer("\n".join(lines), facts, (f"show(program={program!r}, pane='code')",))

    def count_cost(self, program: str, sizes: dict[str, int] | None = None) -> Answer:
        """Count FLOPs, bytes, parameters and peak memory from the graph. Nothing runs.

        Args:
            program: a handle, `p1`.
            sizes: values of the named sizes, {"batch": 8}; without them, formulas.
        """
        cost = self._find(program).cost()
        if sizes:
            at = cost.at(sizes)
            facts = {
                "program": program,
                "sizes": dict(at.sizes),
                "flops": at.flops,
                "bytes": at.bytes,
                "peak_bytes": at.peak_bytes,
                "parameters": at.parameters,
            }
            named = ", ".join(f"{name}={value}" for name, value in at.sizes.items())
            text = (
                f"At {named}, from the graph: {format_scaled(at.flops)} FLOPs, {amount(at.bytes)} "
                f"moved, peak live memory {amount(at.peak_bytes)} without inputs and weights."
            )
            return Answer(text, facts)
        facts = {
            "program": program,
            "flops": str(cost.flops),
            "bytes": str(cost.bytes),
            "parameters": cost.parameters,
            "unknown": dict(cost.unknown),
        }
        return Answer(str(cost), facts)

    def show(self, program: str, pane: Pane = "summary") -> Answer:
        """Show a part of a program as text.

        Args:
            program: a handle, `p1`.
            pane: summary, code (the printed graph), source, signature, shapes, or graph.
        """
        if pane == "summary":
            return self._summary(program)
        text = repr(self._find(program).view(pane=pane))
        return Answer(text, {"program": program, "text": text})

    def explain_code(self, code: str) -> Answer:
        """Explain a code such as EX111, with an example and what to do.

        Args:
            code: of a diagnosis, a finding or a guarantee.
        """
        page = explain(code)
        return Answer(str(page), {"code": code.upper(), "text": str(page)})

    def list_attempts(self, program: str, use: int | None = None) -> Answer:
        """List the attempts of a program; go back to one with `use`.

        Args:
            program: a handle, `p1`.
            use: the number of the attempt that becomes the current one.
        """
        session = self._find(program).session
        if use is not None:
            if not 0 <= use < len(session.entries):
                raise ToolRefused(f"{program} has attempts 0 to {len(session.entries) - 1}.")
            session.use(use)
        rows = [
            {
                "number": number,
                "step": entry.step or entry.label,
                "verdict": entry.record.verdict,
                "current": number == session.current,
            }
            for number, entry in enumerate(session.entries)
        ]
        lines = [
            f"{row['number']}{' (current)' if row['current'] else ''}: {row['step']}: "
            f"{row['verdict']}"
            for row in rows
        ]
        return Answer("\n".join(lines), {"program": program, "attempts": rows})

    # What they share

    def _keep(self, explored: Exploration) -> str:
        handle = f"p{len(self._held) + 1}"
        self._held[handle] = explored
        return handle

    def _find(self, program: str, trusted: bool = False) -> Exploration:
        if program not in self._held:
            text = ", ".join(self._held) or "none yet; call export or open_program"
            raise ToolRefused(f"There is no program {program!r}. Known: {text}.")
        explored = self._held[program]
        return explored.trust() if trusted and explored.record.mode == "loaded" else explored

    def _either(self, name: str) -> Exploration | Path:
        return self._held[name] if name in self._held else self._root.find(name)

    def _summary(self, program: str, before: str = "") -> Answer:
        explored = self._find(program)
        session, release = explored.session, explored.session.entry.release
        headline = release.sentence if release.begun and explored.ok else ""
        others = session.other_verdicts
        shown = summary(explored.record, others, headline, program, release.doubted)
        text = f"{program}: {before}{shown}"
        return Answer(text, self._facts(program), self._follow(program, explored))

    def _follow(self, program: str, explored: Exploration) -> tuple[str, ...]:
        """The calls that go on from an attempt."""
        record = explored.record
        if record.failure is not None:
            calls = [f"apply_fix(program={program!r})"] if explored.fixes else []
            calls += [f"list_fixes(program={program!r})"] if explored.fixes else []
            return (*calls, f"explain_code(code={record.failure.code!r})")
        calls = [f"make_patch(program={program!r})"] if record.fixed_by else []
        calls += [f"verify(program={program!r})"] if record.verification is None else []
        return (*calls, f"show(program={program!r}, pane='code')")

    def _facts(self, program: str) -> dict[str, Any]:
        explored = self._find(program)
        record = explored.record
        facts: dict[str, Any] = {
            "program": program,
            "attempt": explored.session.current,
            "exported": explored.ok,
            "verdict": record.verdict,
            "fixed_by": record.fixed_by,
        }
        if record.failure is not None:
            place, line = failing_place(record)
            facts["failure"] = {
                "code": record.failure.code,
                "kind": record.failure.kind,
                "sentence": record.failure.sentence,
                "why": record.failure.why,
                "place": place,
                "line": line,
                "fixes": [
                    {"number": at, "title": fix.title, "lossy": fix.lossy, "narrows": fix.narrows}
                    for at, fix in enumerate(record.failure.fixes)
                ],
            }
        facts["findings"] = [
            {"code": row.code, "severity": row.severity, "sentence": row.sentence}
            for row in record.findings
        ]
        facts["check"] = record.check.sentence if record.check else ""
        return facts

    def _patch(self, explored: Exploration) -> str:
        request = explored.session.entry.request
        edits = request.edits if request else ()
        return "".join(self._diff(edit.file, edit.before, edit.after) for edit in edits)

    def _diff(self, file: str, before: str, after: str) -> str:
        name = self._root.make_relative(file)
        lines = difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            f"a/{name}",
            f"b/{name}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
