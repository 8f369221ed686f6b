"""The user's lines that torch's generated code comes from."""

from __future__ import annotations

from itertools import islice
from types import FrameType

import torch

from export_engine.source import Stack, parse_stack_trace
from export_engine.torch_internals import private_names as torch_has


def lines_behind(frame: FrameType) -> Stack:
    """The user's lines of a line of generated code, as when a branch of cond is traced again.

    The generated module knows which node each of its lines is, and the node has the stack. Where
    `_lineno_map` is missing, the frame stays unexplained and is left out.
    """
    module = frame.f_locals.get("self")
    lines = torch_has.LINE_NUMBERS.of(module)
    if not isinstance(module, torch.fx.GraphModule) or not lines:
        return ()
    index = lines.get(frame.f_lineno - frame.f_code.co_firstlineno)
    if index is None:
        return ()
    node = next(islice(module.graph.nodes, index, None), None)
    return parse_stack_trace(node.stack_trace or "") if node is not None else ()
