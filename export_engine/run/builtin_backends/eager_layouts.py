"""Programs whose views hold in other memory layouts than eager's, which a converter may make."""

from __future__ import annotations

import torch

from export_engine.torch_internals import copy_program


def replace_views(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """A copy with reshapes in place of views and contiguous attention results.

    Where attention is decomposed, the result's layout differs from eager's, so a view that works in
    eager fails. The values are the same.
    """
    copied = copy_program(program)
    for module in copied.graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for node in list(module.graph.nodes):
            if node.target is torch.ops.aten.view.default:
                node.target = torch.ops.aten.reshape.default
            elif node.target is torch.ops.aten.scaled_dot_product_attention.default:
                _put_in_order(node)
        module.recompile()
    return copied


def _put_in_order(node: torch.fx.Node) -> None:
    """Makes a result contiguous for all its users."""
    with node.graph.inserting_after(node):
        ordered = node.graph.call_function(
            torch.ops.aten.clone.default, (node,), {"memory_format": torch.contiguous_format}
        )
    ordered.meta = dict(node.meta)
    node.replace_all_uses_with(ordered, delete_user_cb=lambda user: user is not ordered)
