"""What each claim's test runs is not timed for long."""

from ..measured_briefly import measured_briefly  # noqa: F401
