"""A model that generates, cut into programs: its calls observed, grouped, made into Requests.

One real `generate()` at a few sizes shows which modules are called with which tensors, and which
sizes vary. `greedy` then generates with the exported programs in place of those modules. `programs`
describes their connections.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.generation.compare_with_generate import sizes_to_try as sizes_to_try
    from export_engine.generation.compare_with_generate import try_generation as try_generation
    from export_engine.generation.cutting import Cut as Cut
    from export_engine.generation.cutting import CutComponent as CutComponent
    from export_engine.generation.cutting import CutError as CutError
    from export_engine.generation.cutting import cut as cut
    from export_engine.generation.first_divergence import CallApart as CallApart
    from export_engine.generation.first_divergence import OpApart as OpApart
    from export_engine.generation.first_divergence import first_op_apart as first_op_apart
    from export_engine.generation.greedy import NoProgram as NoProgram
    from export_engine.generation.greedy import ProgramFailed as ProgramFailed
    from export_engine.generation.greedy import Trial as Trial
    from export_engine.generation.greedy import generate_with as generate_with
    from export_engine.generation.hidden_state import describe_hidden_state as describe_hidden_state
    from export_engine.generation.planned_generation import FlatProgram as FlatProgram
    from export_engine.generation.planned_generation import generate_by as generate_by
    from export_engine.generation.planned_inputs import PlanFailed as PlanFailed
    from export_engine.generation.planning import plan_generation as plan_generation
else:
    __getattr__, __dir__ = lazy_names(__name__)
