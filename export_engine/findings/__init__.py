"""Exported attempt → Findings: what is wrong or surprising about an export that succeeded.

One module per family. `record_providers` lists those that need only the Record, and so work for a
file; `providers` lists those that need the model and the call. None runs anything: a check that
needs a run is a guarantee, in `verify`.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.attempt import Finding as Finding
    from export_engine.findings.analysis import Analysis as Analysis
    from export_engine.findings.analysis import in_order as in_order
    from export_engine.findings.baked_values import momentary_values as momentary_values
    from export_engine.findings.decisions import with_decisions as with_decisions
    from export_engine.findings.operators import random_ops as random_ops
    from export_engine.findings.program_ops import Op as Op
    from export_engine.findings.program_ops import ops_of as ops_of
    from export_engine.findings.providers import find_findings as find_findings
    from export_engine.findings.providers import look as look
    from export_engine.findings.reachable_code import (
        find_reached_functions as find_reached_functions,
    )
    from export_engine.findings.record_providers import findings_in as findings_in
    from export_engine.findings.record_providers import look_at_record as look_at_record
    from export_engine.findings.shared_inputs import (
        copies_of_shared_inputs as copies_of_shared_inputs,
    )
    from export_engine.findings.twin_layers import LayerDifference as LayerDifference
    from export_engine.findings.twin_layers import LayerKinds as LayerKinds
    from export_engine.findings.twin_layers import check_twin_layers as check_twin_layers
    from export_engine.findings.twin_layers import (
        find_layer_differences as find_layer_differences,
    )
    from export_engine.findings.writes import inputs_written as inputs_written
    from export_engine.findings.writes import placeholders_written as placeholders_written
    from export_engine.findings.writes import state_written as state_written
    from export_engine.rules import Kind as Kind
else:
    __getattr__, __dir__ = lazy_names(__name__)
