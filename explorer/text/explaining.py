"""The page on a code, for the user: `explorer.explain("EX111")`."""

from __future__ import annotations

from export_engine.rules import CodePage, page_on

__all__ = ["CodePage", "explain"]


def explain(code: str) -> CodePage:
    """A code's meaning, an example, what to do, and why.

    Args:
        code: of a diagnosis, a finding or a guarantee: `EX111`, in any case.

    Raises:
        LookupError: there is no such code.
    """
    return page_on(code)
