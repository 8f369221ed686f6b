"""The comparison of one call under Dims and under a ShapesSpec, as it is shown."""

from __future__ import annotations

from typing import Any

from explorer.comparing.comparison import Comparison
from explorer.results.contract_differences import ContractDifferences
from explorer.session.entry import Entry
from explorer.text.escape import escape_html


class ContractComparison(ContractDifferences):
    """The same call under Dims and under a ShapesSpec.

    Show it by leaving it on the last line of a cell, or `print` it. `comparison` has both programs
    op by op; it is None where the call does not export in the other form.
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
