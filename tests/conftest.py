"""Settings of all Python tests."""

from __future__ import annotations

from hypothesis import settings

# The first example of a property often pays for an import of torch.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")
