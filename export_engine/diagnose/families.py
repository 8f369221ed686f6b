"""Failed attempt → Diagnosis. One module per family of failures; the first that recognizes it wins.

Reads structure before text: the exception's class and attributes, what was recorded, then words.
It exports nothing and never raises: a family that fails on an unexpected error is skipped.
"""

from __future__ import annotations

from collections.abc import Callable

from export_engine.attempt import Diagnosis, Failed
from export_engine.defects import passed_over
from export_engine.diagnose.containers import (
    nested_input,
    not_a_module,
    unknown_input,
    unknown_result,
    without_key_paths,
)
from export_engine.diagnose.control_flow import control_flow
from export_engine.diagnose.data_dependent import data
from export_engine.diagnose.derivatives import derivative
from export_engine.diagnose.graph_breaks import checkpointed, graph_break, without_break
from export_engine.diagnose.held_objects import (
    held_script,
    packed_weights,
    unregistered_module,
)
from export_engine.diagnose.named import named, unplaced_number
from export_engine.diagnose.operators import device_mismatch, nested, no_fake_kernel, refused
from export_engine.diagnose.own_error import own_error
from export_engine.diagnose.packed import packed_on_gpu, packed_sequence
from export_engine.diagnose.python import (
    converted_module,
    copied,
    data_write,
    numpy,
    plain_value,
)
from export_engine.diagnose.sizes import formatted, looked_up, sizes
from export_engine.diagnose.specs import mismatched_specs
from export_engine.diagnose.unknown import unknown

__all__ = ["diagnose"]

Family = Callable[[Failed], Diagnosis | None]

FAMILIES: tuple[Family, ...] = (
    without_key_paths,
    unknown_input,
    mismatched_specs,
    sizes,
    not_a_module,
    unregistered_module,
    held_script,
    packed_weights,
    unknown_result,
    control_flow,
    data,
    nested,
    no_fake_kernel,
    device_mismatch,
    derivative,
    numpy,
    data_write,
    converted_module,
    copied,
    looked_up,
    formatted,
    without_break,
    checkpointed,
    plain_value,
    packed_on_gpu,
    own_error,
    packed_sequence,
    unplaced_number,
    refused,
    graph_break,
    nested_input,
    named,
)


def diagnose(attempt: Failed) -> Diagnosis:
    """Why an attempt failed, in the user's terms."""
    for family in FAMILIES:
        try:
            found = family(attempt)
        except Exception as error:  # noqa: BLE001 - a diagnosis must not fail; the next family may know
            passed_over(error, "diagnosing a failure")
            continue
        if found is not None:
            return found
    return unknown(attempt)
