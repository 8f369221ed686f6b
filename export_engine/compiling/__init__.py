"""torch.compile beside torch.export: one call, seen both ways, at a list of sizes."""

from export_engine.compiling.report import compare_with_compile
from export_engine.compiling.sizes_to_try import SizesError, SizesToTry, sizes_to_try

__all__ = ["SizesError", "SizesToTry", "compare_with_compile", "sizes_to_try"]
