"""Exported programs as torch builds them."""

from __future__ import annotations

import copy

import torch


def copied_program(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """A program with a graph and a signature of its own, and the same tensors.

    For what changes the program that it is given: `torch.export.unflatten` takes out its asserts.
    """
    copied = copy.copy(program)
    copied._graph_module = copy.deepcopy(program.graph_module)
    copied._graph_signature = copy.deepcopy(program.graph_signature)
    return copied
