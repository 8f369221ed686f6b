"""Values: the output of every op in one run, and the ops where two runs differ.

Exported → statistics per op, tensors on request; two programs, or one in two dtypes → the error of
each op, and the op where it starts. `run` measures and compares outputs; `verify` checks whether a
program is correct. Tensors are never part of a Record.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.values.compared import Compared as Compared
    from export_engine.values.compared import compare_values as compare_values
    from export_engine.values.in_backend import backend_run as backend_run
    from export_engine.values.nonfinite import NonFinite as NonFinite
    from export_engine.values.nonfinite import explain_nonfinite as explain_nonfinite
    from export_engine.values.nonfinite import nonfinite_ops as nonfinite_ops
    from export_engine.values.other_runs import dtype_named as dtype_named
    from export_engine.values.other_runs import eager_run as eager_run
    from export_engine.values.other_runs import outputs_apart as outputs_apart
    from export_engine.values.other_runs import run_in_dtype as run_in_dtype
    from export_engine.values.pair_error import PairError as PairError
    from export_engine.values.pair_error import RunOf as RunOf
    from export_engine.values.slices import slice_tensor as slice_tensor
    from export_engine.values.steps import StepFailed as StepFailed
    from export_engine.values.watching import Watched as Watched
    from export_engine.values.watching import prepare_call as prepare_call
    from export_engine.values.watching import watch as watch
else:
    __getattr__, __dir__ = lazy_names(__name__)
