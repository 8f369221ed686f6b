"""The magics: `%export`, `%%export`, `%export_diff` and `%view`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import Any

from IPython.core.display_functions import display
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)

import explorer
from explorer.session.internal_errors import OURS, find_defect
from kernel_ext.call import parse_call, split_cell
from kernel_ext.command import Command, parse_command
from kernel_ext.errors import ExportUsageError
from kernel_ext.evaluate import evaluate, evaluate_call, run_statements
from kernel_ext.guiding import Steps
from kernel_ext.progress import ProgressLine
from kernel_ext.run_command import (
    LAST,
    Asked,
    act,
    act_on_set,
    add_to_set,
    beside_compile,
    compare,
    export_call,
    find_program,
    generate_programs,
    refuse_early,
)
from kernel_ext.shell import bundle_of, has_page, is_asked_for, running_cell


@magics_class
class ExportMagics(Magics):
    """`%export`, bound to a shell."""

    @no_var_expand
    @line_cell_magic
    def export(
        self, line: str, cell: str | None = None
    ) -> explorer.Exploration | explorer.Programs | None:
        """Export a call with torch.export and explore the program.

        %export model(x)                     export this call, and show the graph, the source,
                                             the signature, the sizes and the guards
        %export -d "x: batch, _" model(x)    let the first size of x vary
        %%export                             run the cell, export the call on its last line

        The arguments are examples: their sizes are static, unless -d makes them dynamic. Only the
        export runs, unless an option runs more; the model does not change. If the export fails, the
        view shows the failing line, the reason, and fixes to apply with a click.

        Options, before the call:

        -d, --dynamic "SHAPES"   the dynamic sizes, in a short language (below)
        -D EXPRESSION            the same as a Python expression: -D my_dynamic_shapes
        --strict                 trace the bytecode; reject Python that it cannot trace
        --non-strict             run the Python with fake tensors (the default)
        --both                   try both modes; click one to see it
        --spec                   with torch's ShapesSpec in place of Dims (torch 2.14): sizes are
                                 unbacked, and not specialized on 0 and 1
        --contracts              export with Dims and with a ShapesSpec, and list the ops, ranges
                                 and rejected sizes that differ (torch 2.14)
        --fix                    if the export fails, apply fixes that are not lossy until it works
        --guide                  go step by step: export, explain a failure, fix it, verify, and
                                 write a report; each step shows what to do next
        --verify                 check torch.export's guarantees: correct at other sizes, rejects
                                 sizes outside its ranges, the same after saving, ...
        --vs-compile             compare with torch.compile on the same call: its graphs, the graph
                                 breaks between them, and its recompilations
        --sizes 512,1024,2048    with --vs-compile: call both at these sizes of the first dynamic
                                 dim; batch=512,1024 and x.shape[1]=4,8 name a different one
        --run [DEVICE]           run it and compare with eager: --run, --run cuda
        --backend NAMES          backends: eager,program,inductor,aoti,onnx,executorch,
                                 openvino, or all that can run here; `eager,program` by default
        --on CLIENT              run on the engines of this ipyparallel client instead of here
        --profile                measure each op, and colour the graph by time
        --delegate BACKEND       lower a copy, and list the ops that the backend accepts, and why it
                                 rejects others: xnnpack, onnxruntime, openvino, coreml, vulkan, ...
        --without-weights        export a copy on the meta device, without memory for weights: the
                                 graph, the sizes, the cost; checks that need values are skipped
        --stages                 compile it, tens of seconds, and show its kernels with their ops,
                                 lines and times; --stages=aoti compiles ahead of time
        --decompose TABLE        decompose the program: core (Core ATen), none, "core -linear"
                                 (which keeps linear), "only t transpose", or a variable with a
                                 dict from ops to functions
        --diff OTHER             compare it with another program: a variable, golden, or a file,
                                 "golden.pt2"; the same as explorer.diff(OTHER, result)
        --joint                  show a training step, the graph of the loss with its backward
                                 pass: --joint loss_fn(model, x, y)
        --as NAME                store the result in this variable; NAME.program is the program.
                                 `%export NAME = model(x)` does the same
        --generate               cut a model that generates into programs (prefill, decode, ...):
                                 --generate model(**inputs), with arguments of generate(); exports
                                 each with dynamic shapes, and compares the tokens.
                                 -d "batch[..4], prompt[..64], past[..128]" bounds the sizes
        --into KIT               add the program to a set of programs, the variable KIT, and show
                                 the tensors between them and their mismatches
        --name decode            with --into: the program's name in the set
        --save FILE.pt2          save the program with the Record; torch and other tools read it as
                                 a normal .pt2 file
        --html FILE.html         write the whole view to one file that needs no kernel
        --load FILE.pt2          open a saved program instead; nothing in it is run
        --model NAME             with --load: the program to open in a file with several; without
                                 it, all of them as a set
        --trusted                with --load: you know who made the file, so its program may be
                                 loaded, for --verify, --run and --decompose; files that you saved
                                 on this machine are already trusted
        --no-display             export, but show nothing

        The last result is always in `_export`; `ex = %export model(x)` also works.
        Compare two results: `%export_diff a b`, `explorer.diff(a, b)`, or press Compare with….

        The short language names a dim for each size of an input:

        x: batch, seq[4..512], _     two dynamic dims, the second from 4 to 512; the last is static
        y: batch, 2*seq + 1, *       the same batch; a size derived from seq; `*`: torch decides
        cache.0.key: batch, _, !     inside a container; `!`: must be dynamic, or the export fails
        x: 8, _                      pinned to 8
        x: a, b; a % 16 == 0; a + b <= 512  assumptions: the program asserts them
        n: int[1..]                  a dynamic int argument
        x: a, b, (a + b), (a // 2)   sizes computed from others
        x: a, b; unbacked            unbacked sizes (ShapesSpec) instead of Dims, which the three
                                     lines above imply; all four need torch 2.14

        Separate inputs by `;` or a line end. Inputs without an entry are static.
        """
        __tracebackhide__ = True
        command = parse_command(line)
        if cell is not None:
            command = self._run_cell(line, cell, command)
        call = None if command.load else parse_call(command.call)
        target = evaluate_call(call, self._shell.user_ns) if call else None
        shapes = self._dynamic_shapes(command)
        steps = Steps(live=has_page(self._shell)) if command.guide else None
        shown = ProgressLine(command.call, live=command.display and has_page(self._shell))
        try:
            compared: explorer.typing.CompileComparison | None = None
            refuse_early(command, self._shell.user_ns)
            result: explorer.Exploration | explorer.Programs
            if call is None or target is None:
                result = explorer.load(
                    command.load or "", model=command.model, trusted=command.trusted
                )
            else:
                asked = Asked(command, call, target, shapes, steps)
                if command.vs_compile:
                    compared = beside_compile(asked, self._shell, shown)
                if command.generate:
                    result = generate_programs(asked, self._shell, shown)
                else:
                    result = (
                        compared.exploration if compared else export_call(asked, self._shell, shown)
                    )
            self._keep(result, command.name, call.assigned if call else None)
            if isinstance(result, explorer.Programs):
                texts = act_on_set(result, command, shown)
            else:
                result.session.cell = running_cell(self._shell)
                texts = act(result, command, self._shell.user_ns, shown)
                if command.into:
                    result = add_to_set(result, command, self._shell.user_ns)
                    self._shell.push({command.into: result}, interactive=False)
            differences = compare(result, command, self._shell.user_ns)
            if differences is not None and command.display:
                display(differences)  # type: ignore[no-untyped-call]
            elif differences is not None:
                texts.append(str(differences))
            elif command.display and compared:
                shown.result(
                    {"text/plain": repr(compared), "text/html": compared._repr_html_()}, {}
                )
                display(result)  # type: ignore[no-untyped-call]
            elif command.display:
                shown.result(*bundle_of(result))
            for text in texts:
                sys.stdout.write(f"{text}\n")
        except KeyboardInterrupt:
            shown.note("Interrupted. Nothing has changed.")
            return None
        except (*OURS, ValueError, OSError, explorer.errors.FixError) as error:
            shown.clear()
            defect = find_defect(error, "carrying out %export")
            if defect is not None:
                raise defect from error
            if not isinstance(error, TypeError | ValueError | OSError | explorer.errors.FixError):
                raise
            raise ExportUsageError(str(error)) from error
        finally:
            shown.stop()
        return result if is_asked_for(self._shell) else None

    @no_var_expand
    @line_magic
    def export_diff(
        self, line: str
    ) -> explorer.typing.Comparison | explorer.typing.SetComparison | None:
        """Compare two exported programs, up to the names of nodes and symbols.

        %export_diff a b              two results of %export, or two ExportedPrograms
        %export_diff a "golden.pt2"   a result and a file
        d = %export_diff a b          d.ok is True if they are identical up to names
        """
        __tracebackhide__ = True
        items = [find_program(word, self._shell.user_ns) for word in _two(line)]
        try:
            comparison: explorer.typing.Comparison | explorer.typing.SetComparison = explorer.diff(
                *items
            )
        except (TypeError, ValueError, OSError) as error:
            raise ExportUsageError(str(error)) from error
        if is_asked_for(self._shell):
            return comparison
        display(comparison)  # type: ignore[no-untyped-call]
        return None

    @no_var_expand
    @line_magic
    def view(self, line: str) -> Any:
        """Show a program that exists, without exporting it again.

        %view program              an ExportedProgram of any dialect, a GraphModule, a dict of them
        %view "model.pt2"          a file, like `%export --load`; an AOTInductor package or a
                                   TORCH_TRACE folder shows its kernels
        ex = %view program         stores it as `ex`; the last result is always in `_export`
        """
        __tracebackhide__ = True
        if not line.strip():
            raise ExportUsageError('%view needs a program: %view program, or %view "model.pt2".')
        try:
            result = explorer.view(evaluate(line.strip(), self._shell.user_ns))
        except (TypeError, ValueError, OSError, explorer.errors.FixError) as error:
            raise ExportUsageError(str(error)) from error
        self._keep(result)
        if is_asked_for(self._shell):
            return result
        display(result)  # type: ignore[no-untyped-call]
        return None

    def _keep(self, result: object, *names: str | None) -> None:
        kept = {name: result for name in (LAST, *names) if name}
        self._shell.push(kept, interactive=False)

    def _dynamic_shapes(self, command: Command) -> Any:
        __tracebackhide__ = True
        if command.expression is not None:
            return evaluate(command.expression, self._shell.user_ns)
        return command.dynamic

    def _run_cell(self, line: str, cell: str, command: Command) -> Command:
        """Runs all but the cell's last statement; the command with that one as its call."""
        __tracebackhide__ = True
        if command.load:
            raise ExportUsageError("%%export runs a cell; use %export --load to open a file.")
        if command.call:
            raise ExportUsageError(
                f"%%export exports the call in the cell's last line; move {command.call} there."
            )
        raw = f"# %%export {line}\n{cell}"
        taken = split_cell(self._shell.transform_cell(raw))
        number = self._shell.execution_count
        file = self._shell.compile.cache(taken.source, number, raw_code=raw)
        run_statements(taken, file, self._shell)
        return replace(command, call=taken.call)

    @property
    def _shell(self) -> Any:
        if self.shell is None:
            raise ExportUsageError("%export works inside IPython only; use explorer.explore here.")
        return self.shell


def _two(line: str) -> list[str]:
    """The two words of a line; a comment may follow them."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ExportUsageError(f"A quote is not closed: {line}") from error
    comment = next((at for at, word in enumerate(words) if word.startswith("#")), len(words))
    words = words[:comment]
    if len(words) != 2:
        raise ExportUsageError(
            f"%export_diff needs two programs, not {len(words)}: %export_diff a b, or "
            '%export_diff a "golden.pt2".'
        )
    return words
