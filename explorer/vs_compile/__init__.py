"""torch.compile and torch.export compared on one call."""

from explorer.vs_compile.comparison import CompileComparison, compare_with_compile

__all__ = ["CompileComparison", "compare_with_compile"]
