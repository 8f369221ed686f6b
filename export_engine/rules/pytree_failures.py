"""Failures on inputs, outputs and what is exported."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


class UnknownInputType(Rule, kind=Kind.UNKNOWN_INPUT_TYPE):
    """An argument holds an object that torch.export cannot take apart into tensors and plain
    values.

    ## Example

    ```python
    import explorer
    import torch

    class Box:
        def __init__(self, tensor):
            self.tensor = tensor


    def forward(box):
        return box.tensor + 1


    ex = explorer.explore(forward, (Box(torch.ones(3)),))
    ```

    ## What to do

    Pass the tensors themselves, or register the class as a pytree with
    `torch.export.register_dataclass` or `torch.utils._pytree.register_pytree_node`. Export Explorer
    offers the registration.

    ## Why

    A program takes a flat list of tensors and numbers. A pytree registration says how to get from
    the object to that list and back.
    """


class UnknownOutputType(Rule, kind=Kind.UNKNOWN_OUTPUT_TYPE):
    """The model returns an object that torch.export cannot take apart into tensors and plain
    values.

    ## Example

    ```python
    import explorer
    import torch

    class Box:
        def __init__(self, tensor):
            self.tensor = tensor


    def forward(x):
        return Box(x + 1)


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Return tensors in a tuple, list, dict or dataclass that is registered, or register the class as
    a pytree.

    ## Why

    The outputs of a program are also a flat list. The caller gets the object back by its
    registration.
    """


class NotAModule(Rule, kind=Kind.NOT_A_MODULE):
    """The target is a scripted module, a compiled one, or something else without Python to trace.

    ## Example

    ```python
    import explorer
    import torch

    scripted = torch.jit.trace(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    ex = explorer.explore(scripted, (torch.ones(1, 2),))
    ```

    ## What to do

    Export the original module. `explorer.view(program)` shows an ExportedProgram; its `.module()`
    can be exported again.

    ## Why

    torch.export traces Python that calls torch. Something that was traced or compiled before has
    none left.
    """
