"""Imports torch, and leaves its objects out of garbage collection: a quarter of a second each time.

It is imported before the tests are, whose own objects are collected, though less often than by
default: an export makes and drops many, which took a twelfth of the tests' time.
"""

from __future__ import annotations

import gc
import importlib
import os

IMPORTED = ["torch", "torch._dynamo", "torch.export._trace", "torch._inductor"]
if "PYTEST_XDIST_WORKER" in os.environ and "WITHOUT_MODELS" not in os.environ:
    # It runs a share of all tests, some of which need these
    models = ("bert", "gpt2", "llama")
    IMPORTED += [f"transformers.models.{name}.modeling_{name}" for name in models]

for name in IMPORTED:
    importlib.import_module(name)
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 50, 50)
