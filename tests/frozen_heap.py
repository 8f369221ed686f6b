"""Imports torch, and leaves its objects out of garbage collection: a quarter of a second each time.

It is imported before the tests are, whose own objects are collected as ever.
"""

from __future__ import annotations

import gc
import importlib

for name in ("torch", "torch._dynamo", "torch.export._trace", "torch._inductor", "libcst.metadata"):
    importlib.import_module(name)
gc.collect()
gc.freeze()
