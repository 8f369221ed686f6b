"""Sizes of an attempt: the dims that symbols stand for, the conditions on them, the Dims that fit.

`shapes` has the requested shapes; this package has the result of the trace.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.traced_sizes.dim_solver import solve as solve
    from export_engine.traced_sizes.example_inputs import leaf_values as leaf_values
    from export_engine.traced_sizes.example_inputs import repeat_slices as repeat_slices
    from export_engine.traced_sizes.example_inputs import with_leaves as with_leaves
    from export_engine.traced_sizes.example_inputs import with_size as with_size
    from export_engine.traced_sizes.failure_symbols import call_paths as call_paths
    from export_engine.traced_sizes.failure_symbols import symbol_names as symbol_names
    from export_engine.traced_sizes.plain_relations import plain_text as plain_text
    from export_engine.traced_sizes.plain_relations import plainly as plainly
    from export_engine.traced_sizes.size_answers import assumable as assumable
    from export_engine.traced_sizes.size_answers import assuming as assuming
    from export_engine.traced_sizes.size_answers import example_sizes as example_sizes
    from export_engine.traced_sizes.size_answers import find_unbacked_places as find_unbacked_places
    from export_engine.traced_sizes.symbol_sources import InputPlace as InputPlace
    from export_engine.traced_sizes.symbol_sources import birth_dims as birth_dims
    from export_engine.traced_sizes.symbol_sources import source_place as source_place
    from export_engine.traced_sizes.trace_facts import InputDim as InputDim
    from export_engine.traced_sizes.trace_facts import SizeCondition as SizeCondition
    from export_engine.traced_sizes.trace_facts import SizeFacts as SizeFacts
    from export_engine.traced_sizes.trace_facts import size_facts as size_facts
    from export_engine.traced_sizes.violations import CLOSEST as CLOSEST
    from export_engine.traced_sizes.violations import TRIED as TRIED
    from export_engine.traced_sizes.violations import ShapeViolation as ShapeViolation
    from export_engine.traced_sizes.violations import list_tied_names as list_tied_names
    from export_engine.traced_sizes.violations import name_of as name_of
    from export_engine.traced_sizes.violations import root_size as root_size
    from export_engine.traced_sizes.violations import truncate_condition as truncate_condition
else:
    __getattr__, __dir__ = lazy_names(__name__)
