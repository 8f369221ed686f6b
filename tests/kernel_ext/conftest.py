"""An IPython with our extension loaded, of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell

from .. import frozen_heap  # noqa: F401 - torch is imported once, and first
from ..measured_briefly import measured_briefly  # noqa: F401
from .cells import own_shell


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with own_shell() as shell:
        shell.run_line_magic("load_ext", "kernel_ext")
        yield shell
