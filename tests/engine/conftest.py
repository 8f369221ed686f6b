"""torch is imported once, and first."""

from .. import frozen_heap  # noqa: F401
