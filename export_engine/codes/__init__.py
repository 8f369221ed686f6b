"""Stable codes of diagnoses, findings and guarantees, and a page on each: `EX111`.

A code is for good: it stands in JSON, in SARIF, in bug reports and in searches. It is never given
to anything else, also when its kind is gone. `numbering.py` has the codes, `pages/` a text on each.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.codes.numbering import CODES as CODES
    from export_engine.codes.numbering import Group as Group
    from export_engine.codes.numbering import code_of as code_of
    from export_engine.codes.pages_on_codes import CodePage as CodePage
    from export_engine.codes.pages_on_codes import NoSuchCode as NoSuchCode
    from export_engine.codes.pages_on_codes import page_on as page_on
else:
    __getattr__, __dir__ = lazy_names(__name__)
