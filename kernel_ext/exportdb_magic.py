"""The magics `%exportdb` and `%graph_breaks`: what torch ships that explains exports."""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

import explorer
from kernel_ext.errors import ExportUsageError
from kernel_ext.progress import ProgressLine
from kernel_ext.shell import bundle_of, has_page, is_asked_for


@magics_class
class ExportDBMagics(Magics):
    """`%exportdb` and `%graph_breaks`, bound to a shell."""

    @no_var_expand
    @line_magic
    def exportdb(self, line: str) -> Any:
        """Browse ExportDB: torch's own library of what exports, by example.

        %exportdb                  all cases of the torch that is installed %exportdb cond_operands
        one case: its source, its inputs; export it live, edit it %exportdb torch.cond       the
        cases of a tag %exportdb branch data      the cases that have these words, wherever
        %exportdb --check          export every case in both modes, compare it with eager, and print
        declared and actual behaviour
        """
        __tracebackhide__ = True
        words = line.strip()
        if words == "--check":
            return self._check()
        _refuse_options(words, "%exportdb", "--check")
        return self._show(explorer.exportdb.browse(words))

    @no_var_expand
    @line_magic
    def graph_breaks(self, line: str) -> Any:
        """Look up torch's pages on graph breaks; no network is needed.

        %graph_breaks                    all of them
        %graph_breaks GB0170             one page: what breaks, why, and what torch advises
        %graph_breaks data-dependent     the pages that have these words
        """
        __tracebackhide__ = True
        words = line.strip()
        _refuse_options(words, "%graph_breaks")
        return self._show(explorer.typing.Library.of_graph_breaks(words))

    def _show(self, library: explorer.typing.Library) -> explorer.typing.Library | None:
        if is_asked_for(self.shell):
            return library
        shown = ProgressLine("what torch ships", live=self._live, doing="Reading")
        try:
            shown.result(*bundle_of(library))
        finally:
            shown.stop()
        return None

    @property
    def _live(self) -> bool:
        return has_page(self.shell)

    def _check(self) -> Any:
        __tracebackhide__ = True
        shown = ProgressLine("the cases of ExportDB", live=self._live, doing="Checking")
        try:
            report = explorer.exportdb.check(shown)
        except KeyboardInterrupt:
            shown.note("Interrupted. Nothing has changed.")
            return None
        finally:
            shown.stop()
        shown.clear()
        if is_asked_for(self.shell):
            return report
        sys.stdout.write(f"{report}\n")
        return None


def _refuse_options(words: str, magic: str, *known: str) -> None:
    __tracebackhide__ = True
    option = next((word for word in words.split() if word.startswith("-")), None)
    if option is None:
        return
    text = f"It accepts only {', '.join(known)}." if known else "It has no options."
    raise ExportUsageError(f"{magic} does not accept {words!r}. {text} {magic}? shows its help.")
