"""What torch.compile does with a call, beside what torch.export does with it."""

from explorer.vs_compile.comparison import CompileComparison, compare_with_compile

__all__ = ["CompileComparison", "compare_with_compile"]
