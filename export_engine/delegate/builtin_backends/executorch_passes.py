"""Passes of ExecuTorch's that bring ops in where they run before its partitioner."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import torch

from export_engine.delegate.builtin_backends.executorch_backend import (
    Answered,
    AskedBackend,
    asking,
    lower_to_edge,
    quiet,
)
from export_engine.delegate.executorch_names import PrivateName
from export_engine.delegate.program_rewrites import Outside, ProgramRewrite
from export_engine.torch_internals import copy_program, find_aten_op


@dataclass(frozen=True)
class _Pass:
    """A pass, and the ops outside that it is for."""

    held: PrivateName
    ops: frozenset[str]

    def fits(self, outside: Outside) -> bool:
        """Whether an op outside is one of these."""
        is_for = any(self.ops.intersection(names) for names in outside.ops.values())
        return is_for and self.held.find() is not None

    def run(self, outside: Outside) -> torch.export.ExportedProgram | None:
        """The program after the pass, with torch's ops in place of those of the edge dialect."""
        assert isinstance(outside.backend, AskedBackend)
        runner = self.held.find()
        with quiet():
            asked = asking(outside.backend.partitioner())
            with suppress(Answered):
                lower_to_edge(outside.program, asked, [runner()] if runner else [])
        if asked.program is None:
            return None
        program = copy_program(asked.program)
        program.state_dict.update(outside.program.state_dict)  # a partitioner sees no values
        program.constants.update(outside.program.constants)
        for node in program.graph.nodes:
            if node.op == "call_function":
                node.target = find_aten_op(node.target)
        program.graph_module.recompile()
        return program


def _rewrite(module: str, name: str, *ops: str) -> ProgramRewrite:
    held = PrivateName(module, name, f"No fix runs {name} before the partitioner.")
    edge_pass = _Pass(held, frozenset(ops))
    title = f"Run ExecuTorch's pass {name} before its partitioner"
    return ProgramRewrite(name, title, edge_pass.fits, edge_pass.run)


PASSES = (
    _rewrite(
        "executorch.backends.transforms.remove_getitem_op",
        "RemoveGetItemPass",
        "aten.max_pool2d_with_indices.default",
    ),
)
"""By the ops that they are for."""
