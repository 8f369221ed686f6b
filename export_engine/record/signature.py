"""The part of the Record with the graph signature.

`record.py` has the rest, and says how all of it is read.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class InputEntry(msgspec.Struct, frozen=True):
    """One input of the flat program, after `torch.export.graph_signature.InputSpec`."""

    kind: Literal["user_input", "parameter", "buffer", "constant_tensor", "custom_object", "token"]
    name: str
    node: int
    """Index of the placeholder in graph 0; -1 where the program lacks it.

    For a failed export, of the `get_attr` node, if the traced graph reads it that way."""
    type: int
    target: str = ""
    """Where the value lives in the module: `lin.weight`."""
    path: str = ""
    """For a user input, where the caller passes it: `x`, `cache.0.key`, `kwargs.mask`."""
    keyword: bool = False
    """For a user input: whether the caller passes it by keyword."""
    persistent: bool | None = None
    """For a buffer: whether it is part of the state dict."""
    constant: str | None = None
    """For a user input that is not a tensor: its fixed value, as text."""
    bytes: int = 0
    """Size of the value held by the program."""


class OutputEntry(msgspec.Struct, frozen=True):
    """One output of the flat program, after `torch.export.graph_signature.OutputSpec`."""

    kind: Literal[
        "user_output",
        "loss_output",
        "buffer_mutation",
        "parameter_mutation",
        "user_input_mutation",
        "gradient_to_parameter",
        "gradient_to_user_input",
        "token",
    ]
    name: str
    node: int
    """Index in graph 0 of the node whose value this is; -1 for a constant output."""
    type: int
    target: str = ""
    path: str = ""
    """For a user output, where the caller finds it: `0`, `logits`, `1.cache.0`."""
    constant: str | None = None


class Signature(msgspec.Struct, frozen=True):
    """The graph signature: every input and output of the flat program, in order."""

    inputs: list[InputEntry]
    outputs: list[OutputEntry]
    takes: str = ""
    """The containers of a call's arguments: `tuple(tuple(list(*, *)), dict())` for one list that is
    passed by position; empty if they are not known."""
    returns: str = ""
    """The containers of what a call returns: `dict(*, *)`."""
