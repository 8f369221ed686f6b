"""Classes of torch's that have no public name, and its pytrees."""

from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

__all__ = ["FakeTensor", "HigherOrderOperator", "OpOverload", "pytree"]
