"""The magics: `%export` and `%%export`."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

import explorer
from kernel_ext.command import Call, Command, parse_call, parse_command, split_cell
from kernel_ext.errors import ExportUsageError
from kernel_ext.evaluate import evaluate, evaluate_call
from kernel_ext.progress import ProgressLine

LAST = "_export"
"""The variable that always holds the last result."""


@magics_class
class ExportMagics(Magics):
    """`%export`, bound to a shell."""

    @no_var_expand
    @line_cell_magic
    def export(self, line: str, cell: str | None = None) -> None:
        """Export a call with torch.export and explore the program.

        %export model(x)                     export this call, and show the graph, the source,
                                             the signature, the sizes and the guards
        %export -d "x: batch, _" model(x)    let the first size of x vary
        %%export                             run the cell, export the call on its last line

        The arguments are examples: they say which inputs there are and which sizes stay fixed.
        Nothing is run but the export itself; the model is left as it is. If the export fails,
        the failing line is shown instead, and the last good result stays where it was kept.

        Options, before the call:

        -d, --dynamic "SHAPES"   what may vary, in a short language (below)
        -D EXPRESSION            the same as a Python expression: -D my_dynamic_shapes
        --strict                 trace the bytecode; refuse what cannot be proved
        --non-strict             run the Python with fake tensors (the default)
        --both                   try both modes and show them side by side
        --as NAME                keep the result under this name; NAME.program is the program.
                                 `%export NAME = model(x)` does the same
        --load FILE.pt2          open a saved program instead; nothing in it is run
        --no-display             export, but show nothing

        The last result is always in `_export`.

        The short language names a dim for each size of an input:

        x: batch, seq[4..512], _     two dims vary, the second between 4 and 512; the last is fixed
        y: batch, 2*seq + 1, *       the same batch; a size made from seq; `*`: torch decides
        cache.0.key: batch, _, !     inside a container; `!`: must vary, or it is an error
        x: 8, _                      pinned to 8

        `;` or a line end stands between inputs. Inputs that are not named stay fixed.
        """
        command = parse_command(line)
        if cell is not None:
            command, ready = self._run_cell(command, cell)
            if not ready:
                return
        if command.load:
            self._load(command)
        else:
            self._export(command, parse_call(command.call))

    def _load(self, command: Command) -> None:
        try:
            loaded = explorer.load(command.load or "")
        except ValueError as error:
            raise ExportUsageError(str(error)) from error
        self._show(loaded, command, ProgressLine("", live=False))

    def _export(self, command: Command, call: Call) -> None:
        namespace = self._shell.user_ns
        target = evaluate_call(call, namespace)
        line = ProgressLine(call.text, live=command.display and _has_page(self._shell))
        try:
            exploration = explorer.explore(
                target.function,
                target.args,
                target.kwargs,
                dynamic_shapes=self._dynamic_shapes(command),
                strict=command.mode == "strict",
                both=command.mode == "both",
                title=call.text,
                cells=cell_names(self._shell),
                progress=line,
            )
        except KeyboardInterrupt:
            line.note("Interrupted. Nothing has changed.")
            return
        except (TypeError, ValueError) as error:
            raise ExportUsageError(str(error)) from error
        finally:
            line.stop()
        self._show(exploration, command, line, call.assigned)

    def _show(
        self,
        exploration: explorer.Exploration,
        command: Command,
        line: ProgressLine,
        assigned: str | None = None,
    ) -> None:
        kept = {name: exploration for name in (LAST, command.name, assigned) if name}
        self._shell.push(kept, interactive=False)
        if not command.display:
            return
        bundle = exploration._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        line.result(data, metadata)

    def _dynamic_shapes(self, command: Command) -> Any:
        if command.expression is not None:
            return evaluate(command.expression, self._shell.user_ns)
        return command.dynamic

    def _run_cell(self, command: Command, cell: str) -> tuple[Command, bool]:
        """Runs all but the cell's last line; the command with that line as its call."""
        if command.call:
            raise ExportUsageError(
                f"%%export takes the call from the cell's last line; move {command.call} there."
            )
        before, call = split_cell(cell)
        ready = True
        if before.strip():
            ready = bool(self._shell.run_cell(before, store_history=False).success)
        fields = {name: getattr(command, name) for name in Command.__dataclass_fields__}
        return Command(**{**fields, "call": call}), ready

    @property
    def _shell(self) -> Any:
        if self.shell is None:
            raise ExportUsageError("%export works inside IPython only; use explorer.explore here.")
        return self.shell


def _has_page(shell: Any) -> bool:
    """Whether what is shown can be replaced later: in a notebook's kernel, not in a terminal."""
    return getattr(shell, "kernel", None) is not None


def cell_names(shell: Any) -> dict[str, str]:
    """Python's file name of each cell that has run, and the name to show for it."""
    numbers = getattr(shell.compile, "_filename_map", {})
    return {path: f"Cell In[{number}]" for path, number in numbers.items()}
