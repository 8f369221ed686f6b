"""What a version of torch cannot do, in which the tests of fixes that need it are skipped."""

from __future__ import annotations

import pytest
import torch

LOSES_NUMBERS = torch.__version__.startswith("2.15.")
"""torch 2.15 finds a number that the body of a scan or of a cond reads from data nowhere."""

needs_numbers = pytest.mark.skipif(
    LOSES_NUMBERS, reason="torch 2.15 loses track of a number that an operator's body reads"
)
"""The body of a scan, or a branch of a cond, reads a number or an index from data."""
