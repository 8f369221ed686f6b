"""A set of programs: the tensors between them, the weights they share, and mismatches.

It reads Records and the weights of each program; it exports nothing. `generation` cuts a
model that generates into such a set; `archive` writes and reads one.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.programs.component import Component as Component
    from export_engine.programs.component import Link as Link
    from export_engine.programs.describe_set import build_set as build_set
    from export_engine.programs.example_values import links_by_value as links_by_value
    from export_engine.programs.held_weights import constants_of as constants_of
    from export_engine.programs.held_weights import weights_of as weights_of
    from export_engine.programs.held_weights import weights_of_model as weights_of_model
else:
    __getattr__, __dir__ = lazy_names(__name__)
