"""Failures of torch.export that users reported in public issues, restated small in our own words.

One module per topic; each model has the address of the report and the line that fails, marked
`# <- here`. `tests.benchmarks.reported_failures` runs them:
`python -m tests.benchmarks.reported_failures [name …]`.
"""

from . import branches as branches
from . import containers as containers
from . import flags_and_counts as flags_and_counts
from . import loops as loops
from . import numbers_of_sizes as numbers_of_sizes
from . import operators as operators
from . import rows_by_data as rows_by_data
from . import sequences_and_images as sequences_and_images
from . import size_guards as size_guards
from . import specs as specs
from . import state as state
from . import values as values
from .case import REPORTED as REPORTED
from .case import Reported as Reported
