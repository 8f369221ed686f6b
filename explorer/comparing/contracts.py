"""The comparison of one call under Dims and under a ShapesSpec."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from explorer.comparing.comparison import Comparison
from explorer.results.contract_differences import ContractDifferences
from explorer.session.entry import Entry
from explorer.session.session import FixError, Session
from explorer.text.escape import escape_html

if TYPE_CHECKING:
    from export_engine.progress import Progress
    from export_engine.shapes import FormName


class ContractComparison(ContractDifferences):
    """The same call under Dims and under a ShapesSpec.

    Show it by leaving it on the last line of a cell, or `print` it. `comparison` has both programs
    op by op; it is None if the call does not export in the other form.
    """

    def __init__(self, before: Entry, after: Entry) -> None:
        """Compare.

        Args:
            before: an attempt that exported.
            after: the attempt at the same call in the other form.
        """
        super().__init__(before, after)
        self.comparison = Comparison(before, after) if after.ok else None

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if self.comparison is not None:
            shown = self.comparison._repr_mimebundle_(**options)
            bundle = shown[0] if isinstance(shown, tuple) else shown
            bundle["text/plain"] = str(self)
            return shown
        return {"text/plain": str(self), "text/html": f"<pre>{escape_html(str(self))}</pre>"}


def compare_contracts(
    session: Session,
    progress: Callable[[Progress], None] | None = None,
    form: FormName | None = None,
) -> ContractComparison:
    """Exports the current call in the other form, Dims or ShapesSpec, and compares both programs.

    The other export becomes an attempt; the current one does not change.

    Raises:
        FixError: the call has no dynamic shapes, or has them in `form`; or this torch has no
            ShapesSpec.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    own = session.current
    other = session.entry.record.other_form
    if form and other and form != other:
        raise FixError(f"This call is exported with {form}; compare it with {other}.")
    return ContractComparison(session.lend(own), session.lend(session.convert(own, progress)))
