"""Failed attempt → Diagnosis. One module per family of failures; the first that recognizes it wins.

Reads structure before text: the exception's class and attributes, what was recorded, then words.
It exports nothing and never raises: a family that fails on an unexpected error is skipped.
"""

from __future__ import annotations

from collections.abc import Callable

from export_engine.attempt import Diagnosis, Failed
from export_engine.defects import log_internal_error
from export_engine.diagnose.containers import (
    diagnose_missing_key_paths,
    diagnose_nested_input,
    diagnose_not_a_module,
    diagnose_unknown_input,
    diagnose_unknown_output,
)
from export_engine.diagnose.control_flow import diagnose_control_flow
from export_engine.diagnose.data_dependent import diagnose_data_dependent
from export_engine.diagnose.derivatives import diagnose_derivative
from export_engine.diagnose.graph_breaks import (
    diagnose_checkpoint,
    diagnose_graph_break,
    diagnose_missing_break,
)
from export_engine.diagnose.held_objects import (
    diagnose_held_script,
    diagnose_packed_weights,
    diagnose_unregistered_module,
)
from export_engine.diagnose.operators import (
    diagnose_device_mismatch,
    diagnose_nested_control_flow,
    diagnose_no_fake_kernel,
    diagnose_op_rejected,
)
from export_engine.diagnose.own_error import diagnose_own_error
from export_engine.diagnose.packed_sequence import diagnose_packed_on_gpu, diagnose_packed_sequence
from export_engine.diagnose.python import (
    diagnose_converted_module,
    diagnose_data_write,
    diagnose_deepcopy,
    diagnose_numpy,
    diagnose_plain_value,
)
from export_engine.diagnose.sizes import diagnose_size_as_key, diagnose_size_as_text, diagnose_sizes
from export_engine.diagnose.specs import diagnose_mismatched_specs
from export_engine.diagnose.torch_named import diagnose_torch_named, diagnose_unplaced_number
from export_engine.diagnose.unknown import diagnose_unknown

__all__ = ["diagnose"]

Family = Callable[[Failed], Diagnosis | None]

FAMILIES: tuple[Family, ...] = (
    diagnose_missing_key_paths,
    diagnose_unknown_input,
    diagnose_mismatched_specs,
    diagnose_sizes,
    diagnose_not_a_module,
    diagnose_unregistered_module,
    diagnose_held_script,
    diagnose_packed_weights,
    diagnose_unknown_output,
    diagnose_control_flow,
    diagnose_data_dependent,
    diagnose_nested_control_flow,
    diagnose_no_fake_kernel,
    diagnose_device_mismatch,
    diagnose_derivative,
    diagnose_numpy,
    diagnose_data_write,
    diagnose_converted_module,
    diagnose_deepcopy,
    diagnose_size_as_key,
    diagnose_size_as_text,
    diagnose_missing_break,
    diagnose_checkpoint,
    diagnose_plain_value,
    diagnose_packed_on_gpu,
    diagnose_own_error,
    diagnose_packed_sequence,
    diagnose_unplaced_number,
    diagnose_op_rejected,
    diagnose_graph_break,
    diagnose_nested_input,
    diagnose_torch_named,
)


def diagnose(attempt: Failed) -> Diagnosis:
    """Why an attempt failed, in the user's terms."""
    for family in FAMILIES:
        try:
            diagnosis = family(attempt)
        except Exception as error:  # noqa: BLE001 - a diagnosis must not fail; the next family may know
            log_internal_error(error, "diagnosing a failure")
            continue
        if diagnosis is not None:
            return diagnosis
    return diagnose_unknown(attempt)
