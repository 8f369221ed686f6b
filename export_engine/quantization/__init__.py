"""Quantization: which ops of a Record run on fewer bits, and which ops are folded into them.

Ops are identified by names and arguments, weights by dtypes, so a file that is only read
needs neither torchao nor torch. `values` measures the loss of accuracy.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.quantization.describe import with_quantization as with_quantization
    from export_engine.quantization.pairing import layer_pairs as layer_pairs
    from export_engine.quantization.tensors import HeldTensor as HeldTensor
else:
    __getattr__, __dir__ = lazy_names(__name__)
