"""torch is imported once, and first; what is run is not timed for long."""

from .. import frozen_heap  # noqa: F401
from ..measured_briefly import measured_briefly  # noqa: F401
