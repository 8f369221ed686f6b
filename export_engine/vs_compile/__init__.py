"""torch.compile and torch.export compared on one call, at a list of sizes."""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.vs_compile.report import compare_with_compile as compare_with_compile
    from export_engine.vs_compile.trial_sizes import sizes_to_try as sizes_to_try
else:
    __getattr__, __dir__ = lazy_names(__name__)
