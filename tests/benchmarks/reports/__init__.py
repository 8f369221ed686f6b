"""Failures of torch.export that users reported in public issues, restated small in our own words.

One module per topic; each model has the address of the report and the line that fails, marked
`# <- here`. `tests.benchmarks.reported_failures` runs them:
`python -m tests.benchmarks.reported_failures [name …]`.
"""

from . import branches as branches
from . import values as values
from .case import REPORTED as REPORTED
from .case import Reported as Reported
