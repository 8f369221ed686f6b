"""The cost of a program, as formulas of its named sizes: FLOPs, bytes, parameters, live memory.

Everything comes from the Record, so it also works for a file. Nothing runs, and no torch is needed.
A number here is a count, never a time: `run` measures.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.cost.amount import Amount as Amount
    from export_engine.cost.cost_table import AmountTable as AmountTable
    from export_engine.cost.cost_table import CostTable as CostTable
    from export_engine.cost.cost_table import table_of as table_of
    from export_engine.cost.devices import DEVICES as DEVICES
    from export_engine.cost.devices import Device as Device
    from export_engine.cost.devices import device_of as device_of
    from export_engine.cost.growth import Overtaking as Overtaking
    from export_engine.cost.growth import find_largest as find_largest
    from export_engine.cost.growth import find_overtakings as find_overtakings
    from export_engine.cost.program_cost import CostAt as CostAt
    from export_engine.cost.program_cost import Loop as Loop
    from export_engine.cost.program_cost import OpCost as OpCost
    from export_engine.cost.program_cost import ProgramCost as ProgramCost
    from export_engine.cost.program_cost import cost_of as cost_of
    from export_engine.cost.training_cost import TrainingCost as TrainingCost
    from export_engine.cost.training_cost import training_cost_of as training_cost_of
else:
    __getattr__, __dir__ = lazy_names(__name__)
