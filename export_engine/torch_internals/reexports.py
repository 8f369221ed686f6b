"""Private torch names exposed to other packages."""

from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.operators import HigherOrderOperator, OpOverload

__all__ = ["HigherOrderOperator", "OpOverload", "pytree"]
