"""Two Records → their difference, up to the names of nodes and symbols. Needs no torch."""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.diff.compare_records import diff_records as diff_records
    from export_engine.diff.proof import prove_identical as prove_identical
    from export_engine.diff.rejections import Rejection as Rejection
    from export_engine.diff.rejections import find_different_rejections as find_different_rejections
    from export_engine.diff.texts import text_differences as text_differences
else:
    __getattr__, __dir__ = lazy_names(__name__)
