"""Imports torchvision, also with a torch that has no CUDA.

PyPI's torchvision is built for CUDA. With a torch for CPUs its library does not load, and importing
it ends where fake kernels are registered for ops of that library, which no model of the zoo calls.
"""

from __future__ import annotations

import importlib

import torch

_SCHEMAS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}


def declare_ops() -> None:
    """Declares those ops, without kernels, if torchvision cannot be imported without them."""
    try:
        importlib.import_module("torchvision")
    except ImportError:
        return
    except RuntimeError as error:
        if "operator torchvision::" not in str(error):
            raise
        for name, schema in _SCHEMAS.items():
            torch.library.define(f"torchvision::{name}", schema)
